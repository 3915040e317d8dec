package kernel

import (
	"context"
	"crypto/rand"
	"errors"
	"io"
	"log/slog"
	"sync"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/kernel/active"
	"github.com/earshot-dev/earshot/internal/kernel/admin"
	"github.com/earshot-dev/earshot/internal/kernel/admission"
	"github.com/earshot-dev/earshot/internal/kernel/argument"
	"github.com/earshot-dev/earshot/internal/kernel/hints"
	"github.com/earshot-dev/earshot/internal/kernel/ids"
	"github.com/earshot-dev/earshot/internal/kernel/incarnation"
	"github.com/earshot-dev/earshot/internal/kernel/monotonic"
	"github.com/earshot-dev/earshot/internal/kernel/outbox"
	"github.com/earshot-dev/earshot/internal/kernel/passkeys"
	"github.com/earshot-dev/earshot/internal/kernel/registry"
	"github.com/earshot-dev/earshot/internal/kernel/rulebook"
	"github.com/earshot-dev/earshot/internal/kernel/store"
	"github.com/earshot-dev/earshot/internal/kernel/ticker"
	"github.com/earshot-dev/earshot/internal/kernel/turn"
)

// Policy decides about a call before anyone is asked, and again before its dispatch and its start: a rule
// that has become stricter meanwhile applies at once. It is consulted inside transactions, and must be
// quick and without effects. When it changes, call [Kernel.Rejudge].
type Policy interface {
	// Decide says what an agent may do with a tool at this moment. It never allows an
	// irreversible one; the turn machine would ask anyway.
	Decide(agent string, t store.Tool) rulebook.Ruling
}

// Approvers says who may answer for whom. It is consulted inside transactions, when an answer comes and
// again before the dispatch, and must be quick and without effects.
type Approvers interface {
	// MayApprove reports whether the person may consent for the owner of a turn at this moment.
	// The credential is what the person has presented; "" means none that could be revoked.
	MayApprove(person, credential, owner string) bool
	// MayAccept reports whether a person is known to be behind the credential. Without one only a no counts.
	MayAccept(credential string) bool
}

// Names says who may register which tool names. It is consulted inside transactions, and must be quick
// and without effects.
type Names interface {
	// MayRegister returns nil if a service may register a tool of this name. Otherwise its error
	// tells the person who starts the service what is wrong and what to do. It is called for unregistered
	// names only: a registered name stays with its service.
	MayRegister(from Caller, tool string) error
}

// Clock is the kernel's time.
type Clock struct {
	Now func() time.Time
	// SinceBoot counts since the machine booted, suspended or not.
	SinceBoot func() time.Duration
	// Boot is an id that changes when the machine boots.
	Boot string
}

func (c Clock) timestamp() turn.Timestamp {
	return turn.Timestamp{Wall: c.Now().UTC().Truncate(time.Millisecond), SinceBoot: c.SinceBoot(), Boot: c.Boot}
}

// Options of a kernel. Store, Bus, Policy and Narrator are required.
type Options struct {
	Store    store.Ledger
	Bus      outbox.Bus
	Policy   Policy
	Narrator Narrator
	// Presence says which services are connected; nil is unknown. With it the kernel reports a call
	// that no service would receive, and a third-party service's command waits for its service.
	Presence registry.Presence
	// Approvers default to anyone whom a hub authenticates, except the agent itself.
	Approvers Approvers
	// Passkeys says which accepts take a passkey. Default: none.
	Passkeys Passkeys
	// Operator is the name in the audit chain for acts that name no operator; "" is unknown.
	Operator string
	// Names default to first come, first served.
	Names Names
	// Incarnation detects a restored ledger; nil does not.
	Incarnation incarnation.Copy
	// Takeover says that the ledger comes from another server, which may have gone on since: it is
	// recovered like one that went back in time.
	Takeover bool
	Project  string // default "default"
	Channel  string // default "public"
	Clock    Clock
	Rand     io.Reader // default crypto/rand
	Logger   *slog.Logger
	// Key seals secrets and makes their MACs: 32 bytes, kept by the operator. Without a key, tools
	// that take secrets are refused.
	Key []byte
	// Environment looks up what a tool's `envs` option names; nil has nothing.
	Environment func(name string) (string, bool)
	// WorkerLease and ToolLease default to 30 s.
	WorkerLease, ToolLease time.Duration
	// IdleTurn is how long a turn waits for a worker before it ends, also after a worker's lease has
	// expired; default 24 h, negative is for ever.
	IdleTurn time.Duration
	// DispatchTimeout is how long a queued turn waits for its first worker before it ends, not counting the time in which
	// its agent is engaged in other turns; default 0, which leaves it to IdleTurn.
	DispatchTimeout time.Duration
	// MaxActive is how many turns of an agent may be under way at once; the others wait in their order. 0, and a nil
	// function, is any number. It is consulted inside transactions, and must be the same on each kernel of a ledger.
	MaxActive func(agent string) int
	// MayStart reports whether an agent or a service may start turns of an agent within its own. An agent may always start
	// further turns of its own; by default nobody may start others. It must be quick and without effects.
	MayStart func(name, agent string) bool
	// Parameters returns the JSON Schema of the arguments that an agent of this program takes, where no definition says it; nil is any
	// arguments.
	Parameters func(agent string) jsontext.Value
	// Poll is how often the kernel polls the ledger for work that others have left, default a
	// minute. With several kernels on one ledger, it bounds how long the work of one stands still
	// when that one is gone.
	Poll time.Duration
	// OwnedTurnsOnly restricts the kernel to the turns that are begun or resumed here. Otherwise it
	// works on every open turn of the ledger, no matter who began it.
	OwnedTurnsOnly bool
	// SingleHost says that workers and services live in this process only, so that every lease from
	// before its start is void.
	SingleHost bool
	// Generation names the run of the runtime that every kernel on the ledger shares: it changes once
	// all of them have been gone. Default: one for each kernel, which is right if no other works on
	// the ledger. It is consulted inside transactions.
	Generation func() string
	// WaitForPresence says that people come and go: a question waits until a hub reports that it is
	// first shown to somebody who can answer it. Otherwise its time starts when it is asked.
	WaitForPresence bool
	// Hints publishes the events of agents (UTP, "Events of agents": evt.agent.*, and
	// str.agent.*.chunk with what an agent writes) for third-party followers. The Bus has to let
	// them out.
	Hints     bool
	Retention admin.Retention
	// OpenCalls is the most open calls that one agent's credential may have in all its turns; default 10,000.
	// Each further kernel on the same ledger can admit an eighth more, or as many as it adds within a second,
	// before it counts again.
	OpenCalls int
	// AddedCards is the most cards that a worker may add to a turn, beside those of its calls; default [DefaultAddedCards].
	AddedCards int
	// BytesPerDay is the most that one credential may put into blobs in a day (UTC); default 16 GiB.
	BytesPerDay int64
	// Reached is called at the named points of the fault tests; nil does nothing.
	Reached func(point string)
	// Step is the turn machine; nil is [turn.Step]. A simulation puts a broken one here, to
	// see that it is found out.
	Step func(turn.State, turn.Timestamp, turn.Input) (turn.State, []turn.Effect, error)
}

// Kernel runs turns on one ledger. Make it with [New], serve [Kernel.Handle], and
// keep [Kernel.Run] running.
type Kernel struct {
	o           Options
	values      *argument.Handler
	clock       *monotonic.Clock
	ids         *ids.Source
	active      *active.Turns
	ticker      *ticker.Ticker
	admin       *admin.Admin
	outbox      *outbox.Outbox
	passkeys    *passkeys.Passkeys
	gate        *admission.Gate
	incarnation *incarnation.Counter
	hints       *hints.Publisher // nil without Options.Hints

	generation func() string

	external externalCounts
	ends     ends
	registry *registry.Registry

	startedAt time.Duration // when it was made, by the monotonic clock
}

// New checks the options and fills in defaults.
func New(o Options) (*Kernel, error) {
	if o.Store == nil || o.Bus == nil || o.Policy == nil || o.Narrator == nil {
		return nil, errors.New("kernel: Store, Bus, Policy and Narrator are required")
	}
	if len(o.Key) != 0 && len(o.Key) != argument.KeySize {
		return nil, errors.New("kernel: Key must be 32 bytes")
	}
	if !o.Passkeys.Require.Valid() {
		return nil, errors.New("kernel: Passkeys.Require must be high, irreversible, all, or none")
	}
	o.fill()
	k := &Kernel{
		o:         o,
		clock:     monotonic.New(o.Clock.timestamp),
		ids:       ids.New(o.Rand),
		values:    argument.New(argument.Options{Key: o.Key, Rand: o.Rand, Environment: o.Environment}),
		active:    active.New(o.OwnedTurnsOnly),
		startedAt: o.Clock.SinceBoot(),
	}
	k.incarnation = incarnation.New(incarnation.Options{
		Ledger: o.Store, Copy: o.Incarnation, Takeover: o.Takeover, Numbers: []string{counterQuestion, admission.CounterPermission},
		Act: func(a api.AuditAct) ([]api.AuditAct, error) { return k.admin.Operated(a) },
	})
	k.outbox = outbox.New(outbox.Options{
		Ledger: o.Store, Bus: o.Bus, Logger: o.Logger, Poll: o.Poll, Reached: o.Reached,
		Now: o.Clock.timestamp, SinceBoot: o.Clock.SinceBoot, MonotonicNow: func() time.Time { return k.clock.At(k.clock.Now()) },
		Generation: func() string { return k.generation() }, SaveIncarnation: k.incarnation.Save, Active: k.active.HasSession, Undelivered: k.reportDead,
	})
	k.ticker = ticker.New(ticker.Options{
		Ledger: o.Store, Clock: k.clock, SinceBoot: o.Clock.SinceBoot, Active: k.active, Poll: o.Poll, Tick: k.tickDue, Logger: o.Logger,
	})
	k.admin = admin.New(admin.Options{
		Ledger: o.Store, Now: o.Clock.Now, Timestamp: k.clock.Now, Logger: o.Logger, Operator: o.Operator, Retention: o.Retention, Salt: k.ids.Salt,
		Decide:    func(t store.Tool) turn.Decision { return rulebook.Decision(t, o.Policy.Decide("", t)) },
		MaxActive: o.MaxActive, Connected: k.connected, Active: k.active.Has, EndSession: k.endImported,
	})
	if o.Hints {
		k.hints = hints.New(o.Bus, o.Clock.Now, o.Logger)
	}
	k.passkeys = k.newPasskeys()
	k.registry = k.newRegistry()
	k.gate = k.newGate()
	if k.generation = o.Generation; k.generation == nil {
		own, err := k.ids.Nonce()
		if err != nil {
			return nil, err
		}
		k.generation = func() string { return own }
	}
	return k, nil
}

// newGate returns the gate that decides about calls.
func (k *Kernel) newGate() *admission.Gate {
	return admission.New(admission.Options{
		Decide: k.o.Policy.Decide, NeedsPasskey: k.passkeys.Needs, Lacks: k.registry.Lacks, Latest: k.clock.Latest,
		Generation: func() string { return k.generation() }, Values: k.values, IDs: k.ids, Project: k.o.Project,
		MayStart: k.o.MayStart, MaxActive: k.o.MaxActive, OpenCalls: k.o.OpenCalls, Parameters: k.o.Parameters,
		MayApprove: func(person, credential, owner string) bool {
			return k.o.Approvers == nil || k.o.Approvers.MayApprove(person, credential, owner)
		},
	})
}

func (o *Options) fill() {
	if o.Project == "" {
		o.Project = "default"
	}
	if o.Channel == "" {
		o.Channel = "public"
	}
	if o.Clock.Now == nil {
		o.Clock.Now = time.Now
	}
	if o.Clock.SinceBoot == nil {
		began := time.Now()
		o.Clock.SinceBoot = func() time.Duration { return time.Since(began) }
	}
	if o.Rand == nil {
		o.Rand = rand.Reader
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.WorkerLease <= 0 {
		o.WorkerLease = defaultLease
	}
	if o.ToolLease <= 0 {
		o.ToolLease = defaultLease
	}
	if o.IdleTurn == 0 {
		o.IdleTurn = 24 * time.Hour
	}
	if o.OpenCalls <= 0 {
		o.OpenCalls = 10_000
	}
	if o.AddedCards <= 0 {
		o.AddedCards = DefaultAddedCards
	}
	if o.BytesPerDay <= 0 {
		o.BytesPerDay = 16 << 30
	}
	if o.Poll <= 0 {
		o.Poll = time.Minute
	}
	o.DispatchTimeout = max(0, o.DispatchTimeout)
	if o.MaxActive == nil {
		o.MaxActive = func(string) int { return 0 }
	}
	if o.MayStart == nil {
		o.MayStart = func(string, string) bool { return false }
	}
	if o.Parameters == nil {
		o.Parameters = func(string) jsontext.Value { return nil }
	}
	if o.Environment == nil {
		o.Environment = func(string) (string, bool) { return "", false }
	}
	if o.Reached == nil {
		o.Reached = func(string) {}
	}
	if o.Step == nil {
		o.Step = turn.Step
	}
}

const defaultLease = 30 * time.Second

// DefaultAddedCards is how many cards a worker may add to a turn by default.
const DefaultAddedCards = 10_000

// Admin returns the administration of the kernel's ledger.
func (k *Kernel) Admin() *admin.Admin { return k.admin }

// Run publishes messages, ticks turns and erases old content until the context ends, and waits for all three.
func (k *Kernel) Run(ctx context.Context) {
	var owned sync.WaitGroup
	owned.Go(func() { k.outbox.Run(ctx) })
	owned.Go(func() { k.ticker.Run(ctx) })
	owned.Go(func() { k.admin.Run(ctx) })
	owned.Wait()
}
