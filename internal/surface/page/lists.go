package page

import (
	"net/url"
	"strconv"
)

// LaterQuestions is the address of the questions behind one.
func LaterQuestions(than int) string { return "/questions?after=" + strconv.Itoa(than) }

// QuestionList is a page of the list of questions.
type QuestionList struct {
	Questions

	Title string
}

// SessionList is a page of the list of all sessions.
type SessionList struct {
	Navigation Navigation
	Title      string
	Heading    string
	Sessions   []Session
	Next       string // the address of the next page
	Behind     string // when the last session here began
	First      bool
	Running    bool
}

// OlderSessions is the address of the list behind a session.
func OlderSessions(than string, open bool) string {
	query := url.Values{"before": {than}}
	if open {
		query.Set("open", "true")
	}
	return "/sessions?" + query.Encode()
}
