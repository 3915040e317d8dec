package subscribe

import (
	"fmt"
	"net/http"
	"time"

	"github.com/earshot-dev/earshot/aaep"
)

// Code is the kind of failure of an [Error]. A producer that says why it refuses does so in a word of its own, which is the code then.
type Code string

// The codes of this package.
const (
	CodeUsage           Code = "usage"                   // the options, or the message to send, are invalid
	CodeInsecure        Code = "insecure"                // the token would travel unencrypted
	CodeUnreachable     Code = "unreachable"             // the producer does not answer; what was sent may have arrived or not
	CodeStrange         Code = "strange"                 // what comes is not AAEP
	CodeUnauthenticated Code = "authentication_required" // the token is not accepted
	CodeForbidden       Code = "authorization_denied"    // the token may not do this
	CodeNotFound        Code = "not_found"               // there is no such subscription, or no producer at that address
	CodeLost            Code = "messages_lost"           // messages may be missing here; the sequence goes on
	CodeUnreadable      Code = "unreadable"              // a message is not an event that can be acted on; the sequence goes on
	CodeUnanswerable    Code = "unanswerable"            // the producer takes no messages: its stream wants no subscription
	CodeReplyRefused    Code = "reply_refused"           // a reply did not count; the sequence goes on
	CodeUntrusted       Code = "untrusted"               // only a signed manifest will do, and there is none that holds
)

// Error is every failure of this package.
type Error struct {
	Code    Code
	Message string // what was found and what was expected
	Hint    string // what to do; may be ""
	// Retry says that another attempt may succeed, and has no second effect.
	Retry bool
	// After is how long to wait before another attempt; 0 if the producer did not say.
	After time.Duration
	// Raw is the message that it is about, for CodeUnreadable and CodeReplyRefused.
	Raw []byte
	Err error
}

// Error returns the message and the hint.
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
	other, is := target.(*Error)
	return is && other.Code == e.Code
}

// Passing reports whether a sequence goes on after this error.
func (e *Error) Passing() bool {
	return e.Code == CodeLost || e.Code == CodeUnreadable || e.Code == CodeReplyRefused
}

// ErrLost is for [errors.Is].
var ErrLost = &Error{Code: CodeLost, Message: "messages may be missing"}

// rejected is the refusal of a subscription.
func rejected(r aaep.SubscriptionRejected) *Error {
	e := &Error{
		Code: Code(r.ReasonCode), Message: "the producer does not let this listener in: " + r.ReasonMessage, Hint: "check the token and its rights, and the terms that were asked for",
		After: time.Duration(r.RetryAfterSeconds) * time.Second,
	}
	switch r.ReasonCode {
	case aaep.ReasonRateLimit, aaep.ReasonTransportUnavailable:
		e.Retry, e.Hint = true, "try again later"
	case aaep.ReasonManifestSignatureRequired:
		e.Message, e.Hint = "the producer shows no signed manifest: "+r.ReasonMessage, "ask its maker for one, or name no keys if you know by other means who it is"
	default:
	}
	return e
}

// refused is the refusal of a request over HTTP, in the producer's words if it has any.
func refused(host, path string, status int, raw []byte) *Error {
	if r, err := aaep.DecodeSubscriptionRejected(raw); err == nil {
		return rejected(r)
	}
	e := &Error{
		Code: CodeNotFound, Message: fmt.Sprintf("%s answers \"%d %s\" to %s, expected a stream", host, status, http.StatusText(status), path),
		Hint: "check the address, and the token and its rights", Retry: status >= http.StatusInternalServerError,
	}
	body := aaep.Read(raw)
	if code, ok := body.Text("error", "code"); ok {
		e.Code = Code(code)
		e.Message, _ = body.Text("error", "message")
		e.Hint, _ = body.Text("error", "hint")
		e.Retry, _ = body.Flag("error", "safe_to_retry")
	}
	switch status {
	case http.StatusUnauthorized:
		e.Code = CodeUnauthenticated
	case http.StatusForbidden:
		e.Code = CodeForbidden
	case http.StatusNotFound:
		e.Code = CodeNotFound
	}
	return e
}
