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

	// Doorbell calls ring whenever there may be news, with the turn that they are of
	// (CG-Turn-Id; "" where that is not said), until stop is called. Losing a ring costs one
	// poll.
	Doorbell(ctx context.Context, ring func(turn string)) (stop func(), err error)
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
	// Keep is how long a turn that waits for its calls keeps its place; default 1 min,
	// negative for ever. Then the worker lets go of it. Anyone who claims it when they have
	// ended begins with its transcript.
	Keep   time.Duration
	Logger *slog.Logger
	Rand   io.Reader
}

// Worker runs turns of one agent.
type Worker struct {
	o    Options
	name string

	mu    sync.Mutex
	bells map[chan struct{}]string // of everybody who waits, with the turn in hand if any; touched under mu only
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
	if o.Keep == 0 {
		o.Keep = time.Minute
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
	return &Worker{o: o, name: "wrk_" + hex.EncodeToString(nonce[:]), bells: map[chan struct{}]string{}}, nil
}

// Run works until ctx ends. Then planners are called off, and the turns in hand are given
// back as the ledger has them; anyone who claims one next goes on from there.
func (w *Worker) Run(ctx context.Context) error {
	stop, err := w.o.Conn.Doorbell(ctx, w.ring)
	if err != nil {
		return fmt.Errorf("worker: doorbell: %w", err)
	}
	defer stop()
	// A seat holds one turn, under a name of its own: the kernel fences by it.
	seats := make(chan string, w.o.Turns)
	for n := range w.o.Turns {
		seats <- fmt.Sprintf("%s_%d", w.name, n)
	}
	var owned sync.WaitGroup
	defer owned.Wait()
	bell, away := w.bell("")
	defer away()
	idle := w.pace(w.o.Idle)
	for {
		select {
		case <-ctx.Done():
			return nil
		case seat := <-seats:
			a, err := w.claim(ctx, seat)
			if err != nil || a.Turn == "" {
				seats <- seat
				idle.wait(ctx, bell)
				continue
			}
			idle.reset()
			owned.Go(func() {
				w.hold(ctx, a, seat)
				seats <- seat
				w.ring("") // there may be turns that no seat was free for
			})
		}
	}
}

// claimPatience is how long a claim waits for its answer. One that was lost costs no more: the
// same seat claims again, and is given what it holds already.
const claimPatience = 10 * time.Second

func (w *Worker) claim(ctx context.Context, seat string) (api.ClaimAnswer, error) {
	var a api.ClaimAnswer
	once, cancel := context.WithTimeout(ctx, claimPatience)
	defer cancel()
	err := rpc.Ask(once, w.o.Conn, api.OpClaim, api.ClaimRequest{Agent: w.o.Agent.Name, Worker: seat}, &a)
	if err != nil && ctx.Err() == nil {
		w.o.Logger.Warn("claim", "error", err)
	}
	return a, err
}

// hold works on a claimed turn. One that it had to leave is not taken up again at once.
func (w *Worker) hold(ctx context.Context, a api.ClaimAnswer, seat string) {
	bell, away := w.bell(a.Turn)
	defer away()
	if err := w.work(ctx, a, seat, bell); err != nil && ctx.Err() == nil {
		w.o.Logger.Warn("turn left", "turn", a.Turn, "error", err)
		wait(ctx, bell, w.o.Poll)
	}
}

// bell is rung whenever there may be news of a turn ("" is any that is in nobody's hands),
// until away is called.
func (w *Worker) bell(turn string) (bell chan struct{}, away func()) {
	bell = make(chan struct{}, 1)
	w.mu.Lock()
	w.bells[bell] = turn
	w.mu.Unlock()
	return bell, func() {
		w.mu.Lock()
		delete(w.bells, bell)
		w.mu.Unlock()
	}
}

// ring wakes anyone who holds the turn, or, where nobody here does, who could claim it. Others
// would ask in vain.
func (w *Worker) ring(turn string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	held := false
	for _, in := range w.bells {
		held = held || in == turn
	}
	for bell, in := range w.bells {
		if turn == "" || in == turn || (!held && in == "") {
			ring(bell)
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

func (p *pace) wait(ctx context.Context, bell <-chan struct{}) {
	if rung := wait(ctx, bell, p.next); rung {
		p.reset()
		return
	}
	p.next = min(2*p.next, p.most)
}

// wait ends with the bell, the time, or the context. A bell that has rung counts before a time
// that is over: one look answers both.
func wait(ctx context.Context, bell <-chan struct{}, d time.Duration) (rung bool) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
	case <-bell:
		return true
	}
	select {
	case <-bell:
		return ctx.Err() == nil
	default:
		return false
	}
}
