package kernel

import (
	"context"
	"crypto/rand"
	"errors"
	"io"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/earshot-dev/earshot/internal/kernel/admin"
	"github.com/earshot-dev/earshot/internal/kernel/outbox"
	"github.com/earshot-dev/earshot/internal/kernel/store"
	"github.com/earshot-dev/earshot/internal/kernel/turn"
)

// Presence knows who hears the bus at this moment. It is consulted inside transactions and
// must be quick and without effects.
type Presence interface {
	// Listens reports whether a message on the subject would be heard now, or kept for
	// somebody. Where nobody can tell it is not known, and nothing is said of it.
	Listens(subject string) (listens, known bool)
}

// Policy decides about a call before anyone is asked, and again when it is to leave and when it
// is to start: a rule that has become stricter meanwhile counts at once. It is consulted inside
// transactions and must be quick and without effects. Where it changes, call [Kernel.Rejudge].
type Policy interface {
	// Decide says what an agent may do with a tool at this moment. It never allows an
	// irreversible one; the turn machine would ask anyway.
	Decide(agent string, t store.Tool) Ruling
}

// Ruling is a policy's word on a tool.
type Ruling struct {
	// Rule is the rule that applied, in a canonical form: it is part of what is consented to,
	// and must not be empty.
	Rule     string
	Decision turn.Decision
	// Answer and StartWithin override the tool's own times; zero does not. Undo makes the time
	// to take a yes back longer, never shorter. Result is how long after its dispatch a call is
	// to have a result, where the tool itself does not say.
	Answer, StartWithin, Undo, Result time.Duration
	// BrokerOnly: an operator lets this service of another make have its effects.
	BrokerOnly bool
}

// Approvers says who may answer for whom. It is consulted inside transactions, when an
// answer comes and again when the call is to leave, and must be quick and without effects.
type Approvers interface {
	// MayApprove reports whether the person, with the credential that they have shown (""
	// for none that could be revoked), may, at this moment, consent for the owner of
	// a turn.
	MayApprove(person, credential, owner string) bool
}

// Names says whose tool names are. It is consulted inside transactions and must be quick and
// without effects.
type Names interface {
	// MayRegister says why a service may not register a tool of this name, in words for whoever
	// starts it: what is wrong and what to do; nil if it may. It is asked about names that nobody
	// has registered: what a service has registered stays its own.
	MayRegister(from Caller, tool string) error
}

// Incarnation is a counter kept outside the ledger. When it is ahead of the ledger's
// own, the ledger has gone back in time.
type Incarnation interface {
	Load() (int64, error)
	// Store is durable when it returns. It is called by several at once, and keeps the
	// greatest of their numbers: one that came later may be the smaller.
	Store(n int64) error
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
	// Presence tells which services are there; nil knows of none. With it a call that no
	// service would hear of is told of, and a foreign service's command waits for one.
	Presence Presence
	// Approvers default to anyone whom a hub speaks for, except the agent itself.
	Approvers Approvers
	// Operator is who does what no operator is named for, for the audit chain; "" is nobody known.
	Operator string
	// Names default to first come, first served.
	Names Names
	// Incarnation detects a restored ledger; nil keeps no watch.
	Incarnation Incarnation
	// Takeover says that anyone who worked on the ledger before is another one, who may have gone on
	// since: it is gone through like one that went back in time.
	Takeover bool
	Project  string // default "default"
	Channel  string // default "public"
	Clock    Clock
	Rand     io.Reader // default crypto/rand
	Logger   *slog.Logger
	// Key seals secrets and makes their MACs: 32 bytes, kept by the operator. Without
	// one, tools that take secrets are refused.
	Key []byte
	// Environment looks up what a tool's `envs` option names; nil has nothing.
	Environment func(name string) (string, bool)
	// WorkerLease and ToolLease default to 30 s.
	WorkerLease, ToolLease time.Duration
	// IdleTurn is how long a turn waits for a worker, or for one that has fallen silent, before
	// it ends; default 24 h, negative is for ever.
	IdleTurn time.Duration
	// Poll is how soon it looks into the ledger for what others have left to it, default a
	// minute. Where several kernels work on one ledger, it bounds how long what one has begun
	// stands still when that one is gone.
	Poll time.Duration
	// OwnedTurnsOnly keeps to the turns that are begun or resumed here. Otherwise every open turn of the
	// ledger is attended to, no matter who began it.
	OwnedTurnsOnly bool
	// SingleHost says that workers and services live in this process only, so that
	// anyone who held a lease before it started is gone.
	SingleHost bool
	// Generation names the life of the runtime that every kernel on the ledger shares: it is
	// another one once all of them have been gone. Default: the life of this kernel, which is right
	// where no other works on the ledger. It is consulted inside transactions.
	Generation func() string
	// WaitForPresence says that people come and go: hubs tell when a question is first shown to
	// somebody who can answer it, and until then it waits. Otherwise its time starts when
	// it is asked.
	WaitForPresence bool
	// Hints publishes the events of agents (UTP, "Events of agents": evt.agent.*, and
	// str.agent.*.chunk with what an agent writes) for third-party followers. The publisher of
	// package bus may not send them: they need a Bus that may.
	Hints     bool
	Retention admin.Retention
	// OpenCalls is the most calls that one agent's credential may have in all its turns that have not ended;
	// default 10,000. Each further kernel on the same ledger can let an eighth more in, or what it adds within a
	// second, before it counts again.
	OpenCalls int
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
	o       Options
	schemas schemas
	admin   *admin.Admin
	outbox  *outbox.Outbox

	mu           sync.Mutex
	ownedTurns   map[string]string        // turns that were begun or resumed here, with their sessions; only with Options.OwnedTurnsOnly
	suspended    map[string]string        // turns that are left alone until they are resumed, with their sessions
	ticking      map[string]struct{}      // turns that are being ticked
	later        map[string]time.Duration // turns whose tick was in vain, and when to try again, by the second clock
	unreadable   map[string]time.Duration // turns that cannot be read, and how long each was left alone last
	next         time.Duration            // when the ticker looks again, by the second clock
	tickerWakeup chan struct{}            // the ticker's: written by anyone, read by the ticker

	// clockOffset is how far the time of day has been ahead of the second clock at the most, and kept
	// as much of it as the ledger knows: since 1970, less what the second clock has counted.
	clockOffset, savedOffset atomic.Int64

	// takeoverCounted: a ledger that is taken over has been counted as one that went back.
	takeoverCounted atomic.Bool

	hintOrder hintOrder

	generation func() string
	openCalls  openCalls

	external externalCounts

	startedAt time.Duration // when it was made, by the second clock
}

// New checks the options and fills in defaults.
func New(o Options) (*Kernel, error) {
	if o.Store == nil || o.Bus == nil || o.Policy == nil || o.Narrator == nil {
		return nil, errors.New("kernel: Store, Bus, Policy and Narrator are required")
	}
	if len(o.Key) != 0 && len(o.Key) != keySize {
		return nil, errors.New("kernel: Key must be 32 bytes")
	}
	o.fill()
	k := &Kernel{
		o:            o,
		ownedTurns:   map[string]string{},
		suspended:    map[string]string{},
		ticking:      map[string]struct{}{},
		later:        map[string]time.Duration{},
		unreadable:   map[string]time.Duration{},
		tickerWakeup: make(chan struct{}, 1),
		startedAt:    o.Clock.SinceBoot(),

		openCalls: openCalls{agents: map[string]callEstimate{}},
	}
	k.outbox = outbox.New(outbox.Options{
		Ledger: o.Store, Bus: o.Bus, Logger: o.Logger, Poll: o.Poll, Reached: o.Reached,
		Now: o.Clock.timestamp, SinceBoot: o.Clock.SinceBoot, MonotonicNow: func() time.Time { return k.monotonicNow(k.now()) },
		Generation: func() string { return k.generation() }, SaveIncarnation: k.saveIncarnation, Active: k.activeSession, Undelivered: k.reportDead,
	})
	k.admin = admin.New(admin.Options{
		Ledger: o.Store, Now: o.Clock.Now, Logger: o.Logger, Operator: o.Operator, Retention: o.Retention, Salt: k.salt,
		Decide:    func(t store.Tool) turn.Decision { return decision(t, o.Policy.Decide("", t)) },
		Connected: k.connected, Active: k.active, EndSession: k.endImported,
	})
	if k.generation = o.Generation; k.generation == nil {
		own, err := k.nonce()
		if err != nil {
			return nil, err
		}
		k.generation = func() string { return own }
	}
	return k, nil
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
	if o.BytesPerDay <= 0 {
		o.BytesPerDay = 16 << 30
	}
	if o.Poll <= 0 {
		o.Poll = time.Minute
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

// Admin looks after the kernel's ledger.
func (k *Kernel) Admin() *admin.Admin { return k.admin }

// Run publishes, ticks and erases what is too old until the context ends, and waits for both.
func (k *Kernel) Run(ctx context.Context) {
	var owned sync.WaitGroup
	owned.Go(func() { k.outbox.Run(ctx) })
	owned.Go(func() { k.ticker(ctx) })
	owned.Go(func() { k.admin.Run(ctx) })
	owned.Wait()
}
