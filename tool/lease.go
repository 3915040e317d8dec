package tool

import (
	"cmp"
	"context"
	"errors"
	"sync"
	"time"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/rpc"
	"github.com/earshot-dev/earshot/utp"
)

// heartbeat keeps a call's lease alive and carries its progress.
type heartbeat struct {
	stop  context.CancelFunc
	owned sync.WaitGroup
}

func (h *heartbeat) end() {
	h.stop()
	h.owned.Wait()
}

func (s *Service) startHeartbeat(ctx context.Context, owner api.OwnerRequest, c *Call, lease time.Duration) *heartbeat {
	declared, stop := context.WithCancel(context.WithoutCancel(ctx))
	h := &heartbeat{stop: stop}
	h.owned.Go(func() { s.runHeartbeat(declared, owner, c, lease) })
	return h
}

// progressPause is the least time between two beats that only carry progress.
const progressPause = 200 * time.Millisecond

// beforeLimits is how much sooner than after a third of the lease a beat is due: it must not be
// left to chance whether one is sent at the very instant at which a time limit ends the work.
const beforeLimits = time.Millisecond

func (s *Service) runHeartbeat(ctx context.Context, owner api.OwnerRequest, c *Call, lease time.Duration) {
	due := time.NewTicker(max(lease/3-beforeLimits, time.Millisecond))
	defer due.Stop()
	calm := time.NewTimer(0)
	defer calm.Stop()
	moved := c.moved
	for ctx.Err() == nil { // a beat may be due as well by the time that the last one is given up
		select {
		case <-ctx.Done():
			return
		case <-calm.C:
			moved = c.moved
			continue
		case <-moved:
		case <-due.C:
		}
		drain(c.moved) // this one beat carries the progress and renews the lease
		drain(due.C)
		moved = nil
		calm.Reset(progressPause)
		s.sendHeartbeat(ctx, owner, c, lease/6)
	}
}

// drain takes what a channel holds, if it holds something.
func drain[T any](c <-chan T) {
	select {
	case <-c:
	default:
	}
}

// sendHeartbeat renews the lease, and ends the work if the tool is to stop or the lease is
// lost. It waits a part of the lease only: a beat that is lost must not cost the next ones.
func (s *Service) sendHeartbeat(ctx context.Context, owner api.OwnerRequest, c *Call, most time.Duration) {
	asking, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	var a api.HeartbeatAnswer
	request := api.HeartbeatRequest{OwnerRequest: owner, Fraction: c.fraction.Load()}
	err := rpc.Ask(asking, noting{s.o.Conn, c.lease}, api.OpHeartbeat, request, &a)
	if ctx.Err() != nil {
		return
	}
	switch {
	case err == nil:
		c.lease.extend(time.Duration(a.LeaseMS) * time.Millisecond)
		if a.Stop {
			s.cancel(owner.Call, ErrStopped)
		}
		return
	case isLost(err):
		c.lease.lose()
	default:
	}
	s.o.Logger.Warn("beat", "call", owner.Call, "error", err)
	// An effect that may be had only once is nobody else's either, while the kernel is
	// only out of reach: what was begun is better ended than cut short.
	if isLost(err) || cmp.Or(c.served.Definition.Class, c.Class).Repeatable() && c.lease.expired() {
		s.cancel(owner.Call, ErrLost)
	}
}

// isLost tells whether the kernel says that the call is not this process's any more.
func isLost(err error) bool {
	refused, answered := errors.AsType[*api.Fault](err)
	if !answered {
		return false
	}
	switch refused.Code {
	case utp.CodeStale, utp.CodeDone, utp.CodeBusy, utp.CodeUnknownCall, utp.CodeTurnEnded, utp.CodeAuthFailed:
		return true
	default:
		return false
	}
}

func (s *Service) cancel(call string, why error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if cancel := s.running[call]; cancel != nil {
		cancel(why)
	}
}
