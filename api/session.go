package api

import (
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/utp"
)

// EventsRequest reads a session's events after a sequence number, at most Limit of them
// (0, or one that is too large, is the kernel's own page).
type EventsRequest struct {
	Session string `json:"session_id"`
	After   int64  `json:"after"`
	Limit   int    `json:"limit,omitzero"`
}

// EventsAnswer is a page of events. More says that there are others; Ended that the
// session has had its last.
type EventsAnswer struct {
	Events []EventRow `json:"events,omitzero"`
	More   bool       `json:"more,omitzero"`
	Ended  bool       `json:"ended,omitzero"`
}

// EventRow is one event of a session's gapless sequence, which begins at 1. A broadcast
// names the session and its owner as well; in a page of one session they are left out.
type EventRow struct {
	Seq     int64          `json:"seq"`
	Body    jsontext.Value `json:"body"`
	Session string         `json:"session_id,omitzero"`
	Owner   string         `json:"owner,omitzero"`
}

// SessionsRequest lists sessions, at most Limit of them (0, or one that is too large, is
// the kernel's own page; fewer where their texts fill a message), oldest first. An empty
// answer, and nothing else, says that there are no more. At most one of Session, Token and Question names
// a single one; a name that leads nowhere gives an empty list.
type SessionsRequest struct {
	// Open leaves those out that have ended, Ended those that have not.
	Open  bool `json:"open,omitzero"`
	Ended bool `json:"ended,omitzero"`
	// Newest turns the order round.
	Newest bool `json:"newest,omitzero"`
	// Owners keeps only the sessions of these people; none does not narrow.
	Owners []string `json:"owners,omitzero"`
	// After is the turn_id of the last row that is known: the list goes on behind it.
	After    string `json:"after,omitzero"`
	Limit    int    `json:"limit,omitzero"`
	Session  string `json:"session_id,omitzero"`
	Token    string `json:"reply_token,omitzero"`
	Question int    `json:"question,omitzero"`
}

// SessionRow is one session in a list.
type SessionRow struct {
	Session string `json:"session_id"`
	Turn    string `json:"turn_id"`
	Agent   string `json:"agent"`
	// Name is what people call it: no two open sessions have the same.
	Name    string    `json:"name,omitzero"`
	Owner   string    `json:"owner,omitzero"`
	Status  string    `json:"status"`
	Created time.Time `json:"created"`
	// Request is what the person asked for, Summary the first line of the answer once
	// there is one: both at most 1 KiB here.
	Request string `json:"request,omitzero"`
	Summary string `json:"summary,omitzero"`
	// Last is the number of the session's last event so far, 0 before the first.
	Last  int64 `json:"last"`
	Ended bool  `json:"ended,omitzero"`
	// End is there where a single session was asked for, and has ended.
	End *SessionEnd `json:"end,omitzero"`
}

// SessionEnd is how a session's turn ended, as the ledger has it.
type SessionEnd struct {
	Status utp.Status `json:"status"`
	Code   utp.Code   `json:"code,omitzero"`
	Tally  Tally      `json:"tally"`
	// Fields are the agent's result by name, where it gave one.
	Fields []utp.Field `json:"fields,omitzero"`
}

// Tally counts what became of a turn's calls.
type Tally struct {
	Invoked   int `json:"invoked"`
	Failed    int `json:"failed"`
	Declined  int `json:"declined"`
	Expired   int `json:"expired"`
	Undone    int `json:"undone"`
	Unknown   int `json:"unknown"`
	Effects   int `json:"effects"`
	Cancelled int `json:"cancelled"`
	// Broken are calls that were accepted and then not done through no word of the
	// person: the yes went stale, and the question that came of it ran out.
	Broken int `json:"broken"`
}

// AllFailed answers whether tools were called and none of them did anything: each failed, or was refused.
func (t Tally) AllFailed() bool { return t.Failed > 0 && t.Failed >= t.Invoked && t.Effects == 0 }

// SinceRequest asks which sessions have had events after the one named, in the order of
// the ledger. Without an event it asks about the whole ledger; Now asks only which event
// is the newest. OverlapMS moves the point back by so many milliseconds of the ledger's
// time: what other sessions told shortly before the event counts as after it. Owners keeps
// only the sessions of these people, and only they count for what is too large; none does
// not narrow.
type SinceRequest struct {
	Event     string   `json:"event_id,omitzero"`
	OverlapMS int64    `json:"overlap_ms,omitzero"`
	Now       bool     `json:"now,omitzero"`
	Owners    []string `json:"owners,omitzero"`
}

// SinceAnswer is the sessions that have gone on, and the newest event of the ledger at
// the moment of the answer, "" where there is none. Owner is whose session the event that
// was named is of: only they, and who may hear them, are to learn that there is such one. An event that the ledger does not
// know is not_found; too many sessions are too_large: begin again.
type SinceAnswer struct {
	Newest   string     `json:"newest,omitzero"`
	Owner    string     `json:"owner,omitzero"`
	Sessions []SinceRow `json:"sessions,omitzero"`
}

// SinceRow is one session that has gone on. Seq is the number of the last event that it
// had at the point asked about, or an earlier one: never a later one.
type SinceRow struct {
	Session string `json:"session_id"`
	Seq     int64  `json:"seq"`
	Last    int64  `json:"last"`
	Owner   string `json:"owner,omitzero"`
	Ended   bool   `json:"ended,omitzero"`
}
