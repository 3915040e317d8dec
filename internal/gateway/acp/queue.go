package acp

import (
	"sync"

	"github.com/earshot-dev/earshot/api"
)

// maxQueued is how many effects may wait for the server before the agent has to wait.
const maxQueued = 256

// queue holds what goes to the server, in order. Pieces of the agent's text that wait are joined.
type queue struct {
	mu      sync.Mutex
	changed sync.Cond
	waiting []Effect
	busy    bool // one was taken and is not done
	closed  bool
}

func newQueue() *queue {
	q := &queue{}
	q.changed.L = &q.mu
	return q
}

func (q *queue) push(e Effect) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if last := len(q.waiting) - 1; last >= 0 {
		next, is := e.(Report)
		before, was := q.waiting[last].(Report)
		if is && was && next.Text != "" && before.Text != "" && len(before.Text)+len(next.Text) <= api.AgentTextLimit {
			before.Text += next.Text
			q.waiting[last] = before
			return
		}
	}
	q.waiting = append(q.waiting, e)
	q.changed.Broadcast()
}

// take returns the next effect, or false once the queue is closed and empty. The effect before it is done.
func (q *queue) take() (Effect, bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.busy = false
	q.changed.Broadcast()
	for len(q.waiting) == 0 && !q.closed {
		q.changed.Wait()
	}
	if len(q.waiting) == 0 {
		return nil, false
	}
	next := q.waiting[0]
	q.waiting, q.busy = q.waiting[1:], true
	return next, true
}

// room waits until there is room.
func (q *queue) room() { q.until(func() bool { return len(q.waiting) < maxQueued }) }

// flush waits until everything is done.
func (q *queue) flush() { q.until(func() bool { return len(q.waiting) == 0 && !q.busy }) }

func (q *queue) until(holds func() bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for !holds() && !q.closed {
		q.changed.Wait()
	}
}

// close lets nothing wait any more. What is queued is still taken.
func (q *queue) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
	q.changed.Broadcast()
}
