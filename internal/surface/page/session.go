package page

import (
	"strings"
	"time"
	"unicode/utf8"

	"github.com/earshot-dev/earshot/aaep/legible"
	"github.com/earshot-dev/earshot/api"
)

// What a page lists of sessions that run and of those that have ended, and how long their
// texts may be there, in characters. The rest is on pages of its own.
const (
	MostRunning   = 50
	newestRunning = 20
	MostBefore    = 10
	MostAsked     = 50
	maxSummary    = 240
)

// Session is a line of a list of sessions.
type Session struct {
	api.Session

	Name    string
	State   string
	Current bool
	When    string
	Waits   bool // for an answer
	Tail
	Form string // of the page that it stands on; "" where its reader may not stop it
	Back string // the session that this page shows
}

// WaitingOn says of each session with an open question on whom it waits.
func WaitingOn(answerable map[string]bool) map[string]string {
	waiting := make(map[string]string, len(answerable))
	for session, yours := range answerable {
		if waiting[session] = "waiting for an answer"; yours {
			waiting[session] = "waiting for your answer"
		}
	}
	return waiting
}

// NewSession makes the line of a session. Waiting is on whom it waits, "" for nobody; times are told in the zone.
func NewSession(one api.Session, waiting string, zone *time.Location) Session {
	// Cut before it is made legible, which may add marks that belong together.
	l := Session{Session: one, Name: legible.Text(one.DisplayName()), State: stateRunning, When: one.Created.In(zone).Format("2 January 2006, 15:04")}
	switch {
	case one.Ended:
		l.State = string(Ended)
	case waiting != "":
		l.State, l.Waits = waiting, true
	case one.Status == "queued":
		l.State = stateQueued
	case !one.QuietSince.IsZero():
		l.State = "quiet since " + one.QuietSince.In(zone).Format("15:04")
	}
	l.Summary, l.Request = legible.Text(shorten(one.Summary, maxSummary)), legible.Text(shorten(one.Request, maxSummary))
	return l
}

// At adds what the last events of the session say.
func (l *Session) At(t Tail) {
	if l.Tail = t; l.Ended && t.Outcome != "" {
		l.State = string(t.Outcome)
	}
}

// shorten cuts a text to so many characters and shows that it did. The whole of it is in the
// session itself.
func shorten(text string, most int) string {
	if utf8.RuneCountInString(text) <= most {
		return text
	}
	return strings.TrimSpace(string([]rune(text)[:most-1])) + "…"
}

// How a session stands that works at this moment, and one that no worker has taken yet.
const (
	stateRunning = "running"
	stateQueued  = "not begun yet"
)
