package access

import "github.com/earshot-dev/earshot/internal/cause"

// Code says what sort of failure an [Error] is.
type Code string

// The codes of this package.
const (
	// CodeUnknown: the secret, code or cookie leads to nobody. Which of them is wrong, or
	// why, is not said.
	CodeUnknown Code = "unknown"
	// CodeRevoked: what the principal had shown does not count any more.
	CodeRevoked Code = "gone"
	// CodeInvalid: the request cannot be carried out as it is.
	CodeInvalid Code = "invalid"
	// CodeExists: a token of that name exists.
	CodeExists Code = "exists"
	// CodeNotFound: there is no token of that name.
	CodeNotFound Code = "not_found"
	// CodeDamaged: the token file cannot be read as one. Nobody is let in by a token.
	CodeDamaged Code = "damaged"
	// CodeUnreadable: the token file cannot be opened, or written.
	CodeUnreadable Code = "unreadable"
	// CodeUnsafe: somebody else owns the token file, or may read or write it.
	CodeUnsafe Code = "unsafe"
	// CodeBusy: another process is changing the token file. Try again.
	CodeBusy Code = "busy"
)

// Error is every failure of this package. It never holds a secret.
type Error struct {
	Code    Code
	Message string // what was found, and what was expected
	Hint    string // what to do
	Err     error
}

func (e *Error) Error() string { return "access: " + e.Message }

// Plain implements [cause.Plain]: without the hint.
func (e *Error) Plain() string { return cause.Retold(e.Message, e.Err) }

// Unwrap returns the cause, if there is one.
func (e *Error) Unwrap() error { return e.Err }

// Is compares codes.
func (e *Error) Is(target error) bool {
	other, ok := target.(*Error)
	return ok && other.Code == e.Code
}

// SafeToRetry answers whether the same may help when it is tried again.
func (e *Error) SafeToRetry() bool { return e.Code == CodeBusy }

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
	ErrBusy       = &Error{Code: CodeBusy, Message: "another process is changing the tokens"}
)
