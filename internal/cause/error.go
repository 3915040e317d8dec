package cause

import "strings"

// Kind says what sort of failure an [Error] is.
type Kind int

const (
	// Failed: it was tried and did not work, or its outcome is unknown.
	Failed Kind = iota
	// Usage: what was asked for cannot be meant; nothing was tried.
	Usage
	// Declined: it is too late for it, or nobody can answer.
	Declined
)

// Error is a failure for people: what was found and what was expected, then what to do.
type Error struct {
	Kind          Kind
	Message, Hint string
	Err           error
}

// Error is the message alone; the hint belongs on a line of its own.
func (e *Error) Error() string { return e.Message }

// Plain implements [Plain].
func (e *Error) Plain() string { return e.Message }

// Unwrap returns the cause, if there is one.
func (e *Error) Unwrap() error { return e.Err }

// Fail makes an error of kind [Failed]. What err says in words stands behind the message; nil adds nothing.
func Fail(err error, message, hint string) *Error {
	if err != nil {
		message += ": " + Of(err)
	}
	return &Error{Message: message, Hint: hint, Err: err}
}

// Misuse makes an error of kind [Usage].
func Misuse(message, hint string) *Error {
	return &Error{Kind: Usage, Message: message, Hint: hint}
}

// Retold is a message that may hold the text of its cause, with that in words.
func Retold(message string, inner error) string {
	if inner == nil {
		return message
	}
	return strings.Replace(message, inner.Error(), Of(inner), 1)
}
