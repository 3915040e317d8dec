// Package ticker ticks the turns that are due: whose question has passed its deadline, whose undo time is over, whose lease has
// expired. The ledger records what is due; a step that makes a turn due sooner says so, and a poll finds what others have left.
//
// # Goroutines
//
// [Ticker.Run] owns one for each turn that is being ticked, 16 at a time, and waits for them at its end.
package ticker

import (
	"context"
	"errors"
	"log/slog"
	"math"
	"sync"
	"time"

	"github.com/earshot-dev/earshot/internal/kernel/active"
	"github.com/earshot-dev/earshot/internal/kernel/monotonic"
	"github.com/earshot-dev/earshot/internal/kernel/store"
	"github.com/earshot-dev/earshot/internal/kernel/turn"
)

const (
	// Retry is how soon a tick is tried again if it failed or another kernel was running it.
	Retry = time.Second
	// spoiled is the longest pause before a tick of an unreadable turn is tried again: the turn
	// may never be repaired, and each try is a line in the log.
	spoiled = time.Minute
	// pause is the least time between two polls.
	pause = 20 * time.Millisecond
	// atOnce is how many turns are ticked concurrently: they share the commits of the store, and
	// a slow one does not delay the others.
	atOnce  = 16
	duePage = 64
)

// Options of a [Ticker]. All are required.
type Options struct {
	Ledger store.Ledger
	Clock  *monotonic.Clock
	// SinceBoot is the monotonic clock.
	SinceBoot func() time.Duration
	Active    *active.Turns
	// Poll is how often the ledger is polled.
	Poll time.Duration
	// Tick ticks a turn if it is still due. It returns after how long to try again what the ledger goes on listing as due; 0 if the
	// ledger will say.
	Tick   func(ctx context.Context, turn string) (again time.Duration, err error)
	Logger *slog.Logger
}

// Ticker ticks what is due. Make it with [New], and keep [Ticker.Run] running.
type Ticker struct {
	o    Options
	bell chan struct{} // written by anyone, read by Run

	mu         sync.Mutex
	ticking    map[string]struct{}      // turns that are being ticked
	later      map[string]time.Duration // turns that are tried again, and when, by the monotonic clock
	unreadable map[string]time.Duration // turns that cannot be read, and the last pause of each
	next       time.Duration            // when to poll next, by the monotonic clock
}

// New returns a ticker.
func New(o Options) *Ticker {
	return &Ticker{
		o: o, bell: make(chan struct{}, 1),
		ticking: map[string]struct{}{}, later: map[string]time.Duration{}, unreadable: map[string]time.Duration{},
	}
}

// Run ticks until the context ends, and waits for the ticks that still run. A failing turn delays only itself.
func (t *Ticker) Run(ctx context.Context) {
	var owned sync.WaitGroup
	defer owned.Wait()
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for ctx.Err() == nil {
		t.drain()
		turns, wait := t.poll(ctx)
		for _, id := range turns {
			owned.Go(func() { t.tick(ctx, id) })
		}
		rest(ctx, timer, pause)
		timer.Reset(max(0, wait-pause))
		select {
		case <-ctx.Done():
		case <-t.bell:
		case <-timer.C:
		}
	}
}

// Wake has the ticker poll soon.
func (t *Ticker) Wake() {
	select {
	case t.bell <- struct{}{}:
	default:
	}
}

// Saved tells the ticker that a turn was saved, and when it is due; the zero time is never. It wakes the ticker if that is before
// its next poll.
func (t *Ticker) Saved(id string, due time.Time, now turn.Timestamp) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.later, id)
	if !due.IsZero() && now.SinceBoot+due.Sub(now.Wall) < t.next {
		t.Wake()
	}
}

func (t *Ticker) drain() {
	select {
	case <-t.bell:
	default:
	}
}

func rest(ctx context.Context, timer *time.Timer, d time.Duration) {
	timer.Reset(d)
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}

// tick ticks one turn that poll has returned.
func (t *Ticker) tick(ctx context.Context, id string) {
	again, err := t.o.Tick(ctx, id)
	if err != nil && ctx.Err() == nil {
		t.o.Logger.Error("tick failed", "turn", id, "error", err)
	}
	t.mu.Lock()
	delete(t.ticking, id)
	if again = t.leaveAlone(id, err, again); again > 0 {
		t.later[id] = t.o.SinceBoot() + again
	}
	t.mu.Unlock()
	t.Wake()
}

// leaveAlone returns after how long to tick a turn again. The pause of an unreadable turn doubles each time. The caller
// holds mu.
func (t *Ticker) leaveAlone(id string, err error, again time.Duration) time.Duration {
	if !errors.Is(err, store.ErrDamaged) {
		delete(t.unreadable, id)
		return again
	}
	t.unreadable[id] = min(max(2*t.unreadable[id], Retry), spoiled)
	return t.unreadable[id]
}

func (t *Ticker) setNext(next time.Duration) {
	t.mu.Lock()
	t.next = next
	t.mu.Unlock()
}

// never is no time to poll at: whatever becomes due wakes the ticker.
const never = time.Duration(math.MaxInt64)
