package openapi

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"sync/atomic"
	"time"

	"github.com/earshot-dev/earshot/internal/egress"
	"github.com/earshot-dev/earshot/tool"
	"github.com/earshot-dev/earshot/tool/settings"
	"github.com/earshot-dev/earshot/utp"
)

// sending is one pending request.
type sending struct {
	op       *operation
	redactor *settings.Redactor
	stopped  context.Context //nolint:containedctx // the call's own: why it ended is part of the report
	sent     atomic.Bool     // whether a connection existed, so that the server may have read something
}

// errTooLong is why a request was abandoned.
var errTooLong = errors.New("it took too long")

// run is the tool.
func (op *operation) run(ctx context.Context, c *tool.Call) (tool.Result, error) {
	s := &sending{op: op, stopped: ctx}
	callCtx, done := s.withDeadline(ctx)
	defer done()
	marked := context.WithValue(callCtx, readsKey{}, !op.class.Effectful() && (op.method == http.MethodGet || op.method == http.MethodHead))
	traced := httptrace.WithClientTrace(marked, &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) { s.sent.Store(true) }})
	r, redactor, err := op.request(traced, c)
	if err != nil {
		return tool.Result{}, err
	}
	s.redactor = redactor
	if ctx.Err() != nil {
		return tool.Result{Status: utp.StatusCanceled}, refuse(utp.CodeStopped, "it was stopped before it started; nothing was sent")
	}
	if err := c.Ready(); err != nil {
		return tool.Result{}, err
	}
	response, err := op.client.Do(r)
	if err != nil {
		return s.lost(callCtx, err)
	}
	defer func() { _ = response.Body.Close() }()
	return s.answered(callCtx, response)
}

// withDeadline bounds a request. A stop ends it at once, unless it has been sent and has an effect: then its response,
// which reveals the outcome, is awaited for a moment.
func (s *sending) withDeadline(ctx context.Context) (context.Context, func()) {
	callCtx, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	limit := time.AfterFunc(s.op.limits.Time, func() { cancel(errTooLong) })
	grace := time.AfterFunc(time.Hour, func() { cancel(context.Canceled) })
	grace.Stop()
	unhook := context.AfterFunc(ctx, func() {
		if s.sent.Load() && s.op.class.Effectful() {
			grace.Reset(stopGrace)
			return
		}
		cancel(context.Canceled)
	})
	return callCtx, func() {
		unhook()
		limit.Stop()
		grace.Stop()
		cancel(nil)
	}
}

// lost reports a request without a response. Once something may have been sent, only a repeatable call counts as
// failed; the outcome of any other is unknown.
func (s *sending) lost(callCtx context.Context, err error) (tool.Result, error) {
	sent, repeatable := s.sent.Load(), s.op.class.Repeatable()
	failure := &utp.ToolError{Code: utp.CodeUpstreamUnavailable, Source: utp.SourceTool, Retryable: true}
	status := utp.StatusFailed
	tooLong := errors.Is(context.Cause(callCtx), errTooLong)
	refused, isAddress := errors.AsType[*egress.AddressError](err)
	away, isAway := errors.AsType[*awayError](err)
	switch {
	case isAddress:
		failure.Code, failure.Message, failure.Retryable = utp.CodeAuthFailed, refused.Error(), false
	case isAway:
		failure.Message, failure.Retryable = away.Error(), false
	case s.stopped.Err() != nil && !tooLong && (!sent || !s.op.class.Effectful()):
		status = utp.StatusCanceled
		failure.Code, failure.Message, failure.Retryable = utp.CodeStopped, "it was stopped before there was an answer", false
	case tooLong && sent && repeatable:
		status = utp.StatusTimeout
		failure.Code, failure.Message = utp.CodeToolTimeout, fmt.Sprintf("no answer within %s", s.op.limits.Time)
	case sent && !repeatable:
		failure.Code, failure.Retryable = utp.CodeOutcomeUnknown, false
		failure.Message = "the request was sent, and no answer came: " + s.reason(err, tooLong)
	default:
		failure.Message = "the server could not be reached: " + s.reason(err, tooLong)
		if sent {
			failure.Message = "the connection broke before there was an answer: " + s.reason(err, tooLong)
		}
	}
	failure.Message = string(s.redactor.Text([]byte(failure.Message)))
	if !sent {
		failure = failure.Untouched()
	}
	return tool.Result{Status: status}, failure
}

// reason says what went wrong, without the address, which may contain a secret.
func (s *sending) reason(err error, tooLong bool) string {
	if tooLong {
		return fmt.Sprintf("it took longer than %s", s.op.limits.Time)
	}
	if wrapped, is := errors.AsType[*url.Error](err); is {
		err = wrapped.Err
	}
	return settings.Clip(err.Error(), 300)
}

// awayError is a redirect that is not followed.
type awayError struct{ to string }

func (e *awayError) Error() string {
	return "the server sends on to " + e.to + ", which is not followed"
}

// checkRedirect follows redirects within the origin, for requests that change nothing.
func checkRedirect(r *http.Request, via []*http.Request) error {
	r.Header.Del("Referer") // it would contain the whole address
	first := via[0]
	from, err := originOf(first.URL)
	if err != nil {
		return err
	}
	if reads, _ := first.Context().Value(readsKey{}).(bool); !reads {
		return http.ErrUseLastResponse
	}
	to, err := originOf(r.URL)
	if err != nil {
		return &awayError{to: "an address that " + err.Error()}
	}
	if to != from {
		return &awayError{to: string(to)}
	}
	if len(via) > maxRedirects {
		return &awayError{to: "one address after the other"}
	}
	return nil
}

// readsKey marks the context of a request that changes nothing.
type readsKey struct{}
