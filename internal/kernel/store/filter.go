package store

import (
	"time"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/kernel/turn"
)

// TurnRef names a turn by one of its handles; exactly one field is set.
type TurnRef struct {
	Turn, Session, Call, Token string
	Question                   int
}

// TurnFilter narrows a list. Zero fields do not narrow.
type TurnFilter struct {
	Turn, Session, Agent string
	// Worker keeps only the turns that this worker has claimed.
	Worker string
	// Active keeps only the turns that take a place of their agent now, in the order of their ids if Due and Free are not set.
	Active bool
	// Due keeps only the turns that need a tick at this time or before, in the order of that time,
	// then of their ids.
	Due time.Time
	// Free keeps only the turns that a worker may claim at this time, those first that have been
	// free for the longest. At most one of Due and Free is set.
	Free time.Time
	// Topic keeps only the turns whose sessions are named after it.
	Topic string
	// Names keeps only the turns of Project whose sessions are called so. It is set together with Project.
	Project string
	Names   []string
	// Open excludes ended turns.
	Open bool
	// Asking keeps only the turns that have an open question.
	Asking bool
	// Statuses keeps only these.
	Statuses []turn.Status
	// Owners keeps only the turns of these people.
	Owners []string
	// Newest lists the newest first.
	Newest bool
	// Claim locks the listed turns until this update ends, and skips those that others have locked.
	// A view refuses it: [ErrReadOnly].
	Claim bool
	// After is a turn: the list goes on after it. A missing one is ErrNotFound. A list by Due or
	// Free goes on after the position that the turn had when it was listed, and one of the active
	// turns after the id, whether it exists or not.
	After    string
	Position time.Time
	Limit    int
}

// QuestionFilter narrows a list of open questions. Zero fields do not narrow.
type QuestionFilter struct {
	// Owners keeps only those of these people's turns.
	Owners []string
	// After is a number, whether there is such a question or not: the list goes on after it.
	After, Limit int
}

// OutboxFilter narrows a list of unsent messages. Zero fields do not narrow.
type OutboxFilter struct {
	Session string
	// Before keeps only what was saved before this time.
	Before time.Time
	// After is a row: the list goes on after it, whether it exists or not.
	After int64
	Limit int
	// Dead lists dead letters instead of unsent messages.
	Dead bool
}

// EventFilter narrows a list of events to those with these ids, or to those of one session
// after a number of its sequence. One of the two is set.
type EventFilter struct {
	IDs     []string
	Session string
	After   int64
	Limit   int // 0 lists none of a session
}

// CardFilter narrows a list of cards: those with these ids, or those of a turn's calls.
// Without either it is all of them.
type CardFilter struct {
	IDs  []string
	Turn string
	// After is an id, whether it exists or not: the list goes on after it.
	After string
	Limit int // 0 does not limit
}

// ToolFilter narrows a list of tools. Nil names are all; an empty name is nobody's.
type ToolFilter struct {
	Names []string
	// Service keeps only the tools whose subjects are this service's.
	Service string
	// After is a name, whether it exists or not: the list goes on after it.
	After string
	Limit int // 0 does not limit
}

// AgentFilter narrows a list of the definitions of agents. Zero fields do not narrow.
type AgentFilter struct {
	Name string
	// After is a name, whether it exists or not: the list goes on after it.
	After string
	Limit int // 0 does not limit
}

// CallFilter narrows the calls of a turn.
type CallFilter struct {
	Turn string
	Call string // keeps only this one
	// Tools keeps the calls of these tools; nil keeps all.
	Tools []string
	// After is an id, whether it exists or not: the list goes on after it.
	After string
	Limit int // 0 does not limit
}

// PermissionFilter narrows a list of standing permissions. Zero fields do not narrow.
type PermissionFilter struct {
	Number int
	// Origin is the session that a permission was given in.
	Origin, Tool, Agent string
	Owners              []string
	// Live excludes those that have ended.
	Live bool
	// After is a number, whether it exists or not: the list goes on after it.
	After, Limit int
}

// AuditFilter is a part of the audit chain: at most Limit entries after one of them, or, of
// those, the newest first. A limit of 0 reads none.
type AuditFilter struct {
	After  int64
	Limit  int
	Newest bool
	// Operators reads only acts that are about no call, including forgotten ones.
	Operators bool
}

// EntryFilter is a part of the audit chain: the entries after After, up to To. A To of 0 reads none.
type EntryFilter struct{ After, To int64 }

// UnauditedFilter lists calls in the order of their ids: at most Limit after After, whether that exists
// or not. A limit of 0 lists none.
type UnauditedFilter struct {
	After string
	Limit int
}

// Point is a position in the order in which events were committed.
type Point struct {
	// Event is the last event before the point; "" is the beginning of the ledger.
	// ErrNotFound where the ledger has no such event.
	Event string
	// Overlap moves the point back, for other sessions than the event's own, to before
	// everything that was committed within this time before the event, by the events' own
	// times. A store may go back further, never less far.
	Overlap time.Duration
	// Limit is the most sessions that are listed; [Progress.More] says that there are
	// others. 0 lists none.
	Limit int
	// Owners lists only the sessions of these people; none does not narrow.
	Owners []string
}

// RefOf returns the handle by which a reply names its turn.
func RefOf(r api.ReplyRequest) TurnRef {
	switch {
	case r.Token != "":
		return TurnRef{Token: r.Token}
	case r.Question != 0:
		return TurnRef{Question: r.Question}
	default:
		return TurnRef{Session: r.Session}
	}
}
