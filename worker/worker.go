package worker

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"sync"
	"time"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/rpc"
)

// Conn is a worker's way to the kernel and to its doorbell.
type Conn interface {
	rpc.Requester

	// Wakeups calls ring whenever there may be news, with the turn that they are of
	// (CG-Turn-Id; "" where that is not said), until stop is called. Losing a ring costs one
	// poll.
	Wakeups(ctx context.Context, notify func(turn string)) (stop func(), err error)
}

// Options of a worker.
type Options struct {
	Conn  Conn
	Agent Agent
	// Turns is how many turns it works on at once; default 1. A turn that waits keeps its
	// place for a while, see Keep.
	Turns int
	// Poll is how soon it looks without having been rung; default 1 s. While it finds
	// nothing it looks less and less often, until it looks once in an Idle; default Poll.
	Poll, Idle time.Duration
	// Retain is how long a turn that waits for its calls keeps its place; default 1 min,
	// negative for ever. Then the worker lets go of it. Anyone who claims it when they have
	// ended begins with its transcript.
	Retain time.Duration
	Logger *slog.Logger
	Rand   io.Reader
}

// Worker runs turns of one agent.
type Worker struct {
	o    Options
	name string

	mu      sync.Mutex
	wakeups map[chan struct{}]string // of everybody who waits, with the turn in hand if any; touched under mu only
}

// New checks the options and mints the worker's nonce.
func New(o Options) (*Worker, error) {
	if o.Conn == nil || o.Agent.Name == "" || o.Agent.Plan == nil {
		return nil, errors.New("worker: a Conn and an agent with a name and a plan are required")
	}
	if o.Turns <= 0 {
		o.Turns = 1
	}
	if o.Poll <= 0 {
		o.Poll = time.Second
	}
	o.Idle = max(o.Idle, o.Poll)
	if o.Retain == 0 {
		o.Retain = time.Minute
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Rand == nil {
		o.Rand = rand.Reader
	}
	var nonce [16]byte
	if _, err := io.ReadFull(o.Rand, nonce[:]); err != nil {
		return nil, fmt.Errorf("worker: randomness: %w", err)
	}
	return &Worker{o: o, name: "wrk_" + hex.EncodeToString(nonce[:]), wakeups: map[chan struct{}]string{}}, nil
}

// Run works until ctx ends. Then planners are called off, and the turns in hand are given
// back as the ledger has them; anyone who claims one next goes on from there.
func (w *Worker) Run(ctx context.Context) error {
	stop, err := w.o.Conn.Wakeups(ctx, w.notify)
	if err != nil {
		return fmt.Errorf("worker: doorbell: %w", err)
	}
	defer stop()
	// A seat holds one turn, under a name of its own: the kernel fences by it.
	slots := make(chan string, w.o.Turns)
	for n := range w.o.Turns {
		slots <- fmt.Sprintf("%s_%d", w.name, n)
	}
	var owned sync.WaitGroup
	defer owned.Wait()
	wakeup, away := w.register("")
	defer away()
	idle := w.pace(w.o.Idle)
	for {
		select {
		case <-ctx.Done():
			return nil
		case slot := <-slots:
			a, err := w.claim(ctx, slot)
			if err != nil || a.Turn == "" {
				slots <- slot
				idle.wait(ctx, wakeup)
				continue
			}
			idle.reset()
			owned.Go(func() {
				w.process(ctx, a, slot)
				slots <- slot
				w.notify("") // there may be turns that no seat was free for
			})
		}
	}
}

// claimTimeout is how long a claim waits for its answer. One that was lost costs no more: the
// same seat claims again, and is given what it holds already.
const claimTimeout = 10 * time.Second

func (w *Worker) claim(ctx context.Context, slot string) (api.ClaimAnswer, error) {
	var a api.ClaimAnswer
	once, cancel := context.WithTimeout(ctx, claimTimeout)
	defer cancel()
	err := rpc.Ask(once, w.o.Conn, api.OpClaim, api.ClaimRequest{Agent: w.o.Agent.Name, Worker: slot}, &a)
	if err != nil && ctx.Err() == nil {
		w.o.Logger.Warn("claim", "error", err)
	}
	return a, err
}

// process works on a claimed turn. One that it had to leave is not taken up again at once.
func (w *Worker) process(ctx context.Context, a api.ClaimAnswer, slot string) {
	wakeup, away := w.register(a.Turn)
	defer away()
	if err := w.work(ctx, a, slot, wakeup); err != nil && ctx.Err() == nil {
		w.o.Logger.Warn("turn left", "turn", a.Turn, "error", err)
		wait(ctx, wakeup, w.o.Poll)
	}
}

// register is rung whenever there may be news of a turn ("" is any that is in nobody's hands),
// until away is called.
func (w *Worker) register(turn string) (wakeup chan struct{}, away func()) {
	wakeup = make(chan struct{}, 1)
	w.mu.Lock()
	w.wakeups[wakeup] = turn
	w.mu.Unlock()
	return wakeup, func() {
		w.mu.Lock()
		delete(w.wakeups, wakeup)
		w.mu.Unlock()
	}
}

// notify wakes anyone who holds the turn, or, where nobody here does, who could claim it. Others
// would ask in vain.
func (w *Worker) notify(turn string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	claimed := false
	for _, in := range w.wakeups {
		claimed = claimed || in == turn
	}
	for wakeup, in := range w.wakeups {
		if turn == "" || in == turn || (!claimed && in == "") {
			signal(wakeup)
		}
	}
}

// pace says how long to wait for a bell before looking without one: each wait in vain makes
// the next one twice as long, up to a limit.
type pace struct{ first, next, most time.Duration }

func (w *Worker) pace(most time.Duration) pace {
	return pace{first: w.o.Poll, next: w.o.Poll, most: max(most, w.o.Poll)}
}

func (p *pace) reset() { p.next = p.first }

func (p *pace) wait(ctx context.Context, wakeup <-chan struct{}) {
	if woken := wait(ctx, wakeup, p.next); woken {
		p.reset()
		return
	}
	p.next = min(2*p.next, p.most)
}

// wait ends with the bell, the time, or the context. A bell that has rung counts before a time
// that is over: one look answers both.
func wait(ctx context.Context, wakeup <-chan struct{}, d time.Duration) (woken bool) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
	case <-wakeup:
		return true
	}
	select {
	case <-wakeup:
		return ctx.Err() == nil
	default:
		return false
	}
}
