package api

import (
	"errors"
	"fmt"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/utp"
)

// Fault is the refusal of an operation: `{"error":{"code","message","safe_to_retry"}}`.
type Fault struct {
	Code    utp.Code `json:"code"`
	Message string   `json:"message"`
	// Retry reports that the same request may be repeated without a second effect.
	Retry bool `json:"safe_to_retry"`
	// Closed says how a question ended, if a request about it came too late.
	Closed *Closed `json:"closed,omitzero"`
}

// Closed says how a question ended, for a request that came too late.
type Closed struct {
	Question int `json:"question"`
	// Resolution is accepted, rejected, answered, expired or withdrawn.
	Resolution string `json:"resolution"`
	// By and Surface are who answered and where, if anyone did; At is when it ended.
	By      string    `json:"by,omitzero"`
	Surface string    `json:"surface,omitzero"`
	At      time.Time `json:"at"`
}

func (f *Fault) Error() string { return string(f.Code) + ": " + f.Message }

// Plain returns the message without the code, for a person.
func (f *Fault) Plain() string { return f.Message }

// SafeToRetry reports whether the same request may be repeated.
func (f *Fault) SafeToRetry() bool { return f.Retry }

// verbatim retains the literal form of strings in raw values: consented arguments are sent unchanged.
var verbatim = jsontext.PreserveRawStrings(true)

type answer struct {
	OK    jsontext.Value `json:"ok,omitzero"`
	Error *Fault         `json:"error,omitzero"`
}

// EncodeAnswer writes `{"ok":value}`, or `{"error":…}` if err is not nil. An error that is not a [*Fault] becomes
// internal_error.
func EncodeAnswer(value any, err error) []byte {
	if err == nil {
		raw, merr := json.Marshal(value, verbatim)
		if merr == nil {
			out, _ := json.Marshal(answer{OK: raw}, verbatim)
			return out
		}
		err = merr
	}
	var fault *Fault
	if !errors.As(err, &fault) {
		fault = &Fault{Code: utp.CodeInternalError, Message: err.Error()}
	}
	out, _ := json.Marshal(answer{Error: fault})
	return out
}

// DecodeAnswer reads an answer into the value, or returns its [*Fault].
func DecodeAnswer(raw []byte, into any) error {
	var a answer
	if err := json.Unmarshal(raw, &a); err != nil {
		return fmt.Errorf("answer of the kernel: %w", err)
	}
	if a.Error != nil {
		return a.Error
	}
	if into == nil {
		return nil
	}
	if err := json.Unmarshal(a.OK, into); err != nil {
		return fmt.Errorf("answer of the kernel: %w", err)
	}
	return nil
}

// NewFault makes a protocol error.
func NewFault(code utp.Code, message string) error {
	return &Fault{Code: code, Message: message, Retry: code.SafeToRetry()}
}
