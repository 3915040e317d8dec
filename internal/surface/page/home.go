package page

import (
	"net/url"
	"slices"
	"strings"
	"time"
)

// Notice is what became of a person's own act.
type Notice struct {
	Text    string `json:"text"`
	Refused bool   `json:"refused,omitzero"`
	Wrong   bool   `json:"wrong,omitzero"`   // another answer is taken
	Open    bool   `json:"open,omitzero"`    // the question is open as before: its reader stays where they are
	Undo    int    `json:"undo,omitzero"`    // the question whose accept can be taken back
	Session string `json:"session,omitzero"` // the session that was started
	// Rows are what became of each of several questions that were answered in one act.
	Rows []Notice `json:"rows,omitzero"`
}

// Home is the page. Its parts are templates of their own, which the stream sends
// again when they have changed.
type Home struct {
	Person     string
	Navigation Navigation
	Form       string
	Zone       string // in which times are told
	Density    string // how much room its reader wants between the parts
	After      string // the newest event when the page was made
	Title      string
	Where      string
	Notice     *Notice
	Start      *Start // nil where its reader starts nothing here
	Sessions   Sessions
	Chosen     *Chosen
	Questions  Questions
}

// Start is the box in which a person starts an agent.
type Start struct {
	Form string
	Key  string // makes a form that arrives twice start one turn
	// Agents are those to choose from, Folders those that one of them may work in.
	Agents  []StartAgent
	Folders []string
	Open    bool // nothing else is on the page, or it is filled in
	// Before is what was asked before, the newest first; Again is the one that the form is filled in from.
	Before []Template
	Again  *Template
}

// Template is something that was asked before, and can be asked again.
type Template struct {
	Session        string // that it was asked in
	Name           string // of that session
	Request, Agent string
	Folder         string // "" where it has none, or it is not known yet
}

// Address is where the start box is filled in from it.
func (t Template) Address() string { return "/?again=" + url.QueryEscape(t.Session) + "#start" }

// mostTemplates is how many are offered.
const mostTemplates = 5

// Templates picks from sessions, the newest first, what a person has asked the agents before: each request once.
func Templates(sessions []Session, person string, agents []StartAgent) []Template {
	var found []Template
	for _, one := range sessions {
		t := Template{Session: one.ID, Name: one.Name, Request: one.Request, Agent: one.Agent}
		known := func(a StartAgent) bool { return a.Name == t.Agent }
		same := func(o Template) bool { return o.Agent == t.Agent && o.Request == t.Request && o.Name == t.Name }
		if one.Owner != person || t.Request == "" || !slices.ContainsFunc(agents, known) || slices.ContainsFunc(found, same) {
			continue
		}
		if found = append(found, t); len(found) == mostTemplates {
			break
		}
	}
	return found
}

// Folder is the folder that the form begins with: that of what is asked again, or the one where there is no other to choose.
func (s Start) Folder() string {
	if s.Again != nil {
		return s.Again.Folder
	}
	if len(s.Folders) == 1 {
		return s.Folders[0]
	}
	return ""
}

// StartAgent is an agent that people start from the page.
type StartAgent struct {
	Name  string
	About string // what it does, in a sentence
}

// Sessions are the lists of sessions.
type Sessions struct {
	Running, Before []Session
	// The addresses of what is not listed here; "" where all is.
	MoreRunning, MoreBefore string
}

// Chosen is the session that the page shows, with its story.
type Chosen struct {
	Session
	Story

	Form    string
	MayStop bool
}

// Questions are the open questions, as a list.
type Questions struct {
	Open    []Question
	Heading string
	Total   int
	More    string // the address of what is not listed here; "" where all is
	// Together counts those that can be answered in one act, where these are several.
	Together int
}

// Count counts those of the open questions that can be answered in one act.
func (q *Questions) Count() {
	q.Together = 0
	for _, one := range q.Open {
		if one.Together() {
			q.Together++
		}
	}
	if q.Together < 2 {
		q.Together = 0
	}
}

// Login is the page on which a code is typed.
type Login struct {
	Message string
}

// Trouble is the page of a refusal.
type Trouble struct {
	Title, Message, Hint string
	Login                bool
	Here                 bool // the page is under this name, and can be led back to
}

// ZoneName names a time zone as it is now: by its letters, where it has any, and its offset.
func ZoneName(now time.Time, zone *time.Location) string {
	now = now.In(zone)
	letters, offset := now.Format("MST"), now.Format("UTC-07:00")
	switch {
	case letters == "UTC":
		return letters
	case strings.ContainsAny(letters, "+-"):
		return offset
	}
	return letters + " (" + offset + ")"
}
