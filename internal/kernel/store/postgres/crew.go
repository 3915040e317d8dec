package postgres

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
)

// crew answers requests in groups: whatever waits when its hand is free goes to the database
// together, on one way there and back. A hand is a goroutine with a connection of the pool for
// as long as there is something to do; who waits for it counts as under way. One does all the
// work, since large groups cost least; only when it is held up (by a row that somebody has
// locked, or because no connection is free) does another help, until it is not.
type crew[R any] struct {
	pool    *pgxpool.Pool
	timeout time.Duration
	hands   int // at most
	most    int // requests in a group
	// work answers a group. It may wait for a connection as long as the context allows.
	work func(context.Context, *pgxpool.Conn, []*job[R])

	mu      sync.Mutex
	busy    []*hand
	looking bool // look is about to be called
	waiting []*job[R]
}

// hand is one that is busy: since when with what it has in hand now.
type hand struct{ since time.Time }

// heldUp is after how long with one group a hand counts as held up.
const heldUp = 50 * time.Millisecond

// job is a request that waits, is in hand, or was answered.
type job[R any] struct {
	request R
	taken   bool // touched under mu only
	done    chan struct{}
	err     error
}

func (j *job[R]) answer(err error) {
	j.err = err
	close(j.done)
}

// do has a request answered. A context that ends before it is taken withdraws it.
func (c *crew[R]) do(ctx context.Context, request R) error {
	j := &job[R]{request: request, done: make(chan struct{})}
	c.mu.Lock()
	c.waiting = append(c.waiting, j)
	c.attend()
	c.mu.Unlock()
	select {
	case <-j.done:
	case <-ctx.Done():
		c.mu.Lock()
		withdrawn := !j.taken
		j.taken = true
		c.mu.Unlock()
		if withdrawn {
			return ctx.Err()
		}
		<-j.done
	}
	return j.err
}

// attend sees to it that somebody does what waits. The caller holds mu.
func (c *crew[R]) attend() {
	switch {
	case len(c.busy) == 0:
		c.engage()
	case len(c.busy) < c.hands && !c.looking:
		c.looking = true
		time.AfterFunc(heldUp, c.look)
	}
}

// engage has one hand more serve. The caller holds mu.
func (c *crew[R]) engage() {
	h := &hand{since: time.Now()}
	c.busy = append(c.busy, h)
	go c.serve(h)
}

// look has another hand help where all are held up.
func (c *crew[R]) look() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.looking = false
	if len(c.waiting) == 0 {
		return
	}
	if len(c.busy) < c.hands && !c.flows(nil) {
		c.engage()
	}
	c.attend()
}

// flows reports whether a busy hand other than h is not held up. The caller holds mu.
func (c *crew[R]) flows(h *hand) bool {
	return slices.ContainsFunc(c.busy, func(other *hand) bool { return other != h && time.Since(other.since) < heldUp })
}

// serve answers groups until nothing waits, or somebody else does it. Requests are taken when
// there is a connection to send them on: until then they can be withdrawn.
func (c *crew[R]) serve(h *hand) {
	for c.goesOn(h) {
		ctx, cancel := context.WithTimeout(context.Background(), c.timeout)
		pg, err := c.pool.Acquire(ctx)
		group := c.next()
		switch {
		case err != nil:
			for _, j := range group {
				j.answer(border("connecting to", err))
			}
		case len(group) > 0:
			c.work(ctx, pg, group)
		}
		if pg != nil {
			pg.Release()
		}
		cancel()
	}
}

// goesOn reports whether there is something to do for a hand; if not, it is busy no more.
func (c *crew[R]) goesOn(h *hand) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	h.since = time.Now()
	if len(c.waiting) > 0 && !c.flows(h) {
		return true
	}
	c.busy = slices.DeleteFunc(c.busy, func(one *hand) bool { return one == h })
	if len(c.waiting) > 0 { // the other, to whom it is left, may yet be held up by what it has just begun
		c.attend()
	}
	return false
}

func (c *crew[R]) next() []*job[R] {
	c.mu.Lock()
	defer c.mu.Unlock()
	var group []*job[R]
	n := 0
	for ; n < len(c.waiting) && len(group) < c.most; n++ {
		if j := c.waiting[n]; !j.taken {
			j.taken = true
			group = append(group, j)
		}
	}
	c.waiting = slices.Delete(c.waiting, 0, n)
	return group
}
