package llm

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
)

const (
	// statusOverloaded is Anthropic's own status of a server that is too busy.
	statusOverloaded = 529

	attempts   = 8
	firstWait  = time.Second
	longest    = time.Minute
	longestAsk = 10 * time.Minute // that a server may ask for
	maxWords   = 300
)

var errStalled = errors.New("the server sent nothing for " + strconv.Itoa(int(stallTime.Minutes())) + " minutes")

// ServerError is a refusal of the server.
type ServerError struct {
	Status  int
	Message string        // the server's own words
	After   time.Duration // when the server wants to be asked again; 0 says nothing
	// TooLong means that the conversation is longer than the model can read.
	TooLong bool
}

func (f *ServerError) Error() string {
	text := map[bool]string{true: ": " + f.Message}[f.Message != ""]
	switch {
	case f.Status == http.StatusTooManyRequests:
		return "the model's server is asked too often" + text
	case f.Status == http.StatusUnauthorized || f.Status == http.StatusForbidden:
		return "the model's server does not accept the key" + text
	case f.TooLong:
		return "the conversation is longer than the model can read" + text
	case f.Busy():
		return "the model's server is overloaded or out of order" + text
	}
	return fmt.Sprintf("the model's server refused the request (HTTP %d)%s", f.Status, text)
}

// Busy reports whether another attempt may succeed.
func (f *ServerError) Busy() bool {
	return f.Status == http.StatusTooManyRequests || f.Status == http.StatusRequestTimeout || f.Status >= http.StatusInternalServerError
}

// Denied reports whether the server does not accept the key.
func (f *ServerError) Denied() bool {
	return f.Status == http.StatusUnauthorized || f.Status == http.StatusForbidden
}

// KeyError means that the key could not be read. Nothing was sent.
type KeyError struct{ Err error }

func (e *KeyError) Error() string { return "the model's key cannot be read: " + e.Err.Error() }
func (e *KeyError) Unwrap() error { return e.Err }

// ListenerError is an error of a [Listener].
type ListenerError struct{ Err error }

func (e *ListenerError) Error() string { return e.Err.Error() }
func (e *ListenerError) Unwrap() error { return e.Err }

// UnreachableError means that no server answered.
type UnreachableError struct{ Err error }

func (e *UnreachableError) Error() string {
	return "the model's server cannot be reached: " + e.Err.Error()
}
func (e *UnreachableError) Unwrap() error { return e.Err }

func unreachable(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil {
		err = cause
	}
	return &UnreachableError{Err: err}
}

// failure makes an error from a refusal. Some servers repeat the key in it.
func failure(r *http.Response, body []byte, key string) error {
	f := &ServerError{Status: r.StatusCode, After: after(r.Header.Get("Retry-After"))}
	var told struct {
		Error struct {
			Message string `json:"message"`
		} `json:"error"`
	}
	if json.Unmarshal(body, &told) == nil {
		f.Message = told.Error.Message
	}
	if key != "" {
		f.Message = strings.ReplaceAll(f.Message, key, "(the key)")
	}
	f.Message = strings.Join(strings.Fields(f.Message), " ")
	if words := []rune(f.Message); len(words) > maxWords {
		f.Message = string(words[:maxWords]) + "…"
	}
	f.TooLong = tooLong(f)
	return f
}

// tooLong recognizes the words of the servers: there is no code for it.
func tooLong(f *ServerError) bool {
	if f.Status != http.StatusBadRequest && f.Status != http.StatusRequestEntityTooLarge {
		return false
	}
	words := strings.ToLower(f.Message)
	for _, known := range []string{"prompt is too long", "context length", "context window", "context size", "maximum context", "too many tokens"} {
		if strings.Contains(words, known) {
			return true
		}
	}
	return f.Status == http.StatusRequestEntityTooLarge
}

func after(header string) time.Duration {
	seconds, err := strconv.ParseFloat(strings.TrimSpace(header), 64)
	if err != nil || seconds <= 0 || seconds > longestAsk.Seconds() {
		return 0
	}
	return time.Duration(seconds * float64(time.Second))
}

// retry returns how long to wait before the next attempt, and whether there is one.
func retry(err error, attempt int) (time.Duration, bool) {
	if attempt >= attempts {
		return 0, false
	}
	wait := min(firstWait<<(attempt-1), longest)
	wait += rand.N(wait / 4) //nolint:gosec // It spreads the requests of many clients.
	if refused, is := errors.AsType[*ServerError](err); is {
		wait = max(wait, refused.After)
	}
	return wait, Passing(err)
}

// Passing reports whether the same request may succeed at another time.
func Passing(err error) bool {
	if refused, is := errors.AsType[*ServerError](err); is {
		return refused.Busy()
	}
	_, away := errors.AsType[*UnreachableError](err)
	return away || errors.Is(err, ErrIncomplete)
}
