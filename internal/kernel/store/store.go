package store

import (
	"context"
	"errors"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/kernel/standing"
	"github.com/earshot-dev/earshot/internal/kernel/turn"
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
	DocumentReader
	RegistryReader
	OutboxReader
	CallReader
	PreferenceReader
	RequestKeyReader
	PasskeyReader
	AuditReader
	PermissionReader
	Writer
}

// DocumentReader reads cards, and the boxes that list them.
type DocumentReader interface {
	CardReader
	BoxReader
}

// RegistryReader reads what operators keep: tools with their reviews, and agents with their definitions.
type RegistryReader interface {
	ToolReader
	AgentReader
}

// TurnReader reads turns, their open questions and their transcripts.
type TurnReader interface {
	// Turn finds a turn with all that is needed to step it.
	Turn(TurnRef) (Record, error)
	// Turns lists turns, oldest first.
	Turns(TurnFilter) ([]TurnRow, error)
	// OpenQuestions lists open questions by their numbers. It reads no turns.
	OpenQuestions(QuestionFilter) ([]OpenQuestion, error)
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

// BoxReader reads boxes.
type BoxReader interface {
	// BoxEntries lists entries in the order of owner, box and number.
	BoxEntries(BoxFilter) ([]api.BoxEntry, error)
	// Boxes lists boxes in the order of owner and id.
	Boxes(BoxPage) ([]api.BoxDetail, error)
}

// ToolReader reads the registry.
type ToolReader interface {
	// Tools lists registered tools in the order of their names. If this transaction saves a tool
	// that it has read here and that has changed since, that is [ErrConflict].
	Tools(ToolFilter) ([]Tool, error)
}

// AgentReader reads the definitions of agents.
type AgentReader interface {
	// Agents lists them in the order of their names.
	Agents(AgentFilter) ([]Agent, error)
}

// OutboxReader reads unsent messages.
type OutboxReader interface {
	// Outbox lists unsent messages, or dead letters, in order.
	Outbox(OutboxFilter) ([]Outgoing, error)
}

// CallReader reads calls, also those that are no longer live in their turns.
type CallReader interface {
	// Calls lists calls of a turn in the order of their ids. In an erased turn they have only what is retained.
	Calls(CallFilter) ([]turn.Call, error)
	// Sealed lists the sealed values of a call.
	Sealed(call string) ([]Sealed, error)
	// OpenCalls counts the open calls of an agent, up to a limit.
	OpenCalls(agent string, limit int) (int, error)
}

// PreferenceReader reads what people prefer.
type PreferenceReader interface {
	// Preferences returns the zero value if the person has none.
	Preferences(person string) (Preferences, error)
}

// PermissionReader reads standing permissions.
type PermissionReader interface {
	// Permissions lists standing permissions by their numbers.
	Permissions(PermissionFilter) ([]standing.Permission, error)
}

// RequestKeyReader reads the idempotency keys of requests.
type RequestKeyReader interface {
	// RequestKey returns the zero value if the principal has not used such a key. It may have expired.
	RequestKey(principal, key string) (RequestKey, error)
}

// PasskeyReader reads the passkeys of people.
type PasskeyReader interface {
	// Passkeys lists all of them, in the order in which they were added. They are few.
	Passkeys() ([]Passkey, error)
}

// AuditReader reads receipts, the audit chain, and what the ledger has about its entries.
type AuditReader interface {
	// Receipts lists the receipts of a session, oldest first.
	Receipts(session string) ([]Receipt, error)
	// Audit lists entries of the chain, each with its receipt if that is still there.
	Audit(AuditFilter) ([]api.AuditEntry, error)
	// Unchained counts the receipts without an entry, and the starts that are older than theirs.
	Unchained() (api.AuditUnchained, error)
	// ReceiptSubjects has a row for each receipt that has one of the entries, in their order.
	ReceiptSubjects(EntryFilter) ([]ReceiptSubject, error)
	// ActSubjects has a row for each start and outcome that has one of the entries, in their order.
	ActSubjects(EntryFilter) ([]ActSubject, error)
	// Unaudited lists the consented calls, and the started irreversible ones, that lack a receipt that says accept; and
	// the calls with an effect that were started after the chain had its first act and lack an act that says so.
	Unaudited(UnauditedFilter) ([]api.AuditCall, error)
	// InForce lists the records of a kind, in the order of their subjects.
	InForce(kind string) ([]InForce, error)
}

// Writer writes.
type Writer interface {
	// Count adds to a counter (0 only reads it) and returns its new value.
	Count(counter string, add int64) (int64, error)
	// Save writes one step at once, blobs first. By the time that Update returns, it has set the Seq
	// of the batch's Events and the ID of its Outbox in place. A store may find out only at the
	// commit that the step cannot be saved: Update then returns an error, or runs fn again.
	Save(Batch) error
	// Purge erases content in this transaction.
	Purge(Purge) (Purged, error)
}
