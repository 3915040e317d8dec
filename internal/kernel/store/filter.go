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
	// Worker keeps only the turns that this worker holds.
	Worker string
	// Due keeps only the turns that want a tick at this time or before, and lists them in
	// that order: those of one time by their ids.
	Due time.Time
	// Free keeps only the turns that a worker may claim at this time, and lists first those
	// that have been free for the longest. Not both Due and Free are set.
	Free time.Time
	// Topic keeps only the turns whose sessions are named after it.
	Topic string
	// Open leaves ended turns out.
	Open bool
	// Asking keeps only the turns that have an open question.
	Asking bool
	// Statuses keeps only these.
	Statuses []turn.Status
	// Owners keeps only the turns of these people.
	Owners []string
	// Newest lists the newest first.
	Newest bool
	// Claim keeps the listed turns for this update: nobody else changes them before it ends,
	// and those that others keep so are left out. A view refuses it: [ErrReadOnly].
	Claim bool
	// After is a turn: the list goes on behind it. One that is not there is ErrNotFound. A
	// list by Due or Free goes on behind the place that the turn had when it was listed.
	After    string
	Position time.Time
	Limit    int
}

// OutboxFilter narrows what waits to leave. Zero fields do not narrow.
type OutboxFilter struct {
	Session string
	// Before keeps only what was saved before this time.
	Before time.Time
	// After is a row: the list goes on behind it, whether it is there or not.
	After int64
	Limit int
	// Dead lists those that were put aside, instead of those that wait to leave.
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
	// After is an id, whether it is there or not: the list goes on behind it.
	After string
	Limit int // 0 does not limit
}

// ToolFilter narrows a list of tools. Nil names are all; an empty name is nobody's.
type ToolFilter struct {
	Names []string
	// Service keeps only the tools whose subjects are this service's.
	Service string
	// After is a name, whether it is there or not: the list goes on behind it.
	After string
	Limit int // 0 does not limit
}

// AuxiliaryFilter says what is read beside the turns. What is not named is not read.
type AuxiliaryFilter struct {
	// Sealed is a call whose sealed values are read.
	Sealed string
	// Receipts is a session whose receipts are read.
	Receipts string
	// Calls is a turn whose calls are read, in the order of their ids, at most CallsLimit
	// behind CallsAfter; Call keeps only the one.
	Calls, CallsAfter, Call string
	CallsLimit              int
	// Preferences is a person whose wish is read.
	Preferences string
	// Key is the key of a request, and KeyOf the principal whose it is.
	KeyOf, Key string
	// Audit says what is read of the audit chain.
	Audit AuditFilter
	// ReceiptSubjects says of which receipts it is read what the ledger keeps beside them, and Done of which acts.
	ReceiptSubjects, ActSubjects EntryFilter
	// Unaudited lists calls of which the chain does not say what it should.
	Unaudited UnauditedFilter
	// InForce is a kind of what is in force, of which is read what the ledger knows.
	InForce string
	// OpenCalls is an agent whose calls that have not ended are counted, up to OpenCallsLimit.
	OpenCalls      string
	OpenCallsLimit int
}

// AuditFilter is a part of the audit chain: at most Limit entries after one of them, or, of
// those, the newest first. A limit of 0 reads none.
type AuditFilter struct {
	After  int64
	Limit  int
	Newest bool
	// Operators reads only acts that are about no call, also those that are forgotten.
	Operators bool
	// Unchained counts the receipts without an entry, and the starts that are older than theirs.
	Unchained bool
}

// EntryFilter is a part of the audit chain: the entries after After, up to To. A To of 0 reads none.
type EntryFilter struct{ After, To int64 }

// UnauditedFilter lists calls in the order of their ids: at most Limit behind After, whether that is
// there or not. A limit of 0 lists none.
type UnauditedFilter struct {
	After string
	Limit int
}

// Point is a place in the order in which events were committed.
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

// RefOf is the handle that a reply names its turn by.
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
