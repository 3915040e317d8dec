// Package admission decides which turns begin, which calls they make, and whether a call that was made may still start. It
// reads what decides: the definition of the agent, the registry of tools, the policy, standing permissions, the arguments,
// and what is open already.
//
// A [Gate] is for a whole ledger, and a [Tx] for one turn within one transaction. [Tx.Make] makes a call from a request: a
// fault of the request becomes the outcome of the call, and an error is the ledger's. [Tx.Check] compares a call with how
// things stand when it is about to leave or start; the turn machine ends it, or asks for it again, if anything differs. A
// new turn goes through [CheckRequest], [CheckOpenTurns], [Tx.Begin], where it is within another one [Tx.Within], and
// [Tx.Complete].
//
// # Duties of the caller
//
//   - Save with the transaction what was added: [Tx.Sealed], [Permissions.Changed], and the cards of [cards.Tx].
//   - Take [Permissions.NewlyEnded] after each call that was made, and tell the person.
//   - Apply what Check returns before anything leaves: nothing here starts or ends a call.
package admission

import (
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/kernel/argument"
	"github.com/earshot-dev/earshot/internal/kernel/cards"
	"github.com/earshot-dev/earshot/internal/kernel/ids"
	"github.com/earshot-dev/earshot/internal/kernel/rulebook"
	"github.com/earshot-dev/earshot/internal/kernel/store"
	"github.com/earshot-dev/earshot/internal/kernel/turn"
)

// Options of a gate. All are required. The functions are called inside transactions, and must be quick and without effects.
type Options struct {
	// Decide is the policy.
	Decide func(agent string, t store.Tool) rulebook.Ruling
	// MayApprove reports whether a person may consent for the owner of a turn; the credential is what they have presented.
	MayApprove func(person, credential, owner string) bool
	// NeedsPasskey reports whether a yes about a call takes a passkey.
	NeedsPasskey func(c turn.Call) bool
	// Lacks reports whether it is known that the tool's service does not have it any more.
	Lacks func(t store.Tool) bool
	// MayStart reports whether an agent or a service may start turns of an agent within its own, by the server's setting.
	MayStart func(name, agent string) bool
	// MaxActive is how many turns of an agent may be under way at once; 0 is any number.
	MaxActive func(agent string) int
	// Parameters returns the JSON Schema of the arguments that an agent takes by its own program; nil is any arguments.
	Parameters func(agent string) jsontext.Value
	// OpenCalls is how many calls of one agent may be open in all its turns.
	OpenCalls int
	// Generation names the present run of the runtime.
	Generation func() string
	// Latest is the time by the clock that is never set back.
	Latest  func(turn.Timestamp) time.Time
	Values  *argument.Handler
	IDs     *ids.Source
	Project string // whose calls may start here
}

// Gate decides about the calls of one ledger. It is safe for concurrent use.
type Gate struct {
	o         Options
	openCalls openCalls
	parents   parents
}

// New makes a gate.
func New(o Options) *Gate {
	return &Gate{o: o, openCalls: openCalls{agents: map[string]callEstimate{}}}
}

// Tx decides about the calls of one turn within one transaction. It is for one goroutine.
type Tx struct {
	gate        *Gate
	tx          store.Tx
	now         turn.Timestamp
	of          *turn.State
	cards       *cards.Tx
	permissions *Permissions
	agent       *store.Agent // once it was read
	siblings    *Siblings    // those that begin with it; nil if none do
	sealed      []store.Sealed
}

// In returns the gate to a turn within a transaction that takes place at a time. The state is read at each decision: it is
// that of the transaction so far.
func (g *Gate) In(tx store.Tx, now turn.Timestamp, of *turn.State, c *cards.Tx) *Tx {
	t := &Tx{gate: g, tx: tx, now: now, of: of, cards: c}
	t.permissions = &Permissions{in: t}
	return t
}

// Sealed are the secrets of the calls that were made, to be saved with the transaction.
func (t *Tx) Sealed() []store.Sealed { return t.sealed }

// Permissions are the standing permissions of the transaction.
func (t *Tx) Permissions() *Permissions { return t.permissions }

// MayApprove reports whether a person may consent in this turn. The agent never may: who asks for a call does not
// approve it.
func (t *Tx) MayApprove(person, credential string) bool {
	return person != t.of.Agent && t.gate.o.MayApprove(person, credential, t.of.Owner)
}

// PreferredUndo returns the undo time that a person prefers; 0 is no preference.
func (t *Tx) PreferredUndo(person string) (time.Duration, error) {
	if person == "" {
		return 0, nil
	}
	preferences, err := t.tx.Preferences(person)
	return turn.Seconds(api.Preferred(preferences.UndoSeconds)), err
}
