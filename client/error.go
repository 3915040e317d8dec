package client

import "github.com/earshot-dev/earshot/aaep/announce"

// Code says what sort of failure an [Error] is.
type Code string

// The codes of this package. Beyond them, an [Error] carries the server's own codes.
const (
	// CodeUsage: what [Dial] was given cannot be used.
	CodeUsage Code = "usage"
	// CodeInsecure: the token would travel unencrypted.
	CodeInsecure Code = "insecure"
	// CodeUnreachable: nobody answers there. Whether a request that was under way took effect is not known.
	CodeUnreachable Code = "unreachable"
	// CodeStrange: what answers there is not an Earshot server.
	CodeStrange Code = "strange"
	// CodeUnauthenticated: the token is not accepted, or not any more.
	CodeUnauthenticated Code = "authentication_required"
	// CodeForbidden: the token has no right to do that.
	CodeForbidden Code = "authorization_denied"
	// CodeNotFound: it does not exist, or this token may not know of it.
	CodeNotFound Code = "not_found"
	// CodeConflict: something else happened first, such as another reply.
	CodeConflict Code = "conflict"
	// CodeArgumentsNotSeen: the accept is about more than has been shown or read; such a failure is a conflict, too.
	CodeArgumentsNotSeen Code = "arguments_not_seen"
	// CodeLost: messages that are recorded may be missing.
	CodeLost Code = "messages_lost"
)

// Error is every failure of a [Client].
type Error struct {
	Code    Code
	Message string // what was found and what was expected
	Hint    string // what to do
	// Retry says that the same may be tried again without a second effect.
	Retry bool
	// Closed says how the question ended, where a reply came too late.
	Closed *announce.Closed
	// Stopped: a person has stopped the session. Ended: it has ended otherwise.
	Stopped, Ended bool
	Err            error

	passing bool // the status is one with which a proxy, too, answers for a server that does not
}

// Error tells the message and the hint: it is shown to a person as it is.
func (e *Error) Error() string {
	if e.Hint == "" {
		return e.Message
	}

	return e.Message + "; " + e.Hint
}

// Plain is the message alone, where the hint has a line of its own.
func (e *Error) Plain() string { return e.Message }

// Unwrap returns the cause, if there is one.
func (e *Error) Unwrap() error { return e.Err }

// Is compares codes.
func (e *Error) Is(target error) bool {
	other, ok := target.(*Error)

	return ok && other.Code == e.Code
}

// SafeToRetry answers whether the same may be tried again.
func (e *Error) SafeToRetry() bool { return e.Retry }

// The sentinels for [errors.Is].
var (
	ErrUnreachable      = &Error{Code: CodeUnreachable, Message: "the server cannot be reached"}
	ErrUnauthenticated  = &Error{Code: CodeUnauthenticated, Message: "the token is not accepted"}
	ErrNotFound         = &Error{Code: CodeNotFound, Message: "there is no such thing"}
	ErrConflict         = &Error{Code: CodeConflict, Message: "something else happened first"}
	ErrArgumentsNotSeen = &Error{Code: CodeArgumentsNotSeen, Message: "not everything that the question is about was shown"}
)
