package kernel

import (
	"context"
	"crypto/rand"
	"errors"
	"io"
	"log/slog"
	"sync"
	"time"

	"github.com/earshot-dev/earshot/kernel/turn"
	"github.com/earshot-dev/earshot/utp"
)

// Bus publishes what has been committed. It is safe for concurrent use; an error
// says that the message did not leave.
type Bus interface {
	Publish(ctx context.Context, subject string, header map[string][]string, payload []byte) error
}

// Policy decides about a call before anyone is asked. It is consulted inside
// transactions and must be quick and without effects.
type Policy interface {
	// Decide never allows an irreversible tool; the turn machine would ask anyway.
	Decide(t Tool) Ruling
	// Version names the rules as they stand: it is part of what is consented to.
	Version() string
}

// Ruling is a policy's word on a tool.
type Ruling struct {
	Decision turn.Decision
	// Answer and StartWithin override the tool's own times; zero does not.
	Answer, StartWithin time.Duration
}

// Incarnation is a counter kept outside the ledger. When it is ahead of the ledger's
// own, the ledger has gone back in time.
type Incarnation interface {
	Load() (int64, error)
	// Store is durable when it returns.
	Store(n int64) error
}

// Clock is the kernel's time.
type Clock struct {
	Now func() time.Time
	// Mono counts since the machine booted, suspended or not.
	Mono func() time.Duration
	// Boot is an id that changes when the machine boots.
	Boot string
}

func (c Clock) moment() turn.Moment {
	return turn.Moment{Wall: c.Now().UTC().Truncate(time.Millisecond), Mono: c.Mono(), Boot: c.Boot}
}

// Options of a kernel. Store, Bus, Policy and Narrator are required.
type Options struct {
	Store    Store
	Bus      Bus
	Policy   Policy
	Narrator Narrator
	// Incarnation detects a restored ledger; nil keeps no watch.
	Incarnation Incarnation
	Project     string // default "default"
	Channel     string // default "public"
	Clock       Clock
	Rand        io.Reader // default crypto/rand
	Logger      *slog.Logger
	// Key seals secrets and makes their MACs: 32 bytes, kept by the operator. Without
	// one, tools that take secrets are refused.
	Key []byte
	// Environment looks up what a tool's `envs` option names; nil has nothing.
	Environment func(name string) (string, bool)
	// WorkerLease and ToolLease default to 30 s.
	WorkerLease, ToolLease time.Duration
	// SoleHost says that workers and services live in this process only, so that
	// whoever held a lease before it started is gone.
	SoleHost bool
	// Reached is called at the named points of the fault tests; nil does nothing.
	Reached func(point string)
}

// Kernel runs turns on one ledger. Make it with [New], serve [Kernel.Handle], and
// keep [Kernel.Run] running.
type Kernel struct {
	o       Options
	schemas schemas

	mu     sync.Mutex
	active map[string]alarm // turns that are driven here
	wake   chan struct{}    // the ticker's: written by anyone, read by the ticker
	bell   chan struct{}    // the relay's: written by anyone, read by the relay
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
	return &Kernel{
		o:      o,
		active: map[string]alarm{},
		wake:   make(chan struct{}, 1),
		bell:   make(chan struct{}, 1),
	}, nil
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
	if o.Clock.Mono == nil {
		began := time.Now()
		o.Clock.Mono = func() time.Duration { return time.Since(began) }
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
	if o.Environment == nil {
		o.Environment = func(string) (string, bool) { return "", false }
	}
	if o.Reached == nil {
		o.Reached = func(string) {}
	}
}

const defaultLease = 30 * time.Second

// Run publishes and ticks until the context ends, and waits for both.
func (k *Kernel) Run(ctx context.Context) {
	var owned sync.WaitGroup
	owned.Go(func() { k.relay(ctx) })
	owned.Go(func() { k.ticker(ctx) })
	owned.Wait()
}

// fault makes a protocol error.
func fault(code utp.Code, message string) error {
	return &utp.Fault{Code: code, Message: message, Retry: code.SafeToRetry()}
}
