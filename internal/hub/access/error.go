package access

import "github.com/earshot-dev/earshot/internal/cause"

// Code classifies an [Error].
type Code string

// The codes of this package.
const (
	// CodeUnknown: the secret, code or cookie matches no principal. The error does not reveal which one is wrong, or
	// why.
	CodeUnknown Code = "unknown"
	// CodeRevoked: the principal's credential is no longer valid.
	CodeRevoked Code = "gone"
	// CodeInvalid: the request is invalid.
	CodeInvalid Code = "invalid"
	// CodeExists: a token with that name already exists.
	CodeExists Code = "exists"
	// CodeNotFound: no token has that name.
	CodeNotFound Code = "not_found"
	// CodeDamaged: the token file cannot be parsed. No token is accepted.
	CodeDamaged Code = "damaged"
	// CodeUnreadable: the token file cannot be opened or written.
	CodeUnreadable Code = "unreadable"
	// CodeUnsafe: another user owns the token file, or can read or write it.
	CodeUnsafe Code = "unsafe"
	// CodeBusy: another process is changing the token file. Try again.
	CodeBusy Code = "busy"
	// CodeNoRole: the token of an identity provider is valid, and the operator gives it no role.
	CodeNoRole Code = "no_role"
	// CodeAway: the identity provider cannot be asked for its keys. Try again.
	CodeAway Code = "provider_away"
)

// Error is the type of every error of this package. It never contains a secret.
type Error struct {
	Code    Code
	Message string // what was found, and what was expected
	Hint    string // what to do
	Err     error
}

func (e *Error) Error() string { return "access: " + e.Message }

// Plain implements [cause.Plain]. It omits the hint.
func (e *Error) Plain() string { return cause.Retold(e.Message, e.Err) }

// Unwrap returns the cause, if there is one.
func (e *Error) Unwrap() error { return e.Err }

// Is compares codes.
func (e *Error) Is(target error) bool {
	other, ok := target.(*Error)
	return ok && other.Code == e.Code
}

// SafeToRetry reports whether retrying the same call may succeed.
func (e *Error) SafeToRetry() bool { return e.Code == CodeBusy || e.Code == CodeAway }

// The sentinels for [errors.Is].
var (
	ErrUnknown    = &Error{Code: CodeUnknown, Message: "that leads to nobody", Hint: "log in again, or make a new token with `earshot token add`"}
	ErrRevoked    = &Error{Code: CodeRevoked, Message: "that does not count any more", Hint: "log in again, or make a new token with `earshot token add`"}
	ErrInvalid    = &Error{Code: CodeInvalid, Message: "that cannot be carried out"}
	ErrExists     = &Error{Code: CodeExists, Message: "a token of that name exists"}
	ErrNotFound   = &Error{Code: CodeNotFound, Message: "there is no token of that name"}
	ErrDamaged    = &Error{Code: CodeDamaged, Message: "the token file cannot be read as one"}
	ErrUnreadable = &Error{Code: CodeUnreadable, Message: "the token file cannot be used"}
	ErrUnsafe     = &Error{Code: CodeUnsafe, Message: "the token file is not private"}
	ErrNoRole     = &Error{Code: CodeNoRole, Message: "the token of the identity provider has no role here"}
	ErrAway       = &Error{Code: CodeAway, Message: "the identity provider cannot be asked for its keys"}
	ErrBusy       = &Error{Code: CodeBusy, Message: "another process is changing the tokens"}
)
