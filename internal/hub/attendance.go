package hub

import (
	"context"
	"fmt"
	"sync"
	"time"
)

// comeBack is how long a program that withdraws its question by leaving may take for its next request. It is longer than
// a renewal and than resultGrace: the request of another hub for the same call has shown itself by then.
const comeBack = renewal + time.Second

// ErrClosing is the cause of a request's context that ends because the server closes: the agent is still there.
var ErrClosing = fmt.Errorf("hub: the server closes: %w", context.Canceled)

// callRef names a call of a session.
type callRef struct{ session, call string }

// attendance counts, for each call, the requests of this hub that wait for it. Only the last of them closes the request at
// the kernel, and only when it has gone is the question of a program withdrawn that withdraws it by leaving.
type attendance struct {
	mu     sync.Mutex
	calls  map[callRef]*waitedFor
	closed bool
	owned  sync.WaitGroup // the withdrawals that run
}

type waitedFor struct {
	requests int
	stays    bool        // one of the requests leaves the question open
	departs  *time.Timer // withdraws the question; nil while a request waits
}

func newAttendance() *attendance { return &attendance{calls: map[callRef]*waitedFor{}} }

// enter counts one more request. With leaves, its program withdraws its question by leaving.
func (a *attendance) enter(c callRef, leaves bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	one := a.calls[c]
	if one == nil {
		one = &waitedFor{}
		a.calls[c] = one
	}
	if one.departs != nil {
		one.departs.Stop()
		one.departs = nil
	}
	one.requests++
	one.stays = one.stays || !leaves
}

// exit counts one request less. It returns whether it was the last one, and whether the question stays open after it.
func (a *attendance) exit(c callRef) (last, stays bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	one := a.calls[c]
	one.requests--
	if one.requests > 0 {
		return false, true
	}
	delete(a.calls, c)
	return true, one.stays
}

// depart calls withdraw after comeBack, unless there is a request for the call before that, or the hub ends.
func (a *attendance) depart(c callRef, withdraw func()) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.closed || a.calls[c] != nil {
		return
	}
	one := &waitedFor{}
	one.departs = time.AfterFunc(comeBack, func() {
		if a.gone(c, one) {
			defer a.owned.Done()
			withdraw()
		}
	})
	a.calls[c] = one
}

// gone reports whether nobody has come back. Then the caller withdraws the question, and reports when that is done.
func (a *attendance) gone(c callRef, one *waitedFor) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.closed || a.calls[c] != one || one.requests > 0 {
		return false
	}
	delete(a.calls, c)
	a.owned.Add(1)
	return true
}

// shut withdraws nothing more, and waits for the withdrawals that run.
func (a *attendance) shut() {
	a.mu.Lock()
	a.closed = true
	for _, one := range a.calls {
		if one.departs != nil {
			one.departs.Stop()
		}
	}
	a.mu.Unlock()
	a.owned.Wait()
}
