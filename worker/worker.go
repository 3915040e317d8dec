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

// Conn connects a worker to the kernel and to its wakeups.
type Conn interface {
	rpc.Requester

	// Wakeups calls notify whenever there may be news, with the id of the turn (CG-Turn-Id, or "" if the wakeup names
	// none), until stop is called. A lost wakeup costs one poll.
	Wakeups(ctx context.Context, notify func(turn string)) (stop func(), err error)
}

// Options configure a worker.
type Options struct {
	Conn  Conn
	Agent Agent
	// Turns is how many turns it works on concurrently; default 1. A waiting turn keeps its slot for a while, see
	// Retain.
	Turns int
	// Poll is how soon it polls without a wakeup; default 1 s. While it finds nothing it polls less and less often,
	// down to once per Idle; default Poll.
	Poll, Idle time.Duration
	// Retain is how long a turn that waits for its calls keeps its slot; default 1 min, negative for ever. Then the
	// worker releases it. The worker that claims it after the calls have ended starts from its transcript.
	Retain time.Duration
	Logger *slog.Logger
	Rand   io.Reader
}

// Worker runs turns of one agent.
type Worker struct {
	o    Options
	name string

	mu      sync.Mutex
	wakeups map[chan struct{}]string // one entry for each waiter, with its claimed turn if any; guarded by mu
	news    int                      // turns that were announced and not claimed here, at most mostClaims; guarded by mu
}

// New checks the options and creates the worker's nonce.
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

// Run works until ctx ends. Then it cancels the planners and releases the claimed turns as the ledger has them; the
// next worker to claim one continues from there.
func (w *Worker) Run(ctx context.Context) error {
	stop, err := w.o.Conn.Wakeups(ctx, w.notify)
	if err != nil {
		return fmt.Errorf("worker: wakeups: %w", err)
	}
	defer stop()
	// Each slot holds one turn and has a unique name, by which the kernel fences.
	slots := make(chan string, w.o.Turns)
	for n := range w.o.Turns {
		slots <- fmt.Sprintf("%s_%d", w.name, n)
	}
	var owned sync.WaitGroup
	defer owned.Wait()
	wakeup, away := w.register("")
	defer away()
	idle := w.pace(w.o.Idle)
	answers := make(chan claimed, w.o.Turns)
	for open := 0; ; {
		free := slots
		if open >= max(1, w.announced(0)) {
			free = nil
		}
		select {
		case <-ctx.Done():
			for ; open > 0; open-- { // what is claimed by now is released
				if c := <-answers; c.err == nil && c.Turn != "" {
					w.process(ctx, c.ClaimAnswer, c.slot)
				}
			}
			return nil
		case slot := <-free:
			open++
			owned.Go(func() { answers <- w.claim(ctx, slot) })
			continue
		case c := <-answers:
			open--
			if c.err == nil && c.Turn != "" {
				w.announced(-1)
				idle.reset()
				owned.Go(func() {
					w.process(ctx, c.ClaimAnswer, c.slot)
					slots <- c.slot
					w.freed() // there may be turns that had no free slot
				})
				continue
			}
			slots <- c.slot
		}
		if w.announced(-mostClaims); open == 0 {
			idle.wait(ctx, wakeup)
		}
	}
}

// mostClaims is how many claims are made side by side at most: as many as turns were announced, as when many begin at once.
const mostClaims = 8

// announced adds to the count of turns that have been announced and not claimed here, and returns it.
func (w *Worker) announced(more int) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.news = min(max(0, w.news+more), mostClaims)
	return w.news
}

// claimed is what a slot's claim has found.
type claimed struct {
	api.ClaimAnswer

	slot string
	err  error
}

// claimTimeout is how long a claim waits for its answer. A lost answer costs nothing more: the same slot claims again
// and receives the turn that it already holds.
const claimTimeout = 10 * time.Second

func (w *Worker) claim(ctx context.Context, slot string) claimed {
	c := claimed{slot: slot}
	once, cancel := context.WithTimeout(ctx, claimTimeout)
	defer cancel()
	c.err = rpc.Ask(once, w.o.Conn, api.OpClaim, api.ClaimRequest{Agent: w.o.Agent.Name, Worker: slot}, &c.ClaimAnswer)
	if c.err != nil && ctx.Err() == nil {
		w.o.Logger.Warn("claim", "error", c.err)
	}
	return c
}

// process works on a claimed turn. If the worker had to leave it, it pauses before the next claim.
func (w *Worker) process(ctx context.Context, a api.ClaimAnswer, slot string) {
	wakeup, away := w.register(a.Turn)
	defer away()
	if err := w.work(ctx, a, slot, wakeup); err != nil && ctx.Err() == nil {
		w.o.Logger.Warn("turn left", "turn", a.Turn, "error", err)
		wait(ctx, wakeup, w.o.Poll)
	}
}

// register makes a channel that receives a value whenever there may be news of a turn, or of any unclaimed turn if turn
// is "", until away is called.
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

// notify wakes the slot that holds the turn, or, if no slot here does, those that could claim it. Others would poll in
// vain.
func (w *Worker) notify(turn string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	claimed := false
	for _, in := range w.wakeups {
		claimed = claimed || in == turn
	}
	if !claimed && turn != "" {
		w.news = min(w.news+1, mostClaims)
	}
	for wakeup, in := range w.wakeups {
		if turn == "" || in == turn || (!claimed && in == "") {
			signal(wakeup)
		}
	}
}

// freed wakes those that could claim a turn: one of ours has ended. The slots that hold turns have no news.
func (w *Worker) freed() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for wakeup, in := range w.wakeups {
		if in == "" {
			signal(wakeup)
		}
	}
}

// pace determines how long to wait for a wakeup before polling. Each wait without a wakeup doubles the next one, up to
// a limit.
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

// wait ends with a wakeup, the time, or the context. If the time has passed as well, the wakeup counts: one poll serves
// both.
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
