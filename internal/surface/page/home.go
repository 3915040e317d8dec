package page

import (
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
	Field   string `json:"field,omitzero"`   // the field of the form that it is about
	Typed   string `json:"-"`                // what was typed for a passkey that was not added: its name
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
	Machine    bool   // a machine has translated the page
	Density    string // how much room its reader wants between the parts
	After      string // the newest event when the page was made
	Lists      string // marks of its lists, by which the stream knows whether they have changed
	Title      string
	Where      string
	Notice     *Notice
	Start      *Start // nil where its reader starts nothing here
	Sessions   Sessions
	Chosen     *Chosen
	Questions  Questions
}

// Sessions are the lists of sessions.
type Sessions struct {
	Running, Before []Session
	// The addresses of what is not listed here; "" where all is.
	MoreRunning, MoreBefore string
}

// Newest are the running sessions that stand open in the list.
func (s Sessions) Newest() []Session { return s.Running[:min(len(s.Running), newestRunning)] }

// Further are the other running sessions. A browser lays them out when they are opened, which keeps the page of many sessions quick.
func (s Sessions) Further() []Session { return s.Running[len(s.Newest()):] }

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
	Message  string
	Provider string // the identity provider at which people log in; "" if there is none
}

// Arrived is the page between the identity provider's and ours.
type Arrived struct {
	Only string // why an accept does not count here, as it goes on after a colon; "" if it does
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
