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

func (s *Service) beat(ctx context.Context, held api.OwnerRequest, c *Call, lease time.Duration) *heartbeat {
	own, stop := context.WithCancel(context.WithoutCancel(ctx))
	h := &heartbeat{stop: stop}
	h.owned.Go(func() { s.beats(own, held, c, lease) })
	return h
}

// progressPause is the least time between two beats that only carry progress, and wordsPause that between two that carry words.
const (
	progressPause = 200 * time.Millisecond
	wordsPause    = 2 * time.Second
)

// beforeLimits is how much sooner than after a third of the lease a beat is due: it must not be
// left to chance whether one is sent at the very instant at which a time limit ends the work.
const beforeLimits = time.Millisecond

func (s *Service) beats(ctx context.Context, held api.OwnerRequest, c *Call, lease time.Duration) {
	due := time.NewTicker(max(lease/3-beforeLimits, time.Millisecond))
	defer due.Stop()
	calm := time.NewTimer(0)
	defer calm.Stop()
	moved := c.moved
	var words wording
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
		heard(c.moved) // this one beat carries the progress and renews the lease
		heard(due.C)
		moved = nil
		calm.Reset(progressPause)
		s.beatOnce(ctx, held, c, words.next(c), lease/6)
		if c.doing.Load() != nil { // it is too early for them
			calm.Reset(wordsPause)
			heard(c.moved)
			c.move()
		}
	}
}

// wording is when words were reported last.
type wording struct{ last time.Time }

// next are the words that are due; "" for none.
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

// heard takes what a channel holds, if it holds something.
func heard[T any](c <-chan T) {
	select {
	case <-c:
	default:
	}
}

// beatOnce renews the lease, and ends the work if the tool is to stop or the lease is
// lost. It waits a part of the lease only: a beat that is lost must not cost the next ones.
func (s *Service) beatOnce(ctx context.Context, held api.OwnerRequest, c *Call, words string, most time.Duration) {
	asking, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	var a api.BeatAnswer
	request := api.BeatRequest{OwnerRequest: held, Fraction: c.fraction.Load(), Doing: words}
	err := rpc.Ask(asking, noting{s.o.Conn, c.hold}, api.OpBeat, request, &a)
	if ctx.Err() != nil {
		return
	}
	switch {
	case err == nil:
		c.hold.extend(time.Duration(a.LeaseMS) * time.Millisecond)
		if a.Stop {
			s.cancel(held.Call, ErrStopped)
		}
		return
	case gone(err):
		c.hold.lose()
	default:
	}
	s.o.Logger.Warn("beat", "call", held.Call, "error", err)
	// An effect that may be had only once is nobody else's either, while the kernel is
	// only out of reach: what was begun is better ended than cut short.
	if gone(err) || cmp.Or(c.served.Definition.Class, c.Class).Repeatable() && c.hold.over() {
		s.cancel(held.Call, ErrLost)
	}
}

// gone tells whether the kernel says that the call is not this process's any more.
func gone(err error) bool {
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
