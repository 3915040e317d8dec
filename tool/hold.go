package tool

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/earshot-dev/earshot/internal/rpc"
	"github.com/earshot-dev/earshot/utp"
)

// clock counts the time since the machine booted. Beside it stands the process's own, so that one
// of them standing still, or being set back, makes nothing last longer.
type clock func() time.Duration

// reading is an instant on both.
type reading struct {
	process time.Time
	boot    time.Duration
}

func (c clock) read() reading { return reading{process: time.Now(), boot: c()} }

// since is how long ago an instant was, by the clock that says more.
func (c clock) since(r reading) time.Duration { return max(time.Since(r.process), c()-r.boot) }

// callLease is how long a call may begin, and is this process's, as far as it can know: from when the
// kernel was asked, not from when its answer came.
type callLease struct {
	clock clock

	mu          sync.Mutex
	asked       reading // last
	started     reading // when the start was asked for that was granted
	within      time.Duration
	renewed     reading // when the lease was asked for
	lease       time.Duration
	lost, known bool
}

// noting is a way to the kernel that notes when the kernel was asked.
type noting struct {
	rpc.Requester

	lease *callLease
}

// Request implements [rpc.Requester].
func (n noting) Request(ctx context.Context, op string, request []byte) ([]byte, error) {
	n.lease.mu.Lock()
	n.lease.asked = n.lease.clock.read()
	n.lease.mu.Unlock()
	return n.Requester.Request(ctx, op, request)
}

// grant says within which time of the request an effect may begin.
func (h *callLease) grant(within time.Duration) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.started, h.within = h.asked, within
}

func (h *callLease) extend(lease time.Duration) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.known, h.renewed, h.lease = lease > 0, h.asked, lease
}

// lose says that the call is somebody else's, or nobody's.
func (h *callLease) lose() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.lost = true
}

// expired reports whether the call is not this process's any more.
func (h *callLease) expired() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.ended()
}

func (h *callLease) ended() bool { return h.lost || h.known && h.clock.since(h.renewed) >= h.lease }

// ready refuses an effect that comes too late: a process that was paused asks this before anything
// else can tell it. Of a call that nothing was granted for, nothing is known.
func (h *callLease) ready() error {
	if h == nil {
		return nil
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	switch passed := h.clock.since(h.started); {
	case passed >= h.within:
		return Error(utp.CodeConsentStale, fmt.Sprintf(
			"the call was to begin within %s of asking for its start, and %s have passed; nothing was done", shortly(h.within), shortly(passed)))
	case h.ended():
		return Error(utp.CodeStale, "the lease of the call is lost, and another process may have begun it; nothing more was done")
	}
	return nil
}

func shortly(d time.Duration) time.Duration { return d.Round(time.Millisecond) }
