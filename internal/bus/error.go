package bus

import (
	"context"
	"errors"
	"fmt"

	"github.com/nats-io/nats.go"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/cause"
	"github.com/earshot-dev/earshot/utp"
)

// Code classifies the errors of the bus. The codes in the kernel's own answers are not among them: this package treats
// answers as bytes.
type Code string

// The codes.
const (
	CodeInvalid      Code = "invalid"       // options, a name or a subject is malformed
	CodeNotAllowed   Code = "not_allowed"   // the principal has no right to this
	CodeTooLarge     Code = "too_large"     // header and payload exceed the limit
	CodeNoResponders Code = "no_responders" // no kernel serves requests at the moment
	CodeTimeout      Code = "timeout"       // no answer in time; the request may have been carried out
	CodeCanceled     Code = "canceled"      // the caller gave up; the request may have been carried out
	CodeClosed       Code = "closed"        // this end was closed
	CodeDisconnected Code = "disconnected"  // no connection to the server
	CodeRefused      Code = "refused"       // the server did not accept the credentials
	CodeFailed       Code = "failed"        // anything else; see Unwrap
)

// Error is the type of every error of this package. SafeToRetry means that the call had no effect and that a retry may
// succeed. If it is false after a timeout, it depends on the operation: the kernel's are idempotent, but this package
// cannot know that.
type Error struct {
	Code        Code
	Message     string
	SafeToRetry bool
	Err         error
}

// Error returns the code, what was found and what to do about it.
func (e *Error) Error() string { return "bus: " + string(e.Code) + ": " + e.Message }

// Plain implements [cause.Plain]. It omits the code.
func (e *Error) Plain() string { return cause.Retold(e.Message, e.Err) }

// Unwrap returns the cause, or nil.
func (e *Error) Unwrap() error { return e.Err }

// Unpublishable reports that the message itself can never be sent.
func (e *Error) Unpublishable() bool {
	switch e.Code {
	case CodeInvalid, CodeNotAllowed, CodeTooLarge:
		return true
	case CodeNoResponders, CodeTimeout, CodeCanceled, CodeClosed, CodeDisconnected, CodeRefused, CodeFailed:
	}
	return false
}

// Is reports whether target is an Error with the same code, so that
// errors.Is(err, bus.ErrNoResponders) works whatever the message.
func (e *Error) Is(target error) bool {
	other := &Error{}
	return errors.As(target, &other) && other.Message == "" && other.Code == e.Code
}

// Sentinels to compare with by errors.Is.
var (
	ErrInvalid      = &Error{Code: CodeInvalid}
	ErrNotAllowed   = &Error{Code: CodeNotAllowed}
	ErrTooLarge     = &Error{Code: CodeTooLarge}
	ErrNoResponders = &Error{Code: CodeNoResponders}
	ErrTimeout      = &Error{Code: CodeTimeout}
	ErrCanceled     = &Error{Code: CodeCanceled}
	ErrClosed       = &Error{Code: CodeClosed}
	ErrDisconnected = &Error{Code: CodeDisconnected}
	ErrRefused      = &Error{Code: CodeRefused}
)

func errClosed(what string) error {
	return &Error{Code: CodeClosed, Message: what + ": the connection is closed"}
}

// As converts an error that no retry can fix to a protocol code, for callers that retry any error without one.
func (e *Error) As(target any) bool {
	fault, isFault := target.(**api.Fault)
	if !isFault {
		return false
	}
	var code utp.Code
	switch e.Code {
	case CodeTooLarge:
		code = utp.CodeTooLarge
	case CodeNotAllowed, CodeRefused:
		code = utp.CodeAuthFailed
	case CodeInvalid, CodeClosed:
		code = utp.CodeBadRequest
	case CodeNoResponders, CodeTimeout, CodeCanceled, CodeDisconnected, CodeFailed:
		return false
	}
	*fault = &api.Fault{Code: code, Message: e.Error()}
	return true
}

func invalidf(format string, args ...any) error {
	return &Error{Code: CodeInvalid, Message: fmt.Sprintf(format, args...)}
}

// wireError converts an error of the connection. sent reports whether the message may have been sent before the error.
func wireError(what string, sent bool, err error) error {
	e := &Error{Code: CodeFailed, Message: what + ": " + err.Error(), Err: err}
	switch {
	case errors.Is(err, nats.ErrNoResponders):
		e.Code, e.SafeToRetry = CodeNoResponders, true
		e.Message = what + ": nobody serves it at the moment; start the kernel or try again later"
	case errors.Is(err, context.Canceled):
		e.Code, e.SafeToRetry = CodeCanceled, !sent
		e.Message = what + ": given up by the caller before an answer came"
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, nats.ErrTimeout):
		e.Code, e.SafeToRetry = CodeTimeout, !sent
		e.Message = what + ": no answer in time; it may have been carried out"
	case errors.Is(err, nats.ErrMaxPayload):
		e.Code = CodeTooLarge
		e.Message = what + ": larger than the bus carries; send the content in parts"
	case errors.Is(err, nats.ErrAuthorization), errors.Is(err, nats.ErrAuthExpired):
		e.Code = CodeRefused
		e.Message = what + ": the server refused the credentials; ask the operator for new ones"
	case errors.Is(err, nats.ErrPermissionViolation):
		e.Code = CodeNotAllowed
	case errors.Is(err, nats.ErrConnectionClosed), errors.Is(err, nats.ErrConnectionDraining):
		e.Code = CodeClosed
		e.Message = what + ": the connection is closed"
	case errors.Is(err, errLost), errors.Is(err, nats.ErrDisconnected), errors.Is(err, nats.ErrReconnectBufExceeded),
		errors.Is(err, nats.ErrNoServers), errors.Is(err, nats.ErrConnectionReconnecting):
		e.Code, e.SafeToRetry = CodeDisconnected, !sent || errors.Is(err, nats.ErrReconnectBufExceeded)
		e.Message = what + ": not connected to the server; try again when it is back"
	}
	return e
}
