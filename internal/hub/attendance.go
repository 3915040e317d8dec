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
//
// The kernel notes one request for a call, not each. What a request reports there when it closes may arrive after the next
// one has come, and would end that, too: the next one then reports again that it waits.
type attendance struct {
	mu      sync.Mutex
	calls   map[callRef]*waitedFor
	reports uint64 // how many requests have reported that they have closed
	closed  bool
	owned   sync.WaitGroup // the withdrawals that run
}

type waitedFor struct {
	requests map[again]struct{}
	stays    bool        // one of the requests leaves the question open
	departs  *time.Timer // withdraws the question; nil while a request waits
}

// again asks one request to report once more that it waits.
type again chan struct{}

func (a again) ask() {
	select {
	case a <- struct{}{}:
	default: // it has been asked already
	}
}

func newAttendance() *attendance { return &attendance{calls: map[callRef]*waitedFor{}} }

// reported returns how many requests have reported that they have closed.
func (a *attendance) reported() uint64 {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.reports
}

// enter counts one more request, which has come after so many reports. With leaves, its program withdraws its question by
// leaving.
func (a *attendance) enter(c callRef, leaves bool, reports uint64) again {
	a.mu.Lock()
	defer a.mu.Unlock()
	one := a.calls[c]
	if one == nil {
		one = &waitedFor{requests: map[again]struct{}{}}
		a.calls[c] = one
	}
	one.remain()
	request := make(again, 1)
	one.requests[request] = struct{}{}
	one.stays = one.stays || !leaves
	if reports != a.reports { // one of them may have been about this call
		request.ask()
	}
	return request
}

// exit counts one request less. It returns whether it was the last one, and whether the question stays open after it.
func (a *attendance) exit(c callRef, request again) (last, stays bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	one := a.calls[c]
	delete(one.requests, request)
	if len(one.requests) > 0 {
		return false, true
	}
	delete(a.calls, c)
	return true, one.stays
}

// report notes that the kernel has been told about a request that has closed, or does not wait.
func (a *attendance) report(c callRef) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.reports++
	if one := a.calls[c]; one != nil {
		for request := range one.requests {
			request.ask()
		}
	}
}

// depart calls withdraw after comeBack, unless there is a request for the call before that, or the hub ends.
func (a *attendance) depart(c callRef, withdraw func()) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if one := a.calls[c]; a.closed || one != nil && len(one.requests) > 0 {
		return
	}
	a.calls[c].remain()
	one := &waitedFor{requests: map[again]struct{}{}}
	one.departs = time.AfterFunc(comeBack, func() {
		if a.gone(c, one) {
			defer a.owned.Done()
			withdraw()
		}
	})
	a.calls[c] = one
}

// stay notes that a program has asked for a call which leaves its question open.
func (a *attendance) stay(c callRef) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if one := a.calls[c]; one != nil && len(one.requests) == 0 {
		one.remain()
		delete(a.calls, c)
	}
}

// remain stops the withdrawal, if one waits.
func (w *waitedFor) remain() {
	if w != nil && w.departs != nil {
		w.departs.Stop()
		w.departs = nil
	}
}

// gone reports whether nobody has come back. Then the caller withdraws the question, and reports when that is done.
func (a *attendance) gone(c callRef, one *waitedFor) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.closed || a.calls[c] != one || len(one.requests) > 0 {
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
		one.remain()
	}
	a.mu.Unlock()
	a.owned.Wait()
}
