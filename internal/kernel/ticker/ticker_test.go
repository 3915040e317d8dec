package ticker_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"reflect"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/earshot-dev/earshot/internal/kernel/active"
	"github.com/earshot-dev/earshot/internal/kernel/monotonic"
	"github.com/earshot-dev/earshot/internal/kernel/store"
	"github.com/earshot-dev/earshot/internal/kernel/ticker"
	"github.com/earshot-dev/earshot/internal/kernel/turn"
)

// ledger has turns with the times at which they are due, in that order.
type ledger struct {
	store.Ledger
	store.Tx

	mu   sync.Mutex
	rows []store.TurnRow
}

func (l *ledger) View(_ context.Context, fn func(store.Tx) error) error { return fn(l) }

func (l *ledger) Count(string, int64) (int64, error) { return 0, nil }

func (l *ledger) Turns(f store.TurnFilter) ([]store.TurnRow, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	var rows []store.TurnRow
	for _, row := range l.rows {
		switch {
		case row.Position.After(f.Due), f.Turn != "" && row.Turn != f.Turn, f.After != "" && !row.Position.After(f.Position):
		case f.Limit == 0 || len(rows) < f.Limit:
			rows = append(rows, row)
		}
	}
	return rows, nil
}

func (l *ledger) due(turn string, at time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.rows = slices.DeleteFunc(l.rows, func(r store.TurnRow) bool { return r.Turn == turn })
	if !at.IsZero() {
		l.rows = append(l.rows, store.TurnRow{Turn: turn, Position: at})
	}
	slices.SortFunc(l.rows, func(a, b store.TurnRow) int { return a.Position.Compare(b.Position) })
}

// world is a ticker in virtual time; ticks are what it did, with when in seconds.
type world struct {
	ledger ledger
	began  time.Time
	active *active.Turns
	ticker *ticker.Ticker
	tick   func(turn string) (time.Duration, error)

	mu    sync.Mutex
	ticks []string
}

func start(t *testing.T, ownOnly bool) *world {
	t.Helper()
	w := &world{began: time.Now(), active: active.New(ownOnly)}
	w.tick = func(turn string) (time.Duration, error) {
		w.ledger.due(turn, time.Time{})
		return 0, nil
	}
	up := func() time.Duration { return time.Since(w.began) }
	w.ticker = ticker.New(ticker.Options{
		Ledger: &w.ledger, Clock: monotonic.New(w.now), SinceBoot: up, Active: w.active, Poll: time.Minute,
		Logger: slog.New(slog.DiscardHandler), Tick: func(_ context.Context, turn string) (time.Duration, error) {
			w.mu.Lock()
			w.ticks = append(w.ticks, fmt.Sprintf("%s %.0f", turn, up().Seconds()))
			w.mu.Unlock()
			return w.tick(turn)
		},
	})
	ctx, cancel := context.WithCancel(t.Context())
	var run sync.WaitGroup
	run.Go(func() { w.ticker.Run(ctx) })
	t.Cleanup(func() {
		cancel()
		run.Wait()
	})
	synctest.Wait()
	return w
}

func (w *world) now() turn.Timestamp {
	return turn.Timestamp{Wall: time.Now(), SinceBoot: time.Since(w.began)}
}

func (w *world) in(d time.Duration) time.Time { return w.began.Add(d) }

// after lets time pass, and compares the ticks since the last time with those that are wanted.
func (w *world) after(t *testing.T, d time.Duration, want ...string) {
	t.Helper()
	timer := time.NewTimer(d)
	<-timer.C
	synctest.Wait()
	w.mu.Lock()
	defer w.mu.Unlock()
	slices.Sort(w.ticks)
	if !reflect.DeepEqual(w.ticks, want) {
		t.Errorf("ticked %v, want %v", w.ticks, want)
	}
	w.ticks = nil
}

// TestDue: a turn is ticked when it is due, also one that was saved since the last poll, or that another kernel has left; one that the
// kernel does not work on is left alone.
func TestDue(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := start(t, false)
		w.active.Park("parked", "sess")
		w.ledger.due("parked", w.in(time.Second))
		w.ledger.due("a", w.in(5*time.Second))
		w.ticker.Saved("a", w.in(5*time.Second), w.now())
		w.ledger.due("left", w.in(30*time.Second)) // nobody says so: it is found at the next poll
		w.after(t, 10*time.Second, "a 5")
		w.after(t, time.Minute, "left 30")
		w.active.Begin("parked", "sess")
		w.ticker.Wake()
		w.after(t, 2*time.Second, "parked 70")
	})
}

// TestOwnTurns: a kernel that works on its own turns ticks no others.
func TestOwnTurns(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := start(t, true)
		w.active.Begin("b", "sess")
		for _, turn := range []string{"a", "b", "c"} {
			w.ledger.due(turn, w.in(3*time.Second))
		}
		w.ticker.Wake()
		w.after(t, 10*time.Second, "b 3")
	})
}

// TestFails: a turn that fails is tried again after a second, one that cannot be read after twice as long each time, up to a minute, and
// neither delays another.
func TestFails(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := start(t, false)
		done := w.tick
		w.tick = func(turn string) (time.Duration, error) {
			switch turn {
			case "fails":
				return ticker.Retry, errors.New("no")
			case "damaged":
				return ticker.Retry, store.ErrDamaged
			}
			return done(turn)
		}
		w.ledger.due("fails", w.in(0))
		w.ledger.due("damaged", w.in(0))
		w.ledger.due("good", w.in(2*time.Second))
		w.ticker.Wake()
		w.after(t, 3500*time.Millisecond, "damaged 0", "damaged 1", "damaged 3", "fails 0", "fails 1", "fails 2", "fails 3", "good 2")
		w.ledger.due("fails", time.Time{})
		w.after(t, 4*time.Minute, "damaged 123", "damaged 15", "damaged 183", "damaged 243", "damaged 31", "damaged 63", "damaged 7")
	})
}

// TestAtOnce: sixteen turns are ticked at a time, and the rest when one of them has ended.
func TestAtOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := start(t, false)
		var busy, most int
		done, end := w.tick, make(chan struct{})
		w.tick = func(turn string) (time.Duration, error) {
			w.mu.Lock()
			busy++
			most = max(most, busy)
			w.mu.Unlock()
			<-end
			w.mu.Lock()
			busy--
			w.mu.Unlock()
			return done(turn)
		}
		for i := range 40 {
			w.ledger.due(fmt.Sprintf("turn %d", i), w.in(0))
		}
		w.ticker.Wake()
		synctest.Wait()
		<-time.NewTimer(time.Second).C
		synctest.Wait()
		w.mu.Lock()
		if busy != 16 {
			t.Errorf("%d are ticked, want 16", busy)
		}
		w.mu.Unlock()
		close(end)
		<-time.NewTimer(time.Minute).C
		synctest.Wait()
		if len(w.ticks) != 40 || most != 16 {
			t.Errorf("%d ticks, %d at once", len(w.ticks), most)
		}
	})
}
