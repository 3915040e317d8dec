package tool

import (
	"context"
	"errors"
	"fmt"

	"github.com/earshot-dev/earshot/utp"
)

// Why the context of a call has ended: what [context.Cause] returns.
var (
	// ErrStopped: the person has stopped it.
	ErrStopped = errors.New("tool: the call was stopped")
	// ErrEnding: the service was told to end.
	ErrEnding = errors.New("tool: the service is ending")
	// ErrTimeout: the time that the definition's options give the tool is over.
	ErrTimeout = errors.New("tool: the call has taken too long")
	// ErrLost: the kernel says that the call is not this process's any more; or, for a tool
	// that may be repeated, has not been reached for a whole lease. Somebody else may have
	// begun it.
	ErrLost = errors.New("tool: the lease of the call is lost")
)

// Error is an error with a code of the protocol, for anyone who reads the result. The codes
// of docs/errors.md are known to everybody; a tool may have its own. Other errors are told
// as internal_error. See [utp.ToolError] for what more can be said, as that nothing was
// changed.
func Error(code utp.Code, message string) *utp.ToolError {
	return &utp.ToolError{Code: code, Message: message, Source: utp.SourceTool}
}

// ended gives an error that says no more than that the context has ended the reason why. Of
// what may be done once only, and was cut short without a word on how far it had come, nobody
// can tell the outcome; unless it was a person who stopped it, a person is asked.
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
		return utp.CodeStopped, "the tool ended because its service was told to end"
	default:
		return utp.CodeStopped, "the tool ended because it was stopped"
	}
}

// broken is a tool's panic as an error: how far it had come, nobody knows.
func broken(class utp.Class, p any) error {
	code := utp.CodeInternalError
	if !class.Repeatable() {
		code = utp.CodeOutcomeUnknown
	}
	return Error(code, fmt.Sprintf("the tool broke down: %v", p))
}

// The most that an error may say; it travels inside the message.
const (
	messageLimit = 8 << 10
	detailLimit  = 64 << 10
)

// toolError is any error in the form, and within the limits, of the protocol.
func toolError(err error) *utp.ToolError {
	known, is := errors.AsType[*utp.ToolError](err)
	if !is {
		known = &utp.ToolError{Code: utp.CodeInternalError, Message: err.Error()}
	}
	out := *known
	if len(out.Message) > messageLimit {
		out.Message = out.Message[:messageLimit] + "…"
	}
	out.Message = Readable(out.Message) // also where a rune was cut
	out.Code = utp.Code(Readable(string(out.Code)))
	out.Source = Readable(out.Source)
	if len(out.Detail) > detailLimit || len(out.Detail) > 0 && Keepable(out.Detail) != nil {
		out.Detail = nil
	}
	return &out
}
