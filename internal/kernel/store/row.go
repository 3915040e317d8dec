package store

import (
	"errors"
	"fmt"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/kernel/turn"
	"github.com/earshot-dev/earshot/utp"
)

// ReceiptDetail is the receipt as people are shown it.
func ReceiptDetail(r Receipt) api.ReceiptDetail {
	return api.ReceiptDetail{
		Call: r.Call, Question: r.Question, Decision: r.Decision, By: r.By, Surface: r.Surface, At: r.At, Shown: r.Shown, Language: r.Language,
		Terms: r.Terms,
	}
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
