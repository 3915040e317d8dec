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
	Search     Search
	Title      string
	Heading    string
	Sessions   []Session
	Next       string // the address of the next page
	Behind     string // when the last session here began
	First      bool
	Running    bool
}

// OlderSessions is the address of the list behind a session: all, the open ones, or those that hold what is searched for.
func OlderSessions(than string, open bool, wanted string) string {
	query := url.Values{"before": {than}}
	if open {
		query.Set("open", "true")
	}
	if wanted != "" {
		query.Set("q", wanted)
	}
	return "/sessions?" + query.Encode()
}
