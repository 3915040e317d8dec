package store

import (
	"context"
	"errors"

	"github.com/earshot-dev/earshot/utp"
)

// Scrubber is a [Ledger] whose files hold erased content for a while, in parts that are no longer used. Scrub
// removes it from there; an error says that it could not yet.
type Scrubber interface {
	Scrub(ctx context.Context) error
}

// Sentinels of the [Ledger].
var (
	// ErrNotFound: the ledger has no such row.
	ErrNotFound = errors.New("kernel: not in the ledger")
	// ErrConflict: a compare-and-set found another value, or a row that may exist once
	// exists. The whole transaction is undone; reading again and retrying is safe.
	ErrConflict = errors.New("kernel: the ledger has changed meanwhile")
	// ErrFull: the disk is full or the quota is used up. Nothing was written.
	ErrFull = errors.New("kernel: no room left for the ledger")
	// ErrReadOnly: a view was asked to write. Nothing was written.
	ErrReadOnly = errors.New("kernel: a view of the ledger cannot write")
	// ErrDamaged: a record cannot be decoded. No retry helps; only what depends on the record is
	// affected.
	ErrDamaged = errors.New("kernel: what the ledger holds cannot be read")
	// ErrHash: the bytes of a blob do not match its name. All of its pieces are dropped; it can be
	// put again from the beginning.
	ErrHash = errors.New("kernel: the blob is not what its hash says")
)

// Ledger is the ledger: the one durable truth. Implementations are safe for
// concurrent use.
type Ledger interface {
	// Update runs fn in a transaction and returns once it is durable. Several updates may share one
	// commit; an error of fn rolls back fn's own writes only. fn may run again if the commit failed,
	// so it must have no side effects.
	Update(ctx context.Context, fn func(Tx) error) error
	// View runs fn on a consistent snapshot; its Tx refuses to write.
	View(ctx context.Context, fn func(Tx) error) error
	// Close waits for what is under way.
	Close() error
}

// Tx is one transaction. Finding a missing row by a handle is [ErrNotFound]; a list without rows is empty.
type Tx interface {
	TurnReader
	EventReader
	CardReader
	ToolReader
	OutboxReader
	AuxiliaryReader
	Writer
}

// TurnReader reads turns and their transcripts.
type TurnReader interface {
	// Turn finds a turn with all that is needed to step it.
	Turn(TurnRef) (Record, error)
	// Turns lists turns, oldest first.
	Turns(TurnFilter) ([]TurnRow, error)
	// Results reads the applied results of a turn in order, without the first after of them.
	Results(turn string, after, limit int) ([]ResultRow, error)
}

// EventReader reads what was reported to people.
type EventReader interface {
	// Events lists what was reported, in the order of each session.
	Events(EventFilter) ([]Event, error)
	// Since lists the sessions with events after a point of the ledger, but for those of imported
	// turns. It must be the first read of its transaction, because it may return only what was
	// committed before.
	Since(Point) (Progress, error)
}

// CardReader reads cards, and the blobs that they refer to.
type CardReader interface {
	// Cards lists cards in the order of their ids.
	Cards(CardFilter) ([]utp.Card, error)
	// Blob reads at most n bytes of a complete blob from offset on, and its whole size.
	Blob(sha256 string, offset int64, n int) ([]byte, int64, error)
}

// ToolReader reads the registry.
type ToolReader interface {
	// Tools lists registered tools in the order of their names. If this transaction saves a tool
	// that it has read here and that has changed since, that is [ErrConflict].
	Tools(ToolFilter) ([]Tool, error)
}

// OutboxReader reads unsent messages.
type OutboxReader interface {
	// Outbox lists unsent messages, or dead letters, in order.
	Outbox(OutboxFilter) ([]Outgoing, error)
}

// AuxiliaryReader reads what the ledger stores besides turns.
type AuxiliaryReader interface {
	Auxiliary(AuxiliaryFilter) (Auxiliary, error)
}

// Writer writes.
type Writer interface {
	// Count adds to a counter (0 only reads it) and returns its new value.
	Count(counter string, add int64) (int64, error)
	// Save writes one step at once, blobs first. By the time that Update returns, it has set the Seq
	// of the batch's Events and the ID of its Outbox in place. A store may find out only at the
	// commit that the step cannot be saved: Update then returns an error, or runs fn again.
	Save(Batch) error
}
