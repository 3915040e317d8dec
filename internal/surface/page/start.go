package page

import (
	"net/url"
	"slices"
)

// Start is the box in which a person starts an agent.
type Start struct {
	Form string
	Key  string // makes a form that arrives twice start one turn
	// Agents are those to choose from, Others those with a form of their own. Folders are those that one of them may work in.
	Agents, Others []StartAgent
	Folders        []string
	Open           bool // nothing else is on the page, or it is filled in
	// Before is what was asked before, the newest first; Again is the one that the form is filled in from.
	Before []Template
	Again  *Template
	// Request, Agent and Folder are what stands in the fields.
	Request, Agent, Folder string
	// Wrong is why nothing was started; nil if nothing was refused.
	Wrong *Wrong
}

// Wrong says why a form was not taken. Field is the name of the field that it is about, Label what that is called; both
// are "" where it is about no single one.
type Wrong struct{ Field, Label, Text string }

// The fields of the start box.
const (
	FieldRequest = "request"
	FieldAgent   = "agent"
	FieldFolder  = "folder"
)

// Refuse shows why nothing was started, beside the field that it is about.
func (s *Start) Refuse(field, text string) {
	s.Open = true
	s.Wrong = &Wrong{Text: text}
	labels := map[string]string{FieldRequest: "Request", FieldAgent: "Agent", FieldFolder: "Folder"}
	if labels[field] != "" && (field != FieldFolder || len(s.Folders) > 0) && (field != FieldAgent || len(s.Agents) > 0) {
		s.Wrong.Field, s.Wrong.Label = field, labels[field]
	}
}

// Error is why the value of a field is not taken; "" if it is not the one.
func (s Start) Error(field string) string {
	if s.Wrong == nil || s.Wrong.Field != field {
		return ""
	}
	return s.Wrong.Text
}

// StartAgent is an agent that people start from the page.
type StartAgent struct {
	Name   string
	Label  string // what people call it
	About  string // what it does, in a sentence; "" if nobody has said
	Formal bool   // it has a form of its own, for its arguments
}

// Address is where its form is.
func (a StartAgent) Address() string { return "/start/" + url.PathEscape(a.Name) }

// Template is something that was asked before, and can be asked again.
type Template struct {
	Session        string // that it was asked in
	Name           string // of that session
	Request, Agent string
	Label          string // of the agent
	formal         bool
}

// Address is where a form is filled in from it.
func (t Template) Address() string {
	again := "?again=" + url.QueryEscape(t.Session)
	if t.formal {
		return StartAgent{Name: t.Agent}.Address() + again
	}
	return "/" + again + "#start"
}

// mostTemplates is how many are offered.
const mostTemplates = 5

// Templates picks from sessions, the newest first, what a person has asked the agents before: each request once.
func Templates(sessions []Session, person string, agents []StartAgent) []Template {
	var found []Template
	for _, one := range sessions {
		t := Template{Session: one.ID, Name: one.Name, Request: one.Request, Agent: one.Agent}
		known := slices.IndexFunc(agents, func(a StartAgent) bool { return a.Name == t.Agent })
		same := func(o Template) bool { return o.Agent == t.Agent && o.Request == t.Request && o.Name == t.Name }
		if one.Owner != person || t.Request == "" || known < 0 || slices.ContainsFunc(found, same) {
			continue
		}
		t.Label, t.formal = agents[known].Label, agents[known].Formal
		if found = append(found, t); len(found) == mostTemplates {
			break
		}
	}
	return found
}

// StartForm is the page on which an agent is started with its arguments.
type StartForm struct {
	Form
	Agent StartAgent

	Navigation Navigation
	Token, Key string // of the form
	Request    string
	Again      string // the name of the session that it is filled in from
	Refused    string // why nothing was started, where no single field is wrong
}
