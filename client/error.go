package client

import "github.com/earshot-dev/earshot/aaep/announce"

// Code is the kind of failure of an [Error].
type Code string

// The codes of this package. An [Error] can also carry the server's codes.
const (
	// CodeUsage: the options are invalid, or what is to be sent cannot be written as JSON.
	CodeUsage Code = "usage"
	// CodeInsecure: the token would travel unencrypted.
	CodeInsecure Code = "insecure"
	// CodeUnreachable: the server does not answer. It is unknown whether a pending request took effect.
	CodeUnreachable Code = "unreachable"
	// CodeStrange: the program at that address is not an Earshot server.
	CodeStrange Code = "strange"
	// CodeUnauthenticated: the token is invalid or was revoked.
	CodeUnauthenticated Code = "authentication_required"
	// CodeForbidden: the token does not allow that.
	CodeForbidden Code = "authorization_denied"
	// CodeLogin: the token may answer, but no person is known to be there; only a no counts. Such a failure is forbidden,
	// too.
	CodeLogin Code = "login_required"
	// CodeNotFound: it does not exist, or this token may not see it.
	CodeNotFound Code = "not_found"
	// CodeConflict: something else happened first, such as another reply.
	CodeConflict Code = "conflict"
	// CodeArgumentsNotSeen: the question has arguments that were neither shown nor read. Such a failure is a conflict,
	// too.
	CodeArgumentsNotSeen Code = "arguments_not_seen"
	// CodePasskeyRequired: the accept takes a passkey, which is used on the page. Such a failure is forbidden, too.
	CodePasskeyRequired Code = "passkey_required"
	// CodeLost: messages may be missing here; only [Record] yields it, and goes on.
	CodeLost Code = "messages_lost"
)

// Error is every failure of a [Client].
type Error struct {
	Code    Code
	Message string // what was found and what was expected
	Hint    string // what to do
	// Retry says that the request may be repeated without a second effect.
	Retry bool
	// Closed says how the question ended, if a reply came too late.
	Closed *announce.Closed
	// Stopped: a person stopped the session. Ended: it ended in another way.
	Stopped, Ended bool
	Err            error

	passing bool // whether a proxy may have sent this status because its server does not answer
}

// Error returns the message and the hint, in a form that a person can read.
func (e *Error) Error() string {
	if e.Hint == "" {
		return e.Message
	}

	return e.Message + "; " + e.Hint
}

// Plain returns the message without the hint, for a display that shows the hint separately.
func (e *Error) Plain() string { return e.Message }

// Unwrap returns the cause, if there is one.
func (e *Error) Unwrap() error { return e.Err }

// Is compares codes.
func (e *Error) Is(target error) bool {
	other, ok := target.(*Error)

	return ok && other.Code == e.Code
}

// SafeToRetry reports whether the request may be repeated without a second effect.
func (e *Error) SafeToRetry() bool { return e.Retry }

// The sentinels for [errors.Is].
var (
	ErrUnreachable      = &Error{Code: CodeUnreachable, Message: "the server cannot be reached"}
	ErrUnauthenticated  = &Error{Code: CodeUnauthenticated, Message: "the token is not accepted"}
	ErrLogin            = &Error{Code: CodeLogin, Message: "no person is known to be there"}
	ErrNotFound         = &Error{Code: CodeNotFound, Message: "there is no such thing"}
	ErrConflict         = &Error{Code: CodeConflict, Message: "something else happened first"}
	ErrPasskeyRequired  = &Error{Code: CodePasskeyRequired, Message: "the accept takes a passkey, on the page"}
	ErrArgumentsNotSeen = &Error{Code: CodeArgumentsNotSeen, Message: "not everything that the question is about was shown"}
)
