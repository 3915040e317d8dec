package api

import (
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/utp"
)

// EventsRequest reads a session's events after a sequence number, at most Limit of them. If Limit is 0 or too large,
// the kernel's page size applies.
type EventsRequest struct {
	Session string `json:"session_id"`
	After   int64  `json:"after"`
	Limit   int    `json:"limit,omitzero"`
}

// EventsAnswer is a page of events. More reports that others follow; Ended that the session has had its last event.
type EventsAnswer struct {
	Events []EventRow `json:"events,omitzero"`
	More   bool       `json:"more,omitzero"`
	Ended  bool       `json:"ended,omitzero"`
}

// EventRow is one event of a session's gapless sequence, which begins at 1. A broadcast also names the session and its
// owner; a page of one session omits them.
type EventRow struct {
	Seq  int64          `json:"seq"`
	Body jsontext.Value `json:"body"`
	// Template and Params are the message that the body says in English, for other languages.
	Template string         `json:"template,omitzero"`
	Params   jsontext.Value `json:"params,omitzero"`

	Session string `json:"session_id,omitzero"`
	Owner   string `json:"owner,omitzero"`
}

// SessionsRequest lists sessions, oldest first, at most Limit of them. If Limit is 0 or too large, the kernel's page
// size applies. A page may be shorter if its texts fill a message; only an empty answer means that there are no more.
// At most one of Session, Token and Question selects a single session; an unknown one gives an empty list.
type SessionsRequest struct {
	// Open omits those that have ended, Ended those that have not.
	Open  bool `json:"open,omitzero"`
	Ended bool `json:"ended,omitzero"`
	// Newest reverses the order.
	Newest bool `json:"newest,omitzero"`
	// Owners selects the sessions of these people; an empty list selects all.
	Owners []string `json:"owners,omitzero"`
	// After is the turn_id of the last known row: the list continues after it.
	After string `json:"after,omitzero"`
	Limit int    `json:"limit,omitzero"`
	// Waits asks what each open turn waits for.
	Waits    bool   `json:"waits,omitzero"`
	Session  string `json:"session_id,omitzero"`
	Token    string `json:"reply_token,omitzero"`
	Question int    `json:"question,omitzero"`
	// Parts asks of a single session what it is a part of, and which sessions are parts of it.
	Parts bool `json:"parts,omitzero"`
}

// SessionRow is one session in a list.
type SessionRow struct {
	Session string `json:"session_id"`
	Turn    string `json:"turn_id"`
	Agent   string `json:"agent"`
	// Name is the session's name for people, unique among open sessions.
	Name    string    `json:"name,omitzero"`
	Owner   string    `json:"owner,omitzero"`
	Status  string    `json:"status"`
	Created time.Time `json:"created"`
	// Request is the person's request, Summary the first line of the answer once there is one: both at most 1 KiB in a
	// list. The request of a single session may have [MaxRowArgs] bytes.
	Request string `json:"request,omitzero"`
	Summary string `json:"summary,omitzero"`
	// Last is the number of the session's last event so far, 0 before the first.
	Last  int64 `json:"last"`
	Ended bool  `json:"ended,omitzero"`
	// QuietSince is since when nothing was heard from the program of an outside agent: its last request, or the end of its last
	// call. It is set once that is five minutes ago, while none of its calls or questions is open.
	QuietSince time.Time `json:"quiet_since,omitzero"`
	// Correlation is its caller's own id for it, and Parent the turn that asked for it; only with what it waits for.
	Correlation string `json:"correlation_id,omitzero"`
	Parent      string `json:"parent_turn_id,omitzero"`
	// Waits is what it waits for, if that was requested; empty while its worker works on it.
	Waits []Wait `json:"waits,omitzero"`
	// End is set if a single session was requested and has ended.
	End *SessionEnd `json:"end,omitzero"`
	// Args are the arguments of its turn, if a single session was requested and they have at most [MaxRowArgs] bytes.
	Args jsontext.Value `json:"args,omitzero"`
	// PartOf and Parts are set if a single session was requested with its parts.
	PartOf *SessionPart  `json:"part_of,omitzero"`
	Parts  []SessionPart `json:"parts,omitzero"`
	// MoreParts reports that there are more than [MaxParts].
	MoreParts bool `json:"more_parts,omitzero"`
}

// MaxParts is how many sessions of a tree one answer holds.
const MaxParts = 100

// SessionPart is a session in the tree of those whose work another one has handed out.
type SessionPart struct {
	Session string `json:"session_id"`
	Turn    string `json:"turn_id"`
	Agent   string `json:"agent"`
	Name    string `json:"name,omitzero"`
	// Request is what it was asked for, at most 256 bytes of it.
	Request string `json:"request,omitzero"`
	// Status is the state of its turn, Result how the turn has ended; "" while it is open.
	Status string     `json:"status"`
	Result utp.Status `json:"result,omitzero"`
	// Parts are the sessions that it has handed work to itself, in the order in which it did.
	Parts []SessionPart `json:"parts,omitzero"`
}

// Wait is one thing that a turn waits for. The members say which; what does not apply is empty.
type Wait struct {
	For WaitKind `json:"for"`
	// Agent is the one whose worker is to take the turn.
	Agent string `json:"agent,omitzero"`
	// Turn is the turn of the same agent that it is next after.
	Turn string `json:"turn_id,omitzero"`
	// Person is whose answer it needs, and Question the number of the question.
	Person   string `json:"person,omitzero"`
	Question int    `json:"question,omitzero"`
	// Tool is the tool that runs or is asked about, and Call the call that runs.
	Tool string `json:"tool_name,omitzero"`
	Call string `json:"tool_call_id,omitzero"`
}

// WaitKind is what a turn waits for.
type WaitKind string

// The things that a turn waits for.
const (
	WaitWorker WaitKind = "worker" // a worker of its agent
	WaitTurn   WaitKind = "turn"   // another turn: the one before it, where its agent may have no more under way, or one that does its call
	WaitPerson WaitKind = "person" // an answer
	WaitUndo   WaitKind = "undo"   // the end of the time in which a yes can be taken back
	WaitTool   WaitKind = "tool"   // the result of a call
)

// MaxRowArgs is how many bytes the arguments of a turn, and its request, have at most in the row of a single session.
const MaxRowArgs = 8 << 10

// SummaryUndone is the summary of a session that was stopped because its person took a yes back within the undo time.
const SummaryUndone = "a yes was taken back in time"

// SessionEnd is how a session's turn ended, as recorded in the ledger.
type SessionEnd struct {
	Status utp.Status `json:"status"`
	Code   utp.Code   `json:"code,omitzero"`
	Tally  Tally      `json:"tally"`
	// Fields are the named parts of the agent's result, if it gave any.
	Fields []utp.Field `json:"fields,omitzero"`
}

// Tally counts the outcomes of a turn's calls.
type Tally struct {
	Invoked   int `json:"invoked"`
	Failed    int `json:"failed"`
	Declined  int `json:"declined"`
	Expired   int `json:"expired"`
	Undone    int `json:"undone"`
	Unknown   int `json:"unknown"`
	Effects   int `json:"effects"`
	Cancelled int `json:"cancelled"`
	// Broken counts calls that were accepted and then not run, although the person did not change their mind: the
	// consent went stale, and the repeated question expired.
	Broken int `json:"broken"`
	// Refused counts those of Failed that were never invoked, such as calls with wrong arguments.
	Refused int `json:"refused,omitzero"`
}

// AllFailed reports whether tools were called and all of them failed or were refused.
func (t Tally) AllFailed() bool {
	return t.Failed > 0 && t.Failed-t.Refused >= t.Invoked && t.Effects == 0
}

// SinceRequest asks which sessions have had events after the given one, in the order of the ledger. Without an event it
// asks about the whole ledger; Now asks only for the newest event. OverlapMS moves the starting point back by so many
// milliseconds of the ledger's time, so that events of other sessions shortly before the event are included. Owners
// selects the sessions of these people, and only they count towards the size limit; an empty list selects all.
type SinceRequest struct {
	Event     string   `json:"event_id,omitzero"`
	OverlapMS int64    `json:"overlap_ms,omitzero"`
	Now       bool     `json:"now,omitzero"`
	Owners    []string `json:"owners,omitzero"`
}

// SinceAnswer lists the sessions with new events, and the newest event of the ledger when it was answered, "" if there
// is none. Owner is the owner of the given event's session: only they, and those who may receive their sessions, may
// learn that it exists. An event that the ledger does not know is not_found; too many sessions are too_large: start
// again.
type SinceAnswer struct {
	Newest   string     `json:"newest,omitzero"`
	Owner    string     `json:"owner,omitzero"`
	Sessions []SinceRow `json:"sessions,omitzero"`
}

// SinceRow is one session with new events. Seq is the number of the last event that it had at the starting point, or an
// earlier one, never a later one.
type SinceRow struct {
	Session string `json:"session_id"`
	Seq     int64  `json:"seq"`
	Last    int64  `json:"last"`
	Owner   string `json:"owner,omitzero"`
	Ended   bool   `json:"ended,omitzero"`
}
