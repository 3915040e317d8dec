package tool

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/earshot-dev/earshot/rpc"
	"github.com/earshot-dev/earshot/utp"
)

// run starts the call at the kernel and, if that is granted, does it. The context alive
// is the service's, ctx the call's own: a stop ends the work and not the telling of it.
func (s *Service) run(alive, ctx context.Context, id string, m Message) {
	var a utp.StartAnswer
	request := utp.StartRequest{Call: id, Owner: s.owner, Subject: m.Subject, Header: m.Header, Command: m.Payload}
	if !request.Command.IsValid() {
		request.Command = nil // a bell rings, whatever is in it
	}
	// A stop may overtake the answer, and the call may have been granted all the same. So
	// the answer is waited for, and the tool itself says what a stop has left to be done:
	// a grant that is given up would lapse only much later, with an effect unknown.
	asking, done := s.lastWords(alive)
	defer done()
	if err := rpc.AskUntil(asking, s.o.Conn, utp.OpStart, request, &a); err != nil {
		s.o.Logger.Info("not started", "call", id, "error", err)
		return
	}
	lease := time.Duration(a.LeaseMS) * time.Millisecond
	c, err := s.callOf(asking, a)
	held := utp.OwnerRequest{Call: id, Owner: s.owner, Fence: a.Fence}
	if err != nil {
		s.finish(alive, held, Result{}, err)
		return
	}
	if err := mayBegin(ctx, a, c); err != nil {
		s.finish(alive, held, Result{Status: utp.StatusCanceled}, err)
		return
	}
	beating := s.beat(ctx, held, c, lease)
	result, err := s.guarded(ctx, c)
	beating.end()
	s.finish(alive, held, result, err)
}

// mayBegin refuses to begin what was stopped, or has become too old, on the way here
// (call protocol, step E). A tool looks again right before its first effect.
func mayBegin(ctx context.Context, a utp.StartAnswer, c *Call) error {
	if a.Stop || ctx.Err() != nil {
		return &utp.ToolError{Code: utp.CodeStopped, Message: "it was stopped before it began; nothing was done"}
	}
	return c.Ready()
}

func (s *Service) callOf(ctx context.Context, a utp.StartAnswer) (*Call, error) {
	args, err := rpc.Fetch(ctx, s.o.Conn, a.Args)
	return &Call{
		ID: a.Call, Turn: a.Turn, Tool: a.Tool, Args: args, Secrets: a.Secrets, StartBy: a.StartBy,
		now: s.o.Now, moved: make(chan struct{}, 1),
	}, err
}

// guarded runs the tool and turns a panic into an error: the person still gets an
// answer, and the service lives on.
func (s *Service) guarded(ctx context.Context, c *Call) (r Result, err error) {
	t, known := s.tools[c.Tool]
	if !known {
		return r, &utp.ToolError{Code: utp.CodeUnknownTool, Message: "this service has no tool " + c.Tool}
	}
	defer func() {
		if p := recover(); p != nil {
			s.o.Logger.Error("tool panicked", "tool", c.Tool, "call", c.ID, "panic", p)
			err = &utp.ToolError{Code: utp.CodeInternalError, Message: fmt.Sprintf("the tool broke down: %v", p)}
		}
	}()
	return t.Run(ctx, c)
}

// heartbeat keeps a call's lease alive and carries its progress.
type heartbeat struct {
	stop  context.CancelFunc
	owned sync.WaitGroup
}

func (h *heartbeat) end() {
	h.stop()
	h.owned.Wait()
}

func (s *Service) beat(ctx context.Context, held utp.OwnerRequest, c *Call, lease time.Duration) *heartbeat {
	own, stop := context.WithCancel(context.WithoutCancel(ctx))
	h := &heartbeat{stop: stop}
	h.owned.Go(func() { s.beats(own, held, c, lease) })
	return h
}

// progressPause is the least time between two beats that only carry progress.
const progressPause = 200 * time.Millisecond

func (s *Service) beats(ctx context.Context, held utp.OwnerRequest, c *Call, lease time.Duration) {
	due := time.NewTicker(max(lease/3, time.Millisecond))
	defer due.Stop()
	calm := time.NewTimer(0)
	defer calm.Stop()
	moved := c.moved
	for {
		select {
		case <-ctx.Done():
			return
		case <-calm.C:
			moved = c.moved
			continue
		case <-moved:
		case <-due.C:
		}
		moved = nil
		calm.Reset(progressPause)
		if s.beatOnce(ctx, held, c, lease/6) {
			s.cancel(held.Call)
		}
	}
}

// beatOnce renews the lease and reports whether the tool is to stop. It waits a part of
// the lease only: a beat that is lost must not cost the next ones.
func (s *Service) beatOnce(ctx context.Context, held utp.OwnerRequest, c *Call, most time.Duration) (stop bool) {
	asking, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	var a utp.BeatAnswer
	err := rpc.Ask(asking, s.o.Conn, utp.OpBeat, utp.BeatRequest{OwnerRequest: held, Fraction: c.fraction.Load()}, &a)
	if err != nil && ctx.Err() == nil {
		s.o.Logger.Warn("beat", "call", held.Call, "error", err)
	}
	return a.Stop
}

func (s *Service) cancel(call string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if cancel := s.running[call]; cancel != nil {
		cancel()
	}
}

// finish records the result. It outlives the service's context by grace: an effect
// that happened must not go untold for want of a moment.
func (s *Service) finish(alive context.Context, held utp.OwnerRequest, r Result, failure error) {
	ctx, cancel := s.lastWords(alive)
	defer cancel()
	request := utp.FinishRequest{OwnerRequest: held, Status: r.Status}
	if request.Status == "" {
		request.Status = utp.StatusSuccess
	}
	if failure != nil {
		request.Error = toolError(failure)
		if request.Status == utp.StatusSuccess {
			request.Status = utp.StatusFailed
		}
	}
	untold, err := s.store(ctx, r, &request.Result)
	if untold != nil {
		request.Status, request.Error = utp.StatusFailed, cmp.Or(request.Error, untold)
	}
	if err == nil {
		err = rpc.AskUntil(ctx, s.o.Conn, utp.OpFinish, request, nil)
	}
	if err != nil {
		s.o.Logger.Error("not finished", "call", held.Call, "error", err)
	}
}

// store puts a result's value into a body. What cannot be put, for its form or its
// size, comes back as an error for the caller to tell: what was done must not go untold
// for want of a value. Any other error says that the kernel was not reached.
func (s *Service) store(ctx context.Context, r Result, into *utp.Body) (untold *utp.ToolError, err error) {
	if r.Value == nil {
		return nil, nil //nolint:nilnil // Nothing to put, and nothing wrong.
	}
	*into, err = rpc.Store(ctx, s.o.Conn, r.Value)
	switch {
	case errors.Is(err, rpc.ErrValue):
		return toolError(&utp.ToolError{Code: utp.CodeResultNotSerializable, Message: err.Error()}), nil
	case rpc.Code(err, utp.CodeTooLarge):
		return toolError(&utp.ToolError{Code: utp.CodeTooLarge, Message: "the result is over the limit: " + err.Error()}), nil
	}
	return nil, err
}

// lastWords is a context that ends only grace after the service's own.
func (s *Service) lastWords(alive context.Context) (context.Context, context.CancelFunc) {
	own, cancel := context.WithCancel(context.WithoutCancel(alive))
	timer := time.AfterFunc(time.Hour, cancel)
	timer.Stop()
	stop := context.AfterFunc(alive, func() { timer.Reset(grace) })
	return own, func() {
		stop()
		timer.Stop()
		cancel()
	}
}

// The most that an error may say; it travels inside the message.
const (
	messageLimit = 8 << 10
	detailLimit  = 64 << 10
)

func toolError(err error) *utp.ToolError {
	known, is := errors.AsType[*utp.ToolError](err)
	if !is {
		known = &utp.ToolError{Code: utp.CodeInternalError, Message: err.Error()}
	}
	out := *known
	if len(out.Message) > messageLimit {
		out.Message = out.Message[:messageLimit] + "…"
	}
	out.Message = strings.ToValidUTF8(out.Message, "\uFFFD") // also where a rune was cut
	out.Code = utp.Code(strings.ToValidUTF8(string(out.Code), "\uFFFD"))
	out.Source = strings.ToValidUTF8(out.Source, "\uFFFD")
	if len(out.Detail) > detailLimit || (len(out.Detail) > 0 && !out.Detail.IsValid()) {
		out.Detail = nil
	}
	return &out
}

// reconcile finds out what became of a lapsed call and tells the kernel.
func (s *Service) reconcile(_, ctx context.Context, id string, _ Message) {
	var a utp.ReconcileAnswer
	if err := rpc.AskUntil(ctx, s.o.Conn, utp.OpReconcile, utp.OwnerRequest{Call: id, Owner: s.owner}, &a); err != nil {
		s.o.Logger.Info("not reconciled", "call", id, "error", err)
		return
	}
	request := utp.SettleRequest{Call: id, Fate: string(Unknown)}
	c, err := s.callOf(ctx, utp.StartAnswer{Call: a.Call, Tool: a.Tool, Args: a.Args})
	if err == nil && s.tools[a.Tool].Reconcile != nil {
		fate, result, failure := s.guardedFate(ctx, c)
		request, err = s.settlement(ctx, id, fate, result, failure)
	}
	if err == nil {
		err = rpc.AskUntil(ctx, s.o.Conn, utp.OpSettle, request, nil)
	}
	if err != nil {
		s.o.Logger.Error("not settled", "call", id, "error", err)
	}
}

// guardedFate asks the tool, and turns a panic into an error.
func (s *Service) guardedFate(ctx context.Context, c *Call) (f Fate, r Result, err error) {
	defer func() {
		if p := recover(); p != nil {
			s.o.Logger.Error("tool panicked", "tool", c.Tool, "call", c.ID, "panic", p)
			f, r, err = Unknown, Result{}, fmt.Errorf("the tool broke down: %v", p)
		}
	}()
	return s.tools[c.Tool].Reconcile(ctx, c)
}

func (s *Service) settlement(ctx context.Context, id string, fate Fate, r Result, failure error) (utp.SettleRequest, error) {
	request := utp.SettleRequest{Call: id, Fate: string(fate), Status: r.Status}
	if failure != nil {
		s.o.Logger.Error("reconcile", "call", id, "error", failure)
		request.Fate = string(Unknown)
	}
	if request.Fate != string(Done) {
		return request, nil
	}
	if request.Status == "" {
		request.Status = utp.StatusSuccess
	}
	untold, err := s.store(ctx, r, &request.Result)
	if untold != nil {
		request.Status, request.Error = utp.StatusFailed, untold
	}
	return request, err
}
