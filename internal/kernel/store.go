package kernel

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/kernel/consent"
	"github.com/earshot-dev/earshot/internal/kernel/turn"
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
	// ErrDamaged: what is there cannot be read as what it should be. No retry helps; only
	// what depends on it stands still.
	ErrDamaged = errors.New("kernel: what the ledger holds cannot be read")
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

// Tx is one transaction. What is found by a handle and is missing is [ErrNotFound]; a list
// of nothing is empty.
type Tx interface {
	// Turn finds a turn with all that is needed to step it.
	Turn(TurnRef) (Record, error)
	// Turns lists turns, oldest first.
	Turns(TurnFilter) ([]TurnRow, error)
	// Events lists what was told, in the order of each session.
	Events(EventFilter) ([]Event, error)
	// Since lists the sessions that have had events after a point of the ledger, but for those
	// of imported turns. It is the first that is asked of its transaction, for what is told
	// must have ended before.
	Since(Point) (Progress, error)
	// Results reads the applied results of a turn in order, after the first after.
	Results(turn string, after, limit int) ([]ResultRow, error)
	// Cards lists cards in the order of their ids.
	Cards(CardFilter) ([]utp.Card, error)
	// Blob reads at most n bytes of a complete blob from offset on, and its whole size.
	Blob(sha256 string, offset int64, n int) ([]byte, int64, error)
	// Tools lists registered tools in the order of their names. One that was read so is
	// compared when this transaction saves it: one that has changed since is [ErrConflict].
	Tools(ToolFilter) ([]Tool, error)
	// Outbox lists messages that wait to leave, or dead ones, in their order.
	Outbox(OutboxFilter) ([]Outgoing, error)
	// Auxiliary reads what is kept beside the turns.
	Auxiliary(AuxiliaryFilter) (Auxiliary, error)
	// Count adds to a counter (0 only reads it) and returns its new value.
	Count(counter string, add int64) (int64, error)
	// Save writes one step at once, blobs first, and sets in place the Seq of the batch's Events
	// and the ID of its Outbox, by the time that Update returns. A store may find out only then
	// that the step cannot be saved: Update says so, or runs fn again.
	Save(Batch) error
}

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

// Auxiliary is what is kept beside the turns.
type Auxiliary struct {
	Sealed   []Sealed
	Receipts []Receipt // oldest first
	// Calls are all that the turn has made. Of an erased turn they have only what is kept.
	Calls []turn.Call
	// Preferences is the zero value where the person has none.
	Preferences Preferences
	// Key is the zero value where the principal has used no such key. It may be one whose time
	// is over.
	Key RequestKey
	// Audit are entries of the audit chain, each with its receipt if that is still there.
	Audit     []api.AuditEntry
	Unchained api.AuditUnchained
	// ReceiptSubjects has a row for each receipt that has one of the entries, in their order.
	ReceiptSubjects []ReceiptSubject
	// ActSubjects has a row for each start and outcome that has one of the entries, in their order.
	ActSubjects []ActSubject
	// Unaudited are the calls that a consent was given to, and those that cannot be undone and were
	// started, without a receipt that says accept; and those with an effect that were started after
	// the chain had its first act, without an act that says so.
	Unaudited []api.AuditCall
	// InForce are in the order of their subjects.
	InForce   []InForce
	OpenCalls int
}

// ActSubject is what the ledger keeps of the call of a start or an outcome. What is not there is empty.
type ActSubject struct {
	Entry int64
	// Call is the one that the entry is filed under.
	Call             string
	Turn, Project    string
	Erased, Imported bool
	// Class, Digest and Fence are those of the call, if it is one of that turn, and Made is its own
	// document; of an erased call that says nothing.
	Class, Digest string
	Fence         int
	Document      turn.Call
	// Granted: a start of the call is there; of an entry of a start that very one.
	Granted bool
	// Accepted: the receipt of a yes to the call is there.
	Accepted bool
	// Status and Card are those of the report.
	Status, Card string
}

// InForce is something that is in force beside the ledger, as the audit chain has it: the operator's
// rules, a token, a login, a credential. It is kept to find what has changed.
type InForce struct {
	Kind, Subject string
	// Digest says what it is, Detail says it for people, and By is whose it is, if anybody's. In a
	// batch an empty Digest is one that is gone.
	Digest, Detail, By string
}

// ReceiptSubject is what the ledger keeps of what a receipt is about. What is not there is empty.
type ReceiptSubject struct {
	Entry int64
	// Turn and Project are those of the receipt's session.
	Turn, Project    string
	Erased, Imported bool
	// Tool, Card, Definition and Digest are those of the call, if it is one of that turn.
	Tool, Card, Definition, Digest string
	// Question: the question is there, as one of that turn.
	Question bool
	// Consent is the digest of the consent to that question and call, given by the same person in the same place.
	Consent string
	// Answer is the card of the report: to a question of the agent's own, what was answered.
	Answer string
	// Unstarted: the call has a fence, and no grant with it is there.
	Unstarted bool
}

// OneRow is the row of a list that was asked for a single one; [ErrNotFound] without it.
func OneRow[T any](rows []T, err error) (T, error) {
	var none T
	if err != nil {
		return none, err
	}
	if len(rows) == 0 {
		return none, ErrNotFound
	}
	return rows[0], nil
}

// TurnRow is one turn in a list.
type TurnRow struct {
	Turn, Session, Agent, Owner string
	Name                        string
	Status                      turn.Status
	Created                     time.Time
	Request                     string
	// Summary is the first line of how it ended, Last the number of its session's last
	// event.
	Summary string
	Last    int64
	// Position is what a list by Due or Free is ordered by.
	Position time.Time
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

// Progress tells which sessions have gone on.
type Progress struct {
	// Newest is the last event of the ledger, "" where there is none. Everything before it
	// is committed: as a [Point] it misses nothing. While several write, a store may stop
	// short of what could still be overtaken, here and in Sessions alike.
	Newest string
	// Owner is whose session the point's event is of.
	Owner    string
	Sessions []Advance // in no order
	More     bool
}

// Advance is one session that has gone on: Seq is the number of its last event before the
// point, Last that of its last one now.
type Advance struct {
	Session, Owner string
	Seq, Last      int64
	Ended          bool
}

// Record is a turn with its questions and its narration, saved as one.
type Record struct {
	State     turn.State
	Questions []consent.Question // the open ones and those of live calls
	// Presented are the events that put the questions, for each that was put the last.
	Presented []Presented
	// Narration is the narrator's own state.
	Narration jsontext.Value
	Args      jsontext.Value
	Request   string
	// AnswerSeconds overrides how long questions stay open; 0 does not.
	AnswerSeconds int
	// Absent: nobody is left who could answer, and policy decides rather than waits.
	Absent  bool
	Created time.Time
	// Due is when the turn next wants a tick, by the wall clock; zero is not at all. Free is
	// from when on a worker may claim it; zero is not at all, 1970 at once. Both follow from
	// the rest and are kept to find the turn by.
	Due, Free time.Time
	// Erased: its content is gone. Imported is when it came from another ledger; such a turn
	// has ended, and is never worked on here.
	Erased   bool
	Imported time.Time
	// Unfinished: it had not ended where it was imported from. Its session gets its end when
	// all of it is here; until then Narration is that of the other ledger.
	Unfinished bool
	// Version is the compare-and-set handle: 0 for a turn that is not saved yet.
	Version int64
}

// Presented is how a question was put to people the last time.
type Presented struct {
	Question int `json:"question"`
	// Event is the event that puts it.
	Event string `json:"event"`
	// Until is its deadline on both clocks.
	Until turn.Timestamp `json:"until,omitzero"`
	// Shows is how much of the call's arguments the event shows, Read who has read on.
	Shows Shows     `json:"shows,omitzero"`
	Read  []Reading `json:"read,omitzero"`
	// Covered are the JSON pointers of the arguments that the event states by count and digest.
	Covered []string `json:"covered,omitzero"`
}

// Preferences is what a person prefers for the questions that are put to them. One without any preference is
// forgotten.
type Preferences struct {
	Person string
	api.Preferences
}

// Empty reports whether there is nothing to keep; an error says why it cannot be kept.
func (w Preferences) Empty() (bool, error) {
	empty := true
	for one, n := range w.All() {
		if n < 0 {
			return false, fmt.Errorf("found %d for %s, expected 0 or more", n, one.Name)
		}
		empty = empty && n == 0
	}
	if w.Person == "" {
		return false, errors.New("found no person, expected whose preferences they are")
	}
	return empty, nil
}

// KeyLife is for how long a key stands for the request that it came with.
const KeyLife = 24 * time.Hour

// RequestKey says which turn was begun under the idempotency key of a principal, so that the
// same request begins no other one; or which call of an outside turn, whose keys are its session's.
type RequestKey struct {
	// Principal is whose key it is, Key its SHA-256 in hex.
	Principal, Key string
	// Digest is the SHA-256, in hex, of what was asked for with it.
	Digest        string
	Turn, Session string
	Call          string // "" where it began the turn
	At            time.Time
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
	// LastReviewed is the definition that was reviewed last, whatever has become of it; nil for none.
	LastReviewed jsontext.Value
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
	ID      int64 // given by the store when it is saved
	Session string
	Subject string
	Header  map[string][]string
	Payload []byte
	// Call is the call whose command it is, if any.
	Call string
	// Died and Reason say when and why it was put aside; zero for one that may leave.
	Died   time.Time
	Reason string
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
	// Shown is the digest of the question's event as it was sent: SHA-256, in hex.
	Shown string
	// Language is the language it was shown in.
	Language string
	// Terms are what the answer was bound to. They are kept as one document.
	Terms api.ReceiptTerms
	// Salt is what makes its entry in the audit chain tell nothing once the receipt is gone: 128
	// random bits in hex, kept nowhere else.
	Salt string
	// Entry is the number of its entry, given by the store when it is saved, in the same
	// transaction; 0 for one that is older than the chain.
	Entry int64
}

// Audited is what the receipt's entry in the audit chain commits to.
func (r Receipt) Audited() api.AuditReceipt {
	return api.AuditReceipt{ReceiptDetail: ReceiptDetail(r), Session: r.Session, Salt: r.Salt}
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
