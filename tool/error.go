package tool

import (
	"context"
	"errors"
	"fmt"

	"github.com/earshot-dev/earshot/utp"
)

// Why the context of a call has ended, as [context.Cause] returns it.
var (
	// ErrStopped: a person has stopped the call.
	ErrStopped = errors.New("tool: the call was stopped")
	// ErrEnding: the service is shutting down.
	ErrEnding = errors.New("tool: the service is ending")
	// ErrTimeout: the call has exceeded the tool's time limit in the definition's options.
	ErrTimeout = errors.New("tool: the call has taken too long")
	// ErrLost: the kernel reports that the call no longer belongs to this process. For a tool that may be repeated it
	// can also mean that the kernel was unreachable for a whole lease. Another process may have started the call.
	ErrLost = errors.New("tool: the lease of the call is lost")
)

// Error is an error with a protocol code, for readers of the result. The codes in docs/errors.md are known to everyone;
// a tool may have its own. Other errors are reported as internal_error. [utp.ToolError] can express more, for example
// that nothing was changed.
func Error(code utp.Code, message string) *utp.ToolError {
	return &utp.ToolError{Code: code, Message: message, Source: utp.SourceTool}
}

// ended returns the error for a run that reports only that its context has ended. If a call that may run only once was
// cut short without saying how far it came, its outcome is unknown. Then a person is asked, unless it was a person who
// stopped it.
func ended(ctx context.Context, class utp.Class, r Result, err error) error {
	_, described := errors.AsType[*utp.ToolError](err)
	if described || ctx.Err() == nil || !errors.Is(err, context.Canceled) && !errors.Is(err, context.DeadlineExceeded) && !errors.Is(err, context.Cause(ctx)) {
		return err
	}
	code, why := causeOf(ctx)
	if r.Value == nil {
		why += "; it did not say what it had done until then"
	}
	if r.Value == nil && !class.Repeatable() && !errors.Is(context.Cause(ctx), ErrStopped) {
		code = utp.CodeOutcomeUnknown
	}
	return Error(code, why)
}

func causeOf(ctx context.Context) (utp.Code, string) {
	switch cause := context.Cause(ctx); {
	case errors.Is(cause, ErrTimeout):
		return utp.CodeToolTimeout, "the tool had not ended when its time was over"
	case errors.Is(cause, ErrLost):
		return utp.CodeStale, "the tool ended because its lease was lost"
	case errors.Is(cause, ErrEnding):
		return utp.CodeStopped, "the tool ended because its service was asked to end"
	default:
		return utp.CodeStopped, "the tool ended because it was stopped"
	}
}

// broken turns a tool's panic into an error; its effect is unknown.
func broken(class utp.Class, p any) error {
	code := utp.CodeInternalError
	if !class.Repeatable() {
		code = utp.CodeOutcomeUnknown
	}
	return Error(code, fmt.Sprintf("the tool broke down: %v", p))
}

// The size limits of an error; it travels inside the message.
const (
	messageLimit = 8 << 10
	detailLimit  = 64 << 10
)

// toolError converts any error into the protocol's form, within its limits.
func toolError(err error) *utp.ToolError {
	known, is := errors.AsType[*utp.ToolError](err)
	if !is {
		known = &utp.ToolError{Code: utp.CodeInternalError, Message: err.Error()}
	}
	out := *known
	if len(out.Message) > messageLimit {
		out.Message = out.Message[:messageLimit] + "…"
	}
	out.Message = Readable(out.Message) // also if the limit split a character
	out.Code = utp.Code(Readable(string(out.Code)))
	out.Source = Readable(out.Source)
	if len(out.Detail) > detailLimit || len(out.Detail) > 0 && Keepable(out.Detail) != nil {
		out.Detail = nil
	}
	return &out
}
