package store

import (
	"time"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/utp"
)

// Purge erases what its time is over of, or what is named, in one transaction. Only turns that
// have ended are touched. Of Turns, Project and Content the first that is set counts.
type Purge struct {
	// Turns are erased now.
	Turns []string
	// Project is one whose turns are erased now.
	Project string
	// Content: turns whose last event is older.
	Content time.Time
	// Receipts: erased turns whose receipts are all older are forgotten.
	Receipts time.Time
	// Keys: keys of requests that are as old or older are forgotten.
	Keys time.Time
	// Limit is the most of each kind in this transaction.
	Limit int

	// What was done, set by the store: which turns and calls were erased, how many turns were
	// forgotten, blobs and cards of no turn removed, and whether there is probably more.
	Erased, Calls          []string
	Dropped, Blobs, Strays int
	More                   bool
	// Waiting are turns of Project that have ended and could not be erased yet, set with the last
	// of those that could: a message of theirs is about to leave, or somebody else holds them.
	Waiting []string
}

// ErasedAny reports whether anything was removed.
func (p *Purge) ErasedAny() bool { return len(p.Erased)+p.Dropped+p.Blobs+p.Strays > 0 }

// Batch is all that one step writes, in one transaction.
type Batch struct {
	// Turn is inserted when its Version is 0, else compared and set; ErrConflict if it
	// has moved on. The store keeps calls and questions findable from it.
	Turn *Record
	// Blobs are pieces of blobs. A blob is complete once offset+len(data) reaches its size;
	// a piece out of order is [ErrConflict], one that is there already is a success.
	Blobs  []api.PutRequest
	Events []Event // numbered by the store, in this order
	Cards  []utp.Card
	Outbox []Outgoing
	// Claimed are rows of the outbox that somebody is about to publish: they are as young again
	// as if they had just been written. Leaving are rows that are to leave now and never again:
	// they count as published before they are sent. ErrConflict unless each of both still waits.
	Claimed, SendOnce []int64
	// Published are rows of the outbox that have left, those that are gone since among them;
	// Dead could not leave and never will.
	Published []int64
	Dead      []DeadLetter
	Consents  []Consent
	// Consumed uses consents up: ErrConflict unless each is there, unused, and for
	// that very call.
	Consumed []Consent
	Grants   []Grant
	Reports  []Report
	// Applied appends results to the turn's transcript, each report once.
	Applied  []ResultRow
	Edges    []Edge
	Receipts []Receipt
	// Acts are appended to the audit chain behind the receipts.
	Acts        []api.AuditAct
	InForce     []InForce
	Sealed      []Sealed
	Late        []Report
	Tools       []Tool
	Removed     []string // tools
	Preferences []Preferences
	// Keys are those of requests that begin turns: ErrConflict where the principal has used the
	// key within [KeyLife] before.
	Keys []RequestKey
	// Purge erases; what it did is set in it.
	Purge *Purge
}

// DeadLetter is an outgoing row that cannot be published, and why.
type DeadLetter struct {
	ID     int64
	Reason string
}
