package aaep

import (
	"fmt"
	"strings"
)

// Code says what kind of failure an [Error] is. The words are stable.
type Code string

const (
	// CodeBadMessage: the bytes are not a message that may be acted on. Sending the
	// same bytes again fails again.
	CodeBadMessage Code = "bad_message"
	// CodeBadEvent: the event or message that was to be written breaks a rule. Correct
	// it first.
	CodeBadEvent Code = "bad_event"
	// CodeUnknownType: there is no message of the name that was given.
	CodeUnknownType Code = "unknown_type"
	// CodeNoRandomness: the source of randomness failed. Trying again is safe.
	CodeNoRandomness Code = "no_randomness"
)

// Error is the one error type of this package.
type Error struct {
	Code       Code
	Message    string      // what was found, what was expected, what to do
	Violations []Violation // the broken rules, where there are any; errors only
	Cause      error       // the error below this one, if any
}

// Error tells the code, the message and the first broken rule.
func (e *Error) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "aaep: %s: %s", e.Code, e.Message)
	if len(e.Violations) > 0 {
		fmt.Fprintf(&b, ": %s", e.Violations[0])
	}
	if more := len(e.Violations) - 1; more > 0 {
		fmt.Fprintf(&b, " (and %d more)", more)
	}
	if e.Cause != nil {
		fmt.Fprintf(&b, ": %v", e.Cause)
	}
	return b.String()
}

// Unwrap returns the error below this one.
func (e *Error) Unwrap() error { return e.Cause }

// SafeToRetry reports whether the same call with the same input may succeed later.
func (e *Error) SafeToRetry() bool { return e.Code == CodeNoRandomness }
