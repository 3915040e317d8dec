package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/earshot-dev/earshot/internal/cause"
	"github.com/earshot-dev/earshot/tool"
	"github.com/earshot-dev/earshot/utp"
)

// refuse is the error of a call that has begun nothing.
func refuse(code utp.Code, format string, args ...any) *utp.ToolError {
	return (&utp.ToolError{Code: code, Message: fmt.Sprintf(format, args...), Source: utp.SourceTool, Retryable: code.Retryable()}).Untouched()
}

// runs returns a function that runs the tool of that name, as long as its definition has that digest.
func (s *Server) runs(upstream, digest string) func(context.Context, *tool.Call) (tool.Result, error) {
	unchanged := func(ctx context.Context, conn *connection, c *tool.Call) error {
		return s.unchanged(ctx, conn, upstream, digest, c)
	}
	return func(ctx context.Context, c *tool.Call) (tool.Result, error) {
		return s.begin(ctx, c, unchanged, func(callCtx context.Context, conn *connection, f *flight) (answer, error) {
			// The token is set by hand, because the SDK's own way panics unless it is a string or an integer.
			got, err := conn.session.CallTool(callCtx, &mcp.CallToolParams{
				Name: upstream, Arguments: json.RawMessage(c.Args), Meta: mcp.Meta{"progressToken": c.ID, "earshot/call": c.ID},
			})
			return func() (tool.Result, error) { return f.result(got, conn.redactor) }, err //nolint:wrapcheck // failed says what it is about
		})
	}
}

// needsLogin is the error of a call that only a login would allow.
func needsLogin(need *LoginError) *utp.ToolError {
	return refuse(utp.CodeAuthFailed, "%s. Nothing was done", need.Error())
}

// answer converts the server's answer to a result.
type answer func() (tool.Result, error)

// sender sends one request of a call. An error means that there is no answer.
type sender func(callCtx context.Context, conn *connection, f *flight) (answer, error)

// begin sends a call once the server is connected and the check has passed.
func (s *Server) begin(ctx context.Context, c *tool.Call, check func(context.Context, *connection, *tool.Call) error, send sender) (tool.Result, error) {
	conn, err := s.current(ctx)
	if err == nil {
		err = check(ctx, conn, c)
	}
	if ctx.Err() != nil {
		return tool.Result{Status: utp.StatusCanceled}, refuse(utp.CodeStopped, "it was stopped before it started; nothing was done")
	}
	if wrong, is := errors.AsType[*utp.ToolError](err); is {
		return tool.Result{}, wrong
	}
	if need, is := errors.AsType[*LoginError](err); is {
		return tool.Result{}, needsLogin(need)
	}
	if err != nil {
		return tool.Result{}, refuse(utp.CodeUpstreamUnavailable, "the MCP server %s is not there: %s. Nothing was sent to it", s.name, cause.OneLine(cause.Of(err)))
	}
	if err := c.Ready(); err != nil {
		return tool.Result{}, err
	}
	return s.call(ctx, conn, c, send)
}

// unchanged refuses a call if the tool has changed since it was offered. A server's notice of a change may come late,
// or never, so it is relied on only for reads.
func (s *Server) unchanged(ctx context.Context, conn *connection, upstream, digest string, c *tool.Call) error {
	conn.mu.Lock()
	now := conn.known[upstream]
	conn.mu.Unlock()
	if c.Class != utp.Read || !conn.announces || conn.stale.Load() {
		listing, done := context.WithTimeout(ctx, s.c.Limits.Start)
		defer done()
		tools, _, err := s.list(listing, conn)
		if err != nil {
			return err
		}
		now = ""
		for _, t := range tools {
			if t.upstream == upstream {
				now = t.digest
			}
		}
	}
	switch now {
	case digest:
		return nil
	case "":
		conn.change()
		return refuse(utp.CodeUnknownTool, "the MCP server %s has no tool %.128q any more; nothing was sent to it", s.name, upstream)
	default:
		conn.change()
		return refuse(utp.CodeChangedSinceReview,
			"the MCP server %s has changed the tool %.128q. Nothing was sent to it. Look at it: `earshot tools review %s`", s.name, upstream, c.Tool)
	}
}

// Why we have ended a call.
var (
	errTime    = errors.New("it took too long")
	errStopped = errors.New("it was told to stop")
	errEnding  = errors.New("its service was ending, or had lost the call")
)

// effectGrace is how long a call with an effect may continue after its service was told to end. It is shorter than the
// service's own grace period.
const effectGrace = 3 * time.Second

// call sends the call, once.
func (s *Server) call(ctx context.Context, conn *connection, c *tool.Call, send sender) (tool.Result, error) {
	callCtx, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	defer cancel(nil)
	f := &flight{call: c, life: callCtx, time: s.c.Limits.Time, limit: time.AfterFunc(s.c.Limits.Time, func() { cancel(errTime) })}
	defer f.limit.Stop()
	a := &attempt{}
	callCtx = context.WithValue(context.WithValue(callCtx, flightKey{}, f), attemptKey{}, a)
	last := time.AfterFunc(time.Hour, func() { cancel(errEnding) })
	last.Stop()
	defer last.Stop()
	deaf := context.AfterFunc(ctx, func() {
		switch why := context.Cause(ctx); {
		case errors.Is(why, tool.ErrTimeout):
			cancel(errTime)
		case errors.Is(why, tool.ErrEnding), errors.Is(why, tool.ErrLost):
			last.Reset(effectGrace)
		default:
			cancel(errStopped)
		}
	})
	defer deaf()
	conn.add(c.ID, f)
	defer conn.drop(c.ID)
	began, before := time.Now(), conn.link.written()
	result, err := send(callCtx, conn, f)
	if err == nil {
		return result()
	}
	if wrong, is := errors.AsType[*utp.ToolError](err); is {
		return tool.Result{}, wrong
	}
	return tool.Result{}, s.failed(failure{
		err: err, why: context.Cause(callCtx), duration: time.Since(began), class: c.Class, attempt: a, flight: f, conn: conn,
		unsent: conn.link.written() == before && a.sent.Load() == 0,
	})
}

// failure is a call that has no result.
type failure struct {
	err      error
	why      error // why we have ended it; nil if we have not
	duration time.Duration
	class    utp.Class
	unsent   bool // no part of it was sent
	attempt  *attempt
	flight   *flight
	conn     *connection
}

// The codes of errors that the SDK itself makes, in the form of a server's error: the connection is closing, or the
// transport failed.
const (
	codeClientClosing = -32003
	codeServerClosing = -32004
	codeRejected      = -32005
)

// answered returns the server's own error, if it is one.
func (f failure) answered() (*jsonrpc.Error, bool) {
	wire, is := errors.AsType[*jsonrpc.Error](f.err)
	if !is || wire.Code == codeClientClosing || wire.Code == codeServerClosing || wire.Code == codeRejected {
		return nil, false
	}
	return wire, true
}

// failed says why there is no result, and what is known about the effect.
func (s *Server) failed(f failure) error {
	text := string(f.conn.redactor.Text([]byte(cause.OneLine(cause.Of(f.err)))))
	if f.why != nil && !f.unsent {
		return s.cut(f)
	}
	if wire, is := f.answered(); is {
		return f.refusal(wire)
	}
	if need, is := errors.AsType[*LoginError](f.err); is && f.unsent {
		return needsLogin(need)
	}
	if f.unsent {
		return refuse(utp.CodeUpstreamUnavailable, "the MCP server %s was not reached: %s. Nothing was sent to it", s.name, text)
	}
	status := f.attempt.status.Load()
	if f.attempt.sent.Load() > 1 { // it had begun before this one
		status = 0
	}
	switch status {
	case http.StatusUnauthorized, http.StatusForbidden:
		return refuse(utp.CodeAuthFailed, "the MCP server %s does not take the credentials that it is given: %s", s.name, text)
	case http.StatusNotFound, http.StatusTooManyRequests:
		return refuse(utp.CodeUpstreamUnavailable, "the MCP server %s did not take the call: %s", s.name, text)
	}
	e := &utp.ToolError{Code: utp.CodeOutcomeUnknown, Source: utp.SourceTool}
	e.Message = fmt.Sprintf("the MCP server %s ended, or its answer was lost, while it worked on the call (%s); what it had done by then is not known", s.name, text)
	if f.class.Repeatable() {
		e.Code, e.Retryable = utp.CodeUpstreamUnavailable, true
	}
	return e
}

// refusal is the error with which the server answered.
func (f failure) refusal(wire *jsonrpc.Error) error {
	e := &utp.ToolError{Code: utp.CodeInternalError, Source: utp.SourceTool, Message: f.flight.withDeclined(string(f.conn.redactor.Text([]byte(wire.Message))))}
	switch wire.Code {
	case jsonrpc.CodeInvalidParams, jsonrpc.CodeInvalidRequest:
		e.Code = utp.CodeBadRequest
	case jsonrpc.CodeMethodNotFound:
		e.Code = utp.CodeNotImplemented
	}
	return e
}

// cut reports a call that we have ended: the server was told to cancel it, and its effect up to then is unknown.
func (s *Server) cut(f failure) error {
	e := &utp.ToolError{Source: utp.SourceTool, Code: utp.CodeStopped}
	e.Message = fmt.Sprintf("the call was cancelled at the MCP server %s after %s, because %v; what it had done by then is not known", s.name, f.duration.Round(time.Millisecond), f.why)
	switch {
	case errors.Is(f.why, errStopped):
	case !f.class.Repeatable():
		e.Code = utp.CodeOutcomeUnknown
	case errors.Is(f.why, errTime):
		e.Code, e.Retryable = utp.CodeToolTimeout, true
	}
	return e
}
