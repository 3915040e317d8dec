package cause

import "strings"

// Kind classifies an [Error].
type Kind int

const (
	// Failed: it was attempted and failed, or its outcome is unknown.
	Failed Kind = iota
	// Usage: the request makes no sense; nothing was attempted.
	Usage
	// Declined: it is too late for it, or nobody can answer.
	Declined
)

// Error is a failure for people: what was found and what was expected, then what to do.
type Error struct {
	Kind          Kind
	Message, Hint string
	// Field is the field of the page's start box that it is about, request or folder; "" if it is about none.
	Field string
	Err   error
}

// Error returns the message alone; the hint is shown on a line of its own.
func (e *Error) Error() string { return e.Message }

// Plain implements [Plain].
func (e *Error) Plain() string { return e.Message }

// Unwrap returns the cause, if there is one.
func (e *Error) Unwrap() error { return e.Err }

// Fail creates an error of kind [Failed]. The explanation of err follows the message; nil adds nothing.
func Fail(err error, message, hint string) *Error {
	if err != nil {
		message += ": " + Of(err)
	}
	return &Error{Message: message, Hint: hint, Err: err}
}

// Misuse creates an error of kind [Usage].
func Misuse(message, hint string) *Error {
	return &Error{Kind: Usage, Message: message, Hint: hint}
}

// About says which field of the page's start box the error is about.
func (e *Error) About(field string) *Error {
	e.Field = field
	return e
}

// Retold returns a message in which the text of its cause, if present, is replaced by its explanation.
func Retold(message string, inner error) string {
	if inner == nil {
		return message
	}
	return strings.Replace(message, inner.Error(), Of(inner), 1)
}
