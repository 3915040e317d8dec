package postgres

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
)

// workerPool answers requests in groups: whatever waits when its hand is free goes to the database
// together, on one way there and back. A hand is a goroutine with a connection of the pool for
// as long as there is something to do; who waits for it counts as under way. One does all the
// work, since large groups cost least; only when it is held up (by a row that somebody has
// locked, or because no connection is free) does another help, until it is not.
type workerPool[R any] struct {
	pool    *pgxpool.Pool
	timeout time.Duration
	workers int // at most
	most    int // requests in a group
	// work answers a group. It may wait for a connection as long as the context allows.
	work func(context.Context, *pgxpool.Conn, []*job[R])

	mu       sync.Mutex
	busy     []*worker
	checking bool // look is about to be called
	waiting  []*job[R]
}

// worker is one that is busy: since when with what it has in hand now.
type worker struct{ since time.Time }

// stallTime is after how long with one group a hand counts as held up.
const stallTime = 50 * time.Millisecond

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
func (c *workerPool[R]) do(ctx context.Context, request R) error {
	j := &job[R]{request: request, done: make(chan struct{})}
	c.mu.Lock()
	c.waiting = append(c.waiting, j)
	c.dispatch()
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

// dispatch sees to it that somebody does what waits. The caller holds mu.
func (c *workerPool[R]) dispatch() {
	switch {
	case len(c.busy) == 0:
		c.startWorker()
	case len(c.busy) < c.workers && !c.checking:
		c.checking = true
		time.AfterFunc(stallTime, c.checkStalled)
	}
}

// startWorker has one hand more serve. The caller holds mu.
func (c *workerPool[R]) startWorker() {
	h := &worker{since: time.Now()}
	c.busy = append(c.busy, h)
	go c.serve(h)
}

// checkStalled has another hand help where all are held up.
func (c *workerPool[R]) checkStalled() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.checking = false
	if len(c.waiting) == 0 {
		return
	}
	if len(c.busy) < c.workers && !c.flows(nil) {
		c.startWorker()
	}
	c.dispatch()
}

// flows reports whether a busy hand other than h is not held up. The caller holds mu.
func (c *workerPool[R]) flows(h *worker) bool {
	return slices.ContainsFunc(c.busy, func(other *worker) bool { return other != h && time.Since(other.since) < stallTime })
}

// serve answers groups until nothing waits, or somebody else does it. Requests are taken when
// there is a connection to send them on: until then they can be withdrawn.
func (c *workerPool[R]) serve(h *worker) {
	for c.continues(h) {
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

// continues reports whether there is something to do for a hand; if not, it is busy no more.
func (c *workerPool[R]) continues(h *worker) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	h.since = time.Now()
	if len(c.waiting) > 0 && !c.flows(h) {
		return true
	}
	c.busy = slices.DeleteFunc(c.busy, func(one *worker) bool { return one == h })
	if len(c.waiting) > 0 { // the other, to whom it is left, may yet be held up by what it has just begun
		c.dispatch()
	}
	return false
}

func (c *workerPool[R]) next() []*job[R] {
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
