package api

import (
	"cmp"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// Session is one session over HTTP.
type Session struct {
	// ID is its id, Turn that of its one turn.
	ID    string `json:"session_id"`
	Turn  string `json:"turn_id"`
	Agent string `json:"agent"`
	// Name is what people call it: no two open sessions have the same.
	Name string `json:"name,omitzero"`
	// Owner is the person that it belongs to.
	Owner string `json:"owner,omitzero"`
	// Request is what the person asked for, Summary the first line of the answer once there is one:
	// both at most 1 KiB in a list.
	Request string `json:"request,omitzero"`
	// Status is how far its turn has come.
	Status  string    `json:"status"`
	Summary string    `json:"summary,omitzero"`
	Created time.Time `json:"created"`
	// Last is the number of the session's last event so far, 0 before the first.
	Last  int64 `json:"last_seq"`
	Ended bool  `json:"ended"`
	// End is present when a single session was asked for and has ended.
	End *SessionEnd `json:"end,omitzero"`
}

// DisplayName is its stored name, which is the same on every surface. Sessions from before names were stored have
// their agent's.
func (s Session) DisplayName() string { return cmp.Or(s.Name, s.Agent) }

// SessionList is a page of sessions, newest first.
type SessionList struct {
	Sessions []Session `json:"sessions"`
	// Next is the session behind which older ones follow; absent on the last page.
	Next string `json:"next,omitzero"`
}

// TurnStart is a turn to start over HTTP: its owner is the person who asks.
type TurnStart struct {
	// Agent is the name of the agent.
	Agent string `json:"agent"`
	// Args are the agent's arguments, an object; default {}.
	Args jsontext.Value `json:"args,omitzero"`
	// Request is what the person asks for, in words.
	Request string `json:"request,omitzero"`
	// Label says in a few words what it is about; the session is named after it.
	Label string `json:"label,omitzero"`
	// Answer is how long questions stay open, in seconds; 0 leaves it to the tool.
	Answer int `json:"answer_seconds,omitzero"`
	// ResultFields are the names that the agent's answer must have a value for, at most 64.
	ResultFields []string `json:"result_fields,omitzero"`
	// Key is the request's Idempotency-Key: with one, the same request of the same principal begins
	// one turn within a day, however often it is sent.
	Key string `json:"-"`
}
