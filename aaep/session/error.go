package session

import (
	"errors"

	"github.com/earshot-dev/earshot/aaep"
)

// Code says why a [Session] refused. The codes are stable.
type Code string

// The codes. Repeating the same call does not help, except for no_randomness, and for not_sent with [Emitter.Flush].
const (
	CodeNotStarted     Code = "not_started"     // the session has no session.started yet
	CodeStarted        Code = "started"         // it has one already
	CodeEnded          Code = "ended"           // its terminal event has been built
	CodeBadCall        Code = "bad_call"        // the call id is missing, unknown, used, or of another tool
	CodeNoConsent      Code = "no_consent"      // irreversible or asked about, and no accept was recorded for this call
	CodeUnusedConsent  Code = "unused_consent"  // an accepted call was neither invoked nor stopped
	CodeUnsafeQuestion Code = "unsafe_question" // silence could count as consent, or nobody could decline
	CodeQuestionOpen   Code = "question_open"   // a question has no outcome yet, or one that is not reported yet
	CodeNoQuestion     Code = "no_question"     // there is no such open question
	CodeWrongState     Code = "wrong_state"     // the event does not fit the last reported state; call Move first
	CodeOutputComplete Code = "output_complete" // the output has had its last chunk
	CodeBadEvent       Code = "bad_event"       // the event itself breaks a rule; see Cause
	CodeNotSent        Code = "not_sent"        // the event is built, and its receiver did not accept it
	CodeNoRandomness   Code = "no_randomness"   // the source of randomness failed
)

// Error is the only error type of this package. A Session that refused is unchanged.
type Error struct {
	Code    Code
	Rule    string // the rule of the catalogue that the event would break, or ""
	Message string // what was found, what was expected, what to do
	Cause   error
}

// Error returns the code, the rule and the message.
func (e *Error) Error() string {
	text := "session: " + string(e.Code)
	if e.Rule != "" {
		text += " (" + e.Rule + ")"
	}
	text += ": " + e.Message
	if e.Cause != nil {
		text += ": " + e.Cause.Error()
	}
	return text
}

// Unwrap returns the error below this one.
func (e *Error) Unwrap() error { return e.Cause }

// SafeToRetry reports whether the same call may succeed later.
func (e *Error) SafeToRetry() bool { return e.Code == CodeNoRandomness }

// refuse is an error that names a rule.
func refuse(code Code, rule, message string) *Error {
	return &Error{Code: code, Rule: rule, Message: message}
}

// wrap turns an error of package aaep into one of this package.
func wrap(message string, err error) error {
	wrapped := &Error{Code: CodeBadEvent, Message: message, Cause: err}
	below, ok := errors.AsType[*aaep.Error](err)
	if !ok {
		return wrapped
	}
	if below.Code == aaep.CodeNoRandomness {
		wrapped.Code = CodeNoRandomness
	}
	if len(below.Violations) > 0 {
		wrapped.Rule = below.Violations[0].Rule
	}
	return wrapped
}
