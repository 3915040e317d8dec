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

// ReceiptDetail returns the receipt in the form that people are shown.
func ReceiptDetail(r Receipt) api.ReceiptDetail {
	return api.ReceiptDetail{
		Call: r.Call, Question: r.Question, Decision: r.Decision, By: r.By, Surface: r.Surface, At: r.At, Shown: r.Shown, Language: r.Language,
		Terms: r.Terms,
	}
}

// ActSubject is what the ledger has about the call of a start or an outcome. What is missing is empty.
type ActSubject struct {
	Entry int64
	// Call is the call that the entry is filed under.
	Call             string
	Turn, Project    string
	Erased, Imported bool
	// Class, Digest and Fence are those of the call, if it is one of that turn, and Made is its own
	// document; of an erased call that says nothing.
	Class, Digest string
	Fence         int
	Document      turn.Call
	// Granted: a start of the call is recorded; for an entry of a start, that very one.
	Granted bool
	// Accepted: the receipt of a yes to the call is recorded.
	Accepted bool
	// Status and Card are those of the report.
	Status, Card string
}

// InForce is something that is in force outside the ledger, as the audit chain has it: the operator's rules,
// a token, a login, a credential. It is stored to detect changes.
type InForce struct {
	Kind, Subject string
	// Digest says what it is, Detail says it for people, and By is whose it is, if anybody's. In a
	// batch an empty Digest is one that is gone.
	Digest, Detail, By string
}

// ReceiptSubject is what the ledger has about the subject of a receipt. What is missing is empty.
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
	// Unstarted: the call has a fence, but no grant with it is recorded.
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
	// Position is the key by which a list by Due or Free is ordered.
	Position time.Time
}

// Progress says which sessions have new events.
type Progress struct {
	// Newest is the last event of the ledger, "" if there is none. Everything before it is committed:
	// as a [Point] it misses nothing. While several transactions write, a store may leave out the
	// latest events, here and in Sessions, if an earlier one could still be committed.
	Newest string
	// Owner is the owner of the session of the point's event.
	Owner    string
	Sessions []Advance // in no order
	More     bool
}

// Advance is one session with new events: Seq is the number of its last event before the point, Last that of
// its last event now.
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

// Empty reports whether there is nothing to store; an error says why it cannot be stored.
func (w Preferences) Empty() (bool, error) {
	empty := true
	for one, n := range w.All() {
		if n < 0 {
			return false, fmt.Errorf("found %d for %s, expected 0 or more", n, one.Name)
		}
		empty = empty && n == 0
	}
	for _, text := range w.Texts() {
		empty = empty && text == ""
	}
	if w.Person == "" {
		return false, errors.New("found no person, expected whose preferences they are")
	}
	return empty, nil
}

// KeyLife is how long a key identifies the request that it came with.
const KeyLife = 24 * time.Hour

// RequestKey says which turn was begun under an idempotency key of a principal, so that a repeated request begins no
// other turn; or which call was made in an outside turn, where the keys belong to the session.
type RequestKey struct {
	// Principal is the owner of the key, Key its SHA-256 in hex.
	Principal, Key string
	// Digest is the SHA-256, in hex, of what was asked for with it.
	Digest        string
	Turn, Session string
	Call          string // "" where it began the turn
	At            time.Time
	// Lasting: it never expires, as a correlation id.
	Lasting bool
}

// Expired reports whether the key no longer identifies its request at a time.
func (k RequestKey) Expired(at time.Time) bool { return !k.Lasting && !k.At.After(at.Add(-KeyLife)) }

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

// Outgoing is a message to be published. Rows of one session are sent in order.
type Outgoing struct {
	ID      int64 // given by the store when it is saved
	Session string
	Subject string
	Header  map[string][]string
	Payload []byte
	// Call is the call whose command it is, if any.
	Call string
	// Died and Reason say when and why it became a dead letter; zero if it may be sent.
	Died   time.Time
	Reason string
}

// Consent is a recorded yes, bound to a call and a digest, used once.
type Consent struct {
	Question int
	Call     string
	Digest   string
	By       string
	Surface  string
	At       time.Time
}

// Receipt records what was shown, to whom, and what was answered.
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
	// Terms are what the answer was bound to. They are stored as one document.
	Terms api.ReceiptTerms
	// Salt makes its entry in the audit chain reveal nothing once the receipt is gone: 128 random
	// bits in hex, stored nowhere else.
	Salt string
	// Entry is the number of its entry, given by the store when it is saved, in the same
	// transaction; 0 for one that is older than the chain.
	Entry int64
}

// Audited returns what the receipt's entry in the audit chain commits to.
func (r Receipt) Audited() api.AuditReceipt {
	return api.AuditReceipt{ReceiptDetail: ReceiptDetail(r), Session: r.Session, Salt: r.Salt}
}

// Report is the inbox row of a result: there is one for each call.
type Report struct {
	Turn, Call string
	Card       string
	Status     utp.Status
	After      string
	At         time.Time
}

// Grant is a granted start; one row for each call and fence.
type Grant struct {
	Call  string
	Fence int
	Owner string
	At    time.Time
}

// Sealed is an encrypted secret of one call.
type Sealed struct {
	Call, Ref string
	Box       []byte
}
