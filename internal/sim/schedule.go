package sim

import (
	"cmp"
	"context"
	"fmt"
	"hash"
	"hash/fnv"
	"io"
	"math/rand/v2"
	"slices"
	"sync"
	"testing/synctest"
	"time"
)

// schedule decides what happens next. Whatever waits for anything but a timer waits here, as
// an item; when nobody can go on, exactly one of them is let go, chosen by the seed among all
// that are ready, in an order that does not depend on how the goroutines ran: what comes of
// one release is sorted by what it is. Between two releases virtual time moves on a little,
// by a number of nanoseconds from the seed, so that no two timers fall due together.
type schedule struct {
	rand  *rand.Rand // the main goroutine's
	began time.Time

	mu    sync.Mutex
	fresh []*item // submitted since the last release
	poke  chan struct{}

	items []*item // in their order; the main goroutine's
	trace trace
}

// item is something that may happen next.
type item struct {
	key   string    // what it is: sorts the items of one release
	at    time.Time // not before
	proc  *process  // whose it is: it waits while the process is paused; nil is the network
	run   func()    // on the main goroutine
	die   func()    // in place of run, when the process has died
	calm  bool      // no fault is drawn for it any more
	gone  bool      // its waiter has left; touched under mu
	event bool      // something of the weather, which is not work
}

func newSchedule(seed uint64, out io.Writer) *schedule {
	return &schedule{
		rand: rand.New(rand.NewPCG(seed, 0x5eed)), began: time.Now(), poke: make(chan struct{}, 1), //nolint:gosec // Chance has to be the same again.
		trace: trace{sum: fnv.New64a(), out: out},
	}
}

// submit adds an item; anybody may.
func (s *schedule) submit(i *item) {
	s.mu.Lock()
	s.fresh = append(s.fresh, i)
	s.mu.Unlock()
	select {
	case s.poke <- struct{}{}:
	default:
	}
}

// after adds an item that is due later.
func (s *schedule) after(d time.Duration, key string, run func()) {
	s.submit(&item{key: key, at: time.Now().Add(d), run: run, calm: true, event: true})
}

// quiesce waits until nobody can go on, and takes in what they wait for.
func (s *schedule) quiesce() {
	synctest.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	slices.SortStableFunc(s.fresh, func(a, b *item) int { return cmp.Compare(a.key, b.key) })
	s.items = append(s.items, s.fresh...)
	clear(s.fresh)
	s.fresh = s.fresh[:0]
	s.items = slices.DeleteFunc(s.items, func(i *item) bool { return i.gone })
}

// next takes an item out that may happen now, or says when to look again.
func (s *schedule) next() (*item, time.Time) {
	now := time.Now()
	var ready []int
	var later time.Time
	for n, i := range s.items {
		at := i.at
		if i.proc != nil && i.proc.paused.After(at) {
			at = i.proc.paused
		}
		switch {
		case !at.After(now):
			ready = append(ready, n)
		case later.IsZero() || at.Before(later):
			later = at
		}
	}
	if len(ready) == 0 {
		return nil, later
	}
	n := ready[0]
	if s.rand.IntN(2) == 0 { // half of the time the oldest, or nothing would ever be old
		n = ready[s.rand.IntN(len(ready))]
	}
	i := s.items[n]
	s.items = slices.Delete(s.items, n, n+1)
	return i, time.Time{}
}

// rest lets virtual time go on until an instant, or until somebody wants something.
func (s *schedule) rest(until time.Time) {
	d := time.Hour
	if !until.IsZero() {
		d = time.Until(until)
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-s.poke:
	case <-timer.C:
	}
}

// release lets an item happen, and some time pass. That is drawn before: a transaction that
// publishes draws from the same chance.
func (s *schedule) release(i *item) {
	breath := time.Duration(1 + s.rand.IntN(400_000))
	i.run()
	nap(context.Background(), breath)
}

// await parks the calling goroutine until the item is released, its context ends or its
// process dies: then it returns an error. The verdict is what run has decided.
func await[V any](ctx context.Context, s *schedule, p *process, key string, judge func() V) (V, error) {
	var none V
	if p.dead.Load() {
		return none, errDead
	}
	type answer struct {
		v   V
		err error
	}
	back := make(chan answer, 1)
	i := &item{key: p.name + " " + key, proc: p}
	i.run = func() { back <- answer{v: judge()} }
	i.die = func() { back <- answer{err: errDead} }
	s.submit(i)
	select {
	case a := <-back:
		return a.v, a.err
	case <-ctx.Done():
		s.mu.Lock()
		i.gone = true
		s.mu.Unlock()
		return none, ctx.Err()
	}
}

// trace tells what happened, and sums it up.
type trace struct {
	mu  sync.Mutex
	sum hash.Hash64
	out io.Writer // nil tells nobody
	n   int
}

// sayf adds a line. The instant is that of the bubble, from its beginning.
func (s *schedule) sayf(format string, args ...any) {
	s.trace.mu.Lock()
	defer s.trace.mu.Unlock()
	s.trace.n++
	line := fmt.Sprintf("%12.6f ", time.Since(s.began).Seconds()) + fmt.Sprintf(format, args...) + "\n"
	_, _ = io.WriteString(s.trace.sum, line) // a hash never fails
	if s.trace.out != nil {
		_, _ = io.WriteString(s.trace.out, line)
	}
}
