package api

import (
	"cmp"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// Session is one session over HTTP.
type Session struct {
	// ID is the session's id, Turn the id of its one turn.
	ID    string `json:"session_id"`
	Turn  string `json:"turn_id"`
	Agent string `json:"agent"`
	// Name is the session's name for people, unique among open sessions.
	Name string `json:"name,omitzero"`
	// Owner is the person to whom it belongs.
	Owner string `json:"owner,omitzero"`
	// Request is the person's request, Summary the first line of the answer once there is one: both at most 1 KiB in a
	// list.
	Request string `json:"request,omitzero"`
	// Status is the state of its turn.
	Status  string    `json:"status"`
	Summary string    `json:"summary,omitzero"`
	Created time.Time `json:"created"`
	// Last is the number of the session's last event so far, 0 before the first.
	Last  int64 `json:"last_seq"`
	Ended bool  `json:"ended"`
	// QuietSince is since when nothing was heard from the program of an outside agent: its last request, or the end of its last
	// call. It is set once that is five minutes ago, while none of its calls or questions is open.
	QuietSince time.Time `json:"quiet_since,omitzero"`
	// End is present if a single session was requested and has ended.
	End *SessionEnd `json:"end,omitzero"`
	// Args are the arguments of its turn, present if a single session was requested and they have at most 8 KiB.
	Args jsontext.Value `json:"args,omitzero"`
	// PartOf is the session that has handed this work out, and Parts are those that this one has handed work to, at
	// most [MaxParts] of them: MoreParts reports that there are more. All three only if a single session was requested.
	PartOf    *SessionPart  `json:"part_of,omitzero"`
	Parts     []SessionPart `json:"parts,omitzero"`
	MoreParts bool          `json:"more_parts,omitzero"`
}

// DisplayName returns its stored name, which is the same on every surface. Sessions from before names were stored use
// their agent's name.
func (s Session) DisplayName() string { return cmp.Or(s.Name, s.Agent) }

// SessionList is a page of sessions, newest first.
type SessionList struct {
	Sessions []Session `json:"sessions"`
	// Next is the session after which older ones follow; absent on the last page.
	Next string `json:"next,omitzero"`
}

// TurnStart starts a turn over HTTP. Its owner is the person who sends it.
type TurnStart struct {
	// Agent is the name of the agent.
	Agent string `json:"agent"`
	// Args are the agent's arguments, an object; default {}.
	Args jsontext.Value `json:"args,omitzero"`
	// Request is the person's request, in their own words.
	Request string `json:"request,omitzero"`
	// Label describes the turn in a few words and becomes the session's name.
	Label string `json:"label,omitzero"`
	// Answer is how long questions stay open, in seconds; if it is 0, the tool decides.
	Answer int `json:"answer_seconds,omitzero"`
	// ResultFields are the names of the fields that the agent's answer must have, at most 64.
	ResultFields []string `json:"result_fields,omitzero"`
	// Correlation is your own id for what you ask for: at most 255 visible ASCII characters. The same request of the same
	// principal under the same id starts one turn, ever; another request under it is refused.
	Correlation string `json:"correlation_id,omitzero"`
	// Parent is a turn of the same owner that this one belongs to. It is one agent deeper, and ends no later.
	Parent string `json:"parent_turn_id,omitzero"`
	// Deadline is how long the turn may take, in seconds, at most 30 days; 0 is no limit.
	Deadline int `json:"deadline_seconds,omitzero"`

	Boxes

	// Key is the request's Idempotency-Key. With a key, the same request of the same principal starts only one turn
	// within a day, however often it is sent.
	Key string `json:"-"`
}
