package hub

import (
	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/hub/access"
)

// Code classifies an [Error].
type Code string

// The codes of this package. Only anew and stopping are worth a retry.
const (
	// CodeNotAllowed: the principal does not have the right. Nothing was done.
	CodeNotAllowed Code = "not_allowed"
	// CodeLogin: the principal has the right, but no person is known to be there: log in first. Nothing was done.
	CodeLogin Code = "login_required"
	// CodeRevoked: the principal's credential is no longer valid. Log in again.
	CodeRevoked Code = "revoked"
	// CodeClosed: the subscription does not exist or has ended. Subscribe again.
	CodeClosed Code = "closed"
	// CodeSuperseded: a newer stream has replaced this stream of the subscription.
	CodeSuperseded Code = "superseded"
	// CodeMalformed: the message cannot be parsed. Sending the same bytes again fails again.
	CodeMalformed Code = "malformed"
	// CodeRefused: the new terms cannot be granted, and the subscription has ended (HS-61). [Error.Rejected] is the
	// message for the subscriber.
	CodeRefused Code = "refused"
	// CodeNotFound: nothing of that name exists that the principal may know of.
	CodeNotFound Code = "not_found"
	// CodeLedgerChanged: the ledger was replaced by another. Stream again, without an event id.
	CodeLedgerChanged Code = "anew"
	// CodeStopping: the hub is not running. Stream again in a moment.
	CodeStopping Code = "stopping"
)

// Error is every error that this package itself reports. A refusal by the kernel is a
// [*github.com/earshot-dev/earshot/utp.Fault]; any other error means that no answer came.
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

// SafeToRetry reports whether the same request may be retried unchanged.
func (e *Error) SafeToRetry() bool { return e.Code == CodeLedgerChanged || e.Code == CodeStopping }

// The sentinels for [errors.Is].
var (
	ErrNotAllowed    = &Error{Code: CodeNotAllowed, Message: "not allowed"}
	ErrLogin         = &Error{Code: CodeLogin, Message: "no person is known to be there", Hint: "log in"}
	ErrRevoked       = &Error{Code: CodeRevoked, Message: "what was shown does not count any more", Hint: "log in again"}
	ErrClosed        = &Error{Code: CodeClosed, Message: "there is no such subscription", Hint: "subscribe again"}
	ErrSuperseded    = &Error{Code: CodeSuperseded, Message: "the stream goes on elsewhere"}
	ErrMalformed     = &Error{Code: CodeMalformed, Message: "the message cannot be read"}
	ErrRefused       = &Error{Code: CodeRefused, Message: "the terms cannot be given"}
	ErrNotFound      = &Error{Code: CodeNotFound, Message: "it does not exist, or it belongs to somebody else"}
	ErrLedgerChanged = &Error{Code: CodeLedgerChanged, Message: "the ledger is another than it was", Hint: "stream again without an event id"}
	ErrStopping      = &Error{Code: CodeStopping, Message: "the hub does not run", Hint: "try again in a moment"}
)

func notAllowed(message, hint string) error {
	return &Error{Code: CodeNotAllowed, Message: message, Hint: hint}
}

// attended refuses an answer that holds for a person if none is known to be there. A no starts nothing, and always
// counts.
func attended(who access.Principal, op string, r api.ReplyRequest) error {
	if who.Unattended == "" || op != api.OpAnswer || r.Decision == string(aaep.DecisionReject) {
		return nil
	}
	if who.Issuer != "" {
		return &Error{
			Code: CodeLogin, Message: "nothing is accepted or answered from here: " + who.Unattended,
			Hint: "answer on the page, or with a token of `earshot token add`; the operator can let these tokens accept with --oidc-accept",
		}
	}
	return &Error{
		Code: CodeLogin, Message: "nothing is accepted or answered from here: " + who.Unattended,
		Hint: "log a terminal of yours in with `earshot login`, or answer on the page; a script takes --token-file with a token of `earshot token add NAME --role approver`",
	}
}
