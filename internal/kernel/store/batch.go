package store

import (
	"time"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/kernel/standing"
	"github.com/earshot-dev/earshot/utp"
)

// Purge is content that has expired or is named. Only ended turns are touched. Of Turns, Project and Content the first
// that is set counts.
type Purge struct {
	// Turns are erased now.
	Turns []string
	// Project is a project whose turns are erased now.
	Project string
	// Content: turns whose last event is older are erased.
	Content time.Time
	// Receipts: erased turns whose receipts are all older are forgotten.
	Receipts time.Time
	// Keys: keys of requests that are as old or older are forgotten.
	Keys time.Time
	// Limit is the most of each kind in this transaction.
	Limit int
}

// Purged is what a purge did: which turns and calls it erased, how many turns it forgot, how many blobs and stray cards
// it removed, and whether there is probably more.
type Purged struct {
	Erased, Calls          []string
	Dropped, Blobs, Strays int
	More                   bool
	// Waiting are ended turns of Project that could not be erased yet, set with the last of those
	// that could: they have an unsent message, or another transaction has them locked.
	Waiting []string
}

// Any reports whether anything was removed.
func (p *Purged) Any() bool { return len(p.Erased)+p.Dropped+p.Blobs+p.Strays > 0 }

// Batch is everything that one step writes, in one transaction.
type Batch struct {
	// Turn is inserted if its Version is 0, else compared and set; ErrConflict if it has changed.
	// The store indexes its calls and questions.
	Turn *Record
	// Blobs are pieces of blobs. A blob is complete once offset+len(data) reaches its size. A piece
	// out of order is [ErrConflict]; one that is there already is a success.
	Blobs  []api.PutRequest
	Events []Event // numbered by the store, in this order
	Cards  []utp.Card
	Outbox []Outgoing
	// Claimed are outbox rows that the caller is about to publish: their age starts again.
	// SendOnce are rows that may be sent only once: they count as published before they are
	// sent. ErrConflict unless every row of both is still unsent.
	Claimed, SendOnce []int64
	// Published are outbox rows that were sent, and are removed. Dead are rows that can never be sent. Rows that no
	// longer exist are ignored: they were sent.
	Published []int64
	Dead      []DeadLetter
	Consents  []Consent
	// Consumed marks consents as used: ErrConflict unless each exists, is unused, and is for that
	// very call.
	Consumed []Consent
	Grants   []Grant
	Reports  []Report
	// Applied appends results to the turn's transcript, each report once and with its own card.
	Applied  []ResultRow
	Receipts []Receipt
	// Acts are appended to the audit chain after the receipts.
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
	// Permissions are inserted if their Version is 0, else compared and set: ErrConflict if one has changed.
	Permissions []standing.Permission
	// Passkeys are added: ErrConflict if one of that id exists. PasskeysUsed have signed: ErrConflict unless the passkey
	// exists and its counter moves on, or is 0 and stays so. PasskeysRemoved are removed: ErrConflict unless they exist.
	Passkeys        []Passkey
	PasskeysUsed    []PasskeyUse
	PasskeysRemoved []string
	Agents          []AgentChange
	// Boxes are appended to their boxes, numbered by the store; one with a number of its own, of an import, is put there.
	// ErrConflict if another transaction appends to one of them, or the number is taken.
	Boxes []api.BoxEntry
}

// DeadLetter is an outgoing row that cannot be published, and why.
type DeadLetter struct {
	ID     int64
	Reason string
}
