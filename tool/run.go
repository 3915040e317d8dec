package tool

import (
	"cmp"
	"context"
	"errors"
	"runtime/debug"
	"time"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/rpc"
	"github.com/earshot-dev/earshot/utp"
)

// run asks the kernel to start the call and, if that is granted, runs it. ServiceCtx is the service's context, ctx the
// call's own: a stop ends the work, but not the report.
func (s *Service) run(serviceCtx, ctx context.Context, id string, m Message) {
	var a api.StartAnswer
	request := api.StartRequest{Call: id, Owner: s.owner, Subject: m.Subject, Header: m.Header, Command: m.Payload}
	if !request.Command.IsValid() {
		request.Command = nil // a wakeup counts, whatever its content
	}
	// Use the tools as they are known now: a tool that changes meanwhile must not run on a start that was granted for
	// its earlier version.
	known := s.known.Load()
	// A stop may overtake the answer, and the call may have been granted all the same. So wait for the answer, and let
	// the tool itself say what remains after a stop. The lease of an abandoned grant would expire only much later, with
	// an unknown effect.
	asking, done := s.untilGrace(serviceCtx)
	defer done()
	granted := &callLease{clock: s.o.Boot}
	if err := rpc.AskWithin(asking, noting{s.o.Conn, granted}, lastTrouble, api.OpStart, request, &a); err != nil {
		s.o.Logger.Info("not started", "call", id, "error", err)
		return
	}
	if !s.begun.first(id, a.Fence) {
		s.o.Logger.Error("not started again: this process has begun it before; its lease will lapse, and a person is asked where it must not be repeated", "call", id)
		return
	}
	lease := time.Duration(a.LeaseMS) * time.Millisecond
	granted.grant(time.Duration(a.StartWithinMS) * time.Millisecond)
	granted.extend(lease)
	owner := api.OwnerRequest{Call: id, Owner: s.owner, Fence: a.Fence}
	s.stats.began(a.Tool)
	began := time.Now()
	status, code := s.carryOut(serviceCtx, ctx, asking, a, owner, granted, lease, m, known)
	s.stats.ended(a.Tool, time.Since(began), status, code)
}

// carryOut runs a granted call and reports its outcome to the kernel, whatever happens.
func (s *Service) carryOut(
	serviceCtx, ctx, asking context.Context, a api.StartAnswer, owner api.OwnerRequest, granted *callLease, lease time.Duration, m Message, known *toolset,
) (utp.Status, utp.Code) {
	if err := refuseInline(m.Payload); err != nil {
		return s.finish(serviceCtx, owner, Result{}, err)
	}
	c, err := s.callOf(asking, a, granted)
	if err != nil {
		return s.finish(serviceCtx, owner, Result{}, err)
	}
	c.conn, c.held, c.served = s.o.Conn, owner, known.tools[a.Tool]
	if err := mayBegin(ctx, a, c); err != nil {
		return s.finish(serviceCtx, owner, Result{Status: utp.StatusCanceled}, err)
	}
	beating := s.startHeartbeat(ctx, owner, c, lease)
	result, err := s.guarded(ctx, c)
	beating.end()
	return s.finish(serviceCtx, owner, result, err)
}

// refuseInline refuses a command that carries arguments or a result. They travel in cards only (UTP, "Commands"), and
// the sender may have meant other arguments than those that were consented to.
func refuseInline(payload []byte) error {
	_, _, err := utp.DecodeCommand(payload, utp.Context{})
	wrong, is := errors.AsType[*utp.PayloadError](err)
	if !is {
		return nil
	}
	switch wrong.Field {
	case "args", "arguments", "result":
		return (&utp.ToolError{
			Code: utp.CodeBadRequest, Message: "the command carries " + wrong.Field + ", which are read from the call's card only; nothing was done",
		}).Untouched()
	default:
		return nil
	}
}

// mayBegin refuses to begin a call that was stopped, or has become too old, on the way here (call protocol, step E). A
// tool checks again right before its first effect.
func mayBegin(ctx context.Context, a api.StartAnswer, c *Call) error {
	if a.Stop || ctx.Err() != nil {
		return &utp.ToolError{Code: utp.CodeStopped, Message: "it was stopped before it started; nothing was done"}
	}
	return c.Ready()
}

func (s *Service) callOf(ctx context.Context, a api.StartAnswer, h *callLease) (*Call, error) {
	args, err := rpc.Fetch(ctx, s.o.Conn, a.Args)
	return &Call{
		ID: a.Call, Turn: a.Turn, Tool: a.Tool, Class: cmp.Or(a.Class, utp.Irreversible), Args: args, Secrets: a.Secrets,
		lease: h, moved: make(chan struct{}, 1),
	}, err
}

// guarded runs the tool within its time limit and turns a panic into an error: the person still gets an answer, and the
// service continues.
func (s *Service) guarded(ctx context.Context, c *Call) (r Result, err error) {
	t := c.served
	class := cmp.Or(t.Definition.Class, c.Class)
	if t.Run == nil {
		return r, &utp.ToolError{Code: utp.CodeUnknownTool, Message: "this service has no tool " + c.Tool}
	}
	defer func() {
		if p := recover(); p != nil {
			s.o.Logger.Error("tool panicked", "tool", c.Tool, "call", c.ID, "panic", p, "stack", string(debug.Stack()))
			r, err = Result{}, broken(class, p)
		}
	}()
	if t.limit > 0 {
		var done context.CancelFunc
		ctx, done = context.WithTimeoutCause(ctx, t.limit, ErrTimeout)
		defer done()
	}
	r, err = t.Run(ctx, c)
	return r, ended(ctx, class, r, err)
}
