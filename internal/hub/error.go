package hub

import (
	"github.com/earshot-dev/earshot/aaep"
)

// Code says what sort of failure an [Error] is.
type Code string

// The codes of this package. Trying again helps with anew and stopping only.
const (
	// CodeNotAllowed: the principal has no right to do that. Nothing was done.
	CodeNotAllowed Code = "not_allowed"
	// CodeRevoked: what the principal showed does not count any more. Log in again.
	CodeRevoked Code = "revoked"
	// CodeClosed: there is no such subscription (any more). Subscribe again.
	CodeClosed Code = "closed"
	// CodeSuperseded: the subscription's stream goes on elsewhere.
	CodeSuperseded Code = "superseded"
	// CodeMalformed: the message cannot be read. The same bytes fail again.
	CodeMalformed Code = "malformed"
	// CodeRefused: the new terms cannot be given, and the subscription has ended
	// (HS-61); [Error.Rejected] is the message for the subscriber.
	CodeRefused Code = "refused"
	// CodeNotFound: there is nothing of that name that the principal may know of.
	CodeNotFound Code = "not_found"
	// CodeLedgerChanged: the ledger is another than it was. Stream again, without an event id.
	CodeLedgerChanged Code = "anew"
	// CodeStopping: the hub does not run (any more). Stream again in a moment.
	CodeStopping Code = "stopping"
)

// Error is every failure that this package itself finds. What the kernel refuses is a
// [*github.com/earshot-dev/earshot/utp.Fault]; any other error says that no answer came.
type Error struct {
	Code    Code
	Message string
	// Hint says what to do.
	Hint string
	// Rejected is set with CodeRefused.
	Rejected *aaep.SubscriptionRejected
	Err      error
}

func (e *Error) Error() string { return "hub: " + e.Message }

// Unwrap returns the cause, if there is one.
func (e *Error) Unwrap() error { return e.Err }

// Is compares codes.
func (e *Error) Is(target error) bool {
	other, ok := target.(*Error)
	return ok && other.Code == e.Code
}

// SafeToRetry answers whether the same may be tried again as it is.
func (e *Error) SafeToRetry() bool { return e.Code == CodeLedgerChanged || e.Code == CodeStopping }

// The sentinels for [errors.Is].
var (
	ErrNotAllowed    = &Error{Code: CodeNotAllowed, Message: "not allowed"}
	ErrRevoked       = &Error{Code: CodeRevoked, Message: "what was shown does not count any more", Hint: "log in again"}
	ErrClosed        = &Error{Code: CodeClosed, Message: "there is no such subscription", Hint: "subscribe again"}
	ErrSuperseded    = &Error{Code: CodeSuperseded, Message: "the stream goes on elsewhere"}
	ErrMalformed     = &Error{Code: CodeMalformed, Message: "the message cannot be read"}
	ErrRefused       = &Error{Code: CodeRefused, Message: "the terms cannot be given"}
	ErrNotFound      = &Error{Code: CodeNotFound, Message: "there is no such thing here, or it is not yours"}
	ErrLedgerChanged = &Error{Code: CodeLedgerChanged, Message: "the ledger is another than it was", Hint: "stream again without an event id"}
	ErrStopping      = &Error{Code: CodeStopping, Message: "the hub does not run", Hint: "try again in a moment"}
)

func notAllowed(message, hint string) error {
	return &Error{Code: CodeNotAllowed, Message: message, Hint: hint}
}
