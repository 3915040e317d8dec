package tool

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/earshot-dev/earshot/internal/rpc"
	"github.com/earshot-dev/earshot/utp"
)

// clock returns the time since the machine booted. It is combined with the process's own monotonic clock: if one of
// them stops or is set back, no lease lasts longer.
type clock func() time.Duration

// reading is an instant on both clocks.
type reading struct {
	process time.Time
	boot    time.Duration
}

func (c clock) read() reading { return reading{process: time.Now(), boot: c()} }

// since returns the time since an instant, by the clock that shows more.
func (c clock) since(r reading) time.Duration { return max(time.Since(r.process), c()-r.boot) }

// callLease knows how long a call's effects may begin, and how long the call belongs to this process. Times count from
// the request to the kernel, not from its answer.
type callLease struct {
	clock clock

	mu          sync.Mutex
	asked       reading // of the latest request
	started     reading // of the request for the granted start
	within      time.Duration
	renewed     reading // of the latest request to renew the lease
	lease       time.Duration
	lost, known bool
}

// noting wraps a connection to the kernel and records when each request was made.
type noting struct {
	rpc.Requester

	lease *callLease
}

func (n noting) Request(ctx context.Context, op string, request []byte) ([]byte, error) {
	n.lease.mu.Lock()
	n.lease.asked = n.lease.clock.read()
	n.lease.mu.Unlock()
	return n.Requester.Request(ctx, op, request)
}

// grant sets the time after the request within which an effect may begin.
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

// lose records that the call no longer belongs to this process.
func (h *callLease) lose() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.lost = true
}

// expired reports whether the call no longer belongs to this process.
func (h *callLease) expired() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.ended()
}

func (h *callLease) ended() bool { return h.lost || h.known && h.clock.since(h.renewed) >= h.lease }

// ready refuses an effect that would begin too late. A process that was paused finds out here first. A call without a
// grant is not limited.
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
