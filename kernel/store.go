package kernel

import (
	"context"
	"errors"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/aaep/consent"
	"github.com/earshot-dev/earshot/kernel/turn"
	"github.com/earshot-dev/earshot/utp"
)

// Sentinels of the [Store].
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
	// ErrHash: the bytes of a blob are not what its name says. All of its pieces are
	// dropped; it can be put again from the beginning.
	ErrHash = errors.New("kernel: the blob is not what its hash says")
)

// Store is the ledger: the one durable truth. Implementations are safe for
// concurrent use.
type Store interface {
	// Update runs fn in a transaction and returns once it is durable. Several may
	// share one commit; an error of fn undoes fn's own writes only. fn may be run
	// again if the commit failed, so it must have no effects of its own.
	Update(ctx context.Context, fn func(Tx) error) error
	// View runs fn on a consistent snapshot; its Tx refuses to write.
	View(ctx context.Context, fn func(Tx) error) error
	// Close waits for what is under way.
	Close() error
}

// Tx is one transaction. Missing rows are [ErrNotFound].
type Tx interface {
	// Turn finds a turn with all that is needed to step it.
	Turn(TurnRef) (Record, error)
	// Turns lists turns, oldest first.
	Turns(TurnFilter) ([]TurnRow, error)
	// Events reads a session's rows after a sequence number, at most limit of them.
	Events(session string, after int64, limit int) ([]Event, error)
	// Results reads the applied results of a turn in order, after the first after.
	Results(turn string, after, limit int) ([]ResultRow, error)
	Card(id string) (utp.Card, error)
	// Blob reads at most n bytes of a complete blob from offset on, and its whole size.
	Blob(sha256 string, offset int64, n int) ([]byte, int64, error)
	// SaveBlob adds a piece. It is complete once offset+len(data) reaches size; a piece
	// out of order is ErrConflict, one that is there already is a success.
	SaveBlob(piece utp.PutRequest) error
	// Tool finds a tool by name; "" lists none: it is ErrNotFound.
	Tool(name string) (Tool, error)
	// Outbox reads unpublished rows in order, at most limit of them.
	Outbox(limit int) ([]Outgoing, error)
	// Sealed reads the sealed values of a call.
	Sealed(call string) ([]Sealed, error)
	// Count adds to a counter (0 only reads it) and returns its new value.
	Count(counter string, add int64) (int64, error)
	// Save writes one step at once and sets the Seq of the batch's Events in place.
	Save(Batch) error
}

// TurnRef names a turn by one of its handles; exactly one field is set.
type TurnRef struct {
	Turn, Session, Call, Token string
	Question                   int
}

// TurnFilter narrows a list. Zero fields do not narrow.
type TurnFilter struct {
	Agent string
	// Open leaves ended turns out.
	Open bool
	// Statuses keeps only these.
	Statuses []turn.Status
	Limit    int
}

// TurnRow is one turn in a list.
type TurnRow struct {
	Turn, Session, Agent, Owner string
	Status                      turn.Status
	Created                     time.Time
}

// Record is a turn with its questions and its narration, saved as one.
type Record struct {
	State     turn.State
	Questions []consent.Question // the open ones and those of live calls
	// Narration is the narrator's own state.
	Narration jsontext.Value
	Args      jsontext.Value
	Request   string
	// AnswerSeconds overrides how long questions stay open; 0 does not.
	AnswerSeconds int
	// Absent: nobody is left who could answer, and policy decides rather than waits.
	Absent  bool
	Created time.Time
	// Version is the compare-and-set handle: 0 for a turn that is not saved yet.
	Version int64
}

// Tool is a registered tool. Reviewed says that an operator has looked at this very
// digest; until then it counts as irreversible and of high risk.
type Tool struct {
	Definition utp.Definition
	Digest     string
	Reviewed   bool
	// Class and Risk are what the operator allows for the reviewed digest.
	Class utp.Class
	Risk  utp.Risk
}

// Event is one row of a session's gapless sequence. Template and Params let other
// languages be rendered from it.
type Event struct {
	Session  string
	Seq      int64 // from 1, given by the store when it is saved
	ID       string
	Type     string
	Body     jsontext.Value
	Template string
	Params   jsontext.Value
	At       time.Time
}

// ResultRow is one applied result.
type ResultRow struct {
	N    int
	Key  string
	Call string
	Tool string
	Card string // the tool.result card
}

// Outgoing is a message that waits to be published. Rows of one session leave in
// order.
type Outgoing struct {
	ID      int64 // given by the store
	Session string
	Subject string
	Header  map[string][]string
	Payload []byte
	// Call is the call whose command it is, if any.
	Call string
}

// Consent is a yes that is kept, bound to a call and a digest, used once.
type Consent struct {
	Question int
	Call     string
	Digest   string
	By       string
	Surface  string
	At       time.Time
}

// Receipt keeps what was shown, to whom, and what was answered.
type Receipt struct {
	Session  string
	Call     string
	Question int
	Decision string
	By       string
	Surface  string
	At       time.Time
	// Shown is the digest of the question's event as it was sent.
	Shown string
	// Language is the language it was shown in.
	Language string
}

// Report is the inbox row that a result makes: it exists once for each call.
type Report struct {
	Turn, Call string
	Card       string
	Status     utp.Status
	After      string
	At         time.Time
}

// Edge is one side of a call's path through the system.
type Edge struct {
	Call, Primitive, Phase, Source, Target string
	At                                     time.Time
}

// Grant is a start that was handed out; one row for each call and fence.
type Grant struct {
	Call  string
	Fence int
	Owner string
	At    time.Time
}

// Sealed is a secret kept for one call, encrypted.
type Sealed struct {
	Call, Ref string
	Box       []byte
}

// Batch is all that one step writes, in one transaction.
type Batch struct {
	// Turn is inserted when its Version is 0, else compared and set; ErrConflict if it
	// has moved on. The store keeps calls and questions findable from it.
	Turn   *Record
	Events []Event // numbered by the store, in this order
	Cards  []utp.Card
	Outbox []Outgoing
	// Published are rows of the outbox that have left; Dead could not and never will.
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
	Sealed   []Sealed
	Late     []Report
	Tools    []Tool
}

// DeadLetter is an outgoing row that cannot be published, and why.
type DeadLetter struct {
	ID     int64
	Reason string
}
