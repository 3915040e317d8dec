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

// heartbeat renews a call's lease and reports its progress.
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

// progressPause is the minimum time between two heartbeats that only report progress, and wordsPause between two that
// carry text.
const (
	progressPause = 200 * time.Millisecond
	wordsPause    = 2 * time.Second
)

// beforeLimits makes a heartbeat due slightly before a third of the lease. Otherwise it would be left to chance whether
// one is sent at the instant at which a time limit ends the work.
const beforeLimits = time.Millisecond

func (s *Service) runHeartbeat(ctx context.Context, owner api.OwnerRequest, c *Call, lease time.Duration) {
	due := time.NewTicker(max(lease/3-beforeLimits, time.Millisecond))
	defer due.Stop()
	calm := time.NewTimer(0)
	defer calm.Stop()
	moved := c.moved
	var words wording
	for ctx.Err() == nil { // the next heartbeat may already be due when the last one is given up
		select {
		case <-ctx.Done():
			return
		case <-calm.C:
			moved = c.moved
			continue
		case <-moved:
		case <-due.C:
		}
		drain(c.moved) // this one heartbeat carries the progress and renews the lease
		drain(due.C)
		moved = nil
		calm.Reset(progressPause)
		s.sendHeartbeat(ctx, owner, c, words.next(c), lease/6)
		if c.doing.Load() != nil { // it is too early for the text
			calm.Reset(wordsPause)
			drain(c.moved)
			c.move()
		}
	}
}

// wording records when text was reported last.
type wording struct{ last time.Time }

// next returns the text that is due; "" if there is none.
func (w *wording) next(c *Call) string {
	if time.Since(w.last) < wordsPause {
		return ""
	}
	words := c.doing.Swap(nil)
	if words == nil {
		return ""
	}
	w.last = time.Now()
	return *words
}

// drain discards a pending value of a channel.
func drain[T any](c <-chan T) {
	select {
	case <-c:
	default:
	}
}

// sendHeartbeat renews the lease, and cancels the work if the tool has to stop or the lease is lost. It waits only for
// a part of the lease, so that a lost heartbeat does not delay the next ones.
func (s *Service) sendHeartbeat(ctx context.Context, owner api.OwnerRequest, c *Call, words string, most time.Duration) {
	asking, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	var a api.HeartbeatAnswer
	request := api.HeartbeatRequest{OwnerRequest: owner, Fraction: c.fraction.Load(), Doing: words}
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
	s.o.Logger.Warn("heartbeat", "call", owner.Call, "error", err)
	// If the kernel is only unreachable, no other process may start a call that may run only once either. So it is
	// better to finish what has begun than to cut it short.
	if isLost(err) || cmp.Or(c.served.Definition.Class, c.Class).Repeatable() && c.lease.expired() {
		s.cancel(owner.Call, ErrLost)
	}
}

// isLost reports whether the kernel says that the call no longer belongs to this process.
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
