package web

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/earshot-dev/earshot/api"
)

// Kind says what sort of refusal it is; the word is the code that a client sees when
// the refusal has no code of its own.
type Kind string

// The kinds of refusal and the HTTP status of each. A retry of the same request is safe
// after busy and unavailable, and useless after the others.
const (
	KindInvalid         Kind = "bad_request"             // 400
	KindUnauthenticated Kind = "authentication_required" // 401
	KindForbidden       Kind = "authorization_denied"    // 403
	KindNotFound        Kind = "not_found"               // 404
	KindMethod          Kind = "method_not_allowed"      // 405: Allow names those that are
	KindConflict        Kind = "conflict"                // 409: something else happened first
	KindTooLarge        Kind = "body_too_large"          // 413
	KindMedia           Kind = "unsupported_media_type"  // 415
	KindMisdirected     Kind = "wrong_host"              // 421
	KindBusy            Kind = "rate_limit"              // 429
	KindUnavailable     Kind = "unavailable"             // 503
	KindUncertain       Kind = "outcome_unknown"         // 504: it may have been done
)

// Refusal is an error that is told to the client as it stands. Ports return it, or
// wrap it; any other error is logged, and the client learns only that it happened.
type Refusal struct { //nolint:errname // it is what a client is told; on the way it is an error
	Kind    Kind
	Code    string        // default: the kind
	Message string        // what was found and what was expected
	Hint    string        // what to do
	After   time.Duration // when a retry makes sense; 0 is not said
	Closed  *api.Closed   // how the question ended, where a word on it came too late
	Cause   error
}

// Error tells the kind, the message and the cause.
func (r *Refusal) Error() string {
	if r.Cause != nil {
		return fmt.Sprintf("web: %s: %s: %v", r.Kind, r.Message, r.Cause)
	}
	return fmt.Sprintf("web: %s: %s", r.Kind, r.Message)
}

// Unwrap returns the error below this one.
func (r *Refusal) Unwrap() error { return r.Cause }

// SafeToRetry answers whether the same request may succeed later.
func (r *Refusal) SafeToRetry() bool { return r.Kind == KindBusy || r.Kind == KindUnavailable }

func (r *Refusal) code() string {
	if r.Code != "" {
		return r.Code
	}
	return string(r.Kind)
}

func (r *Refusal) status() int {
	switch r.Kind {
	case KindInvalid:
		return http.StatusBadRequest
	case KindUnauthenticated:
		return http.StatusUnauthorized
	case KindForbidden:
		return http.StatusForbidden
	case KindNotFound:
		return http.StatusNotFound
	case KindMethod:
		return http.StatusMethodNotAllowed
	case KindConflict:
		return http.StatusConflict
	case KindTooLarge:
		return http.StatusRequestEntityTooLarge
	case KindMedia:
		return http.StatusUnsupportedMediaType
	case KindMisdirected:
		return http.StatusMisdirectedRequest
	case KindBusy:
		return http.StatusTooManyRequests
	case KindUnavailable:
		return http.StatusServiceUnavailable
	case KindUncertain:
		return http.StatusGatewayTimeout
	}
	return http.StatusInternalServerError
}

func refuse(kind Kind, message, hint string) *Refusal {
	return &Refusal{Kind: kind, Message: message, Hint: hint}
}

// told turns any error into what the client is told.
func (s *Server) told(r *http.Request, err error) *Refusal {
	if refusal, ok := errors.AsType[*Refusal](err); ok {
		return refusal
	}
	if big, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return refuse(KindTooLarge, fmt.Sprintf("the body is larger than %d bytes", big.Limit), "send less")
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return &Refusal{
			Kind: KindUnavailable, Message: "no answer came in time; whether anything was done is not known", Hint: "look at the questions and sessions, and try again",
			After: time.Second, Cause: err,
		}
	}
	if !errors.Is(err, context.Canceled) {
		s.log.ErrorContext(r.Context(), "request failed", "method", r.Method, "path", r.URL.Path, "error", err)
	}
	return &Refusal{
		Kind: "internal_error", Message: "the server could not do this", Hint: "look into the server's log; whether it was done is not known", Cause: err,
	}
}

// fail answers with a refusal: a page where a page is wanted, else JSON.
func (s *Server) fail(w http.ResponseWriter, r *http.Request, err error) {
	refusal := s.told(r, err)
	if refusal.After > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(int((refusal.After+time.Second-1)/time.Second)))
	}
	if refusal.Kind == KindUnauthenticated {
		w.Header().Set("WWW-Authenticate", `Bearer realm="earshot"`)
	}
	if wantsPage(r) {
		s.failPage(w, r, refusal)
		return
	}
	refusal.write(w)
}

// write answers with a refusal as JSON.
func (r *Refusal) write(w http.ResponseWriter) {
	writeJSON(w, r.status(), api.Failure{Error: api.FailureBody{
		Code: r.code(), Message: r.Message, Hint: r.Hint, Retry: r.SafeToRetry(), Closed: r.Closed,
	}})
}

// writeJSON answers with a JSON document. A client that has gone away is not told.
func writeJSON(w http.ResponseWriter, status int, value any) {
	body, err := json.Marshal(value, json.Deterministic(true))
	if err != nil {
		status, body = http.StatusInternalServerError, []byte(`{"error":{"code":"internal_error","message":"the answer could not be written","safe_to_retry":false}}`)
	}
	writeRaw(w, status, body)
}

func writeRaw(w http.ResponseWriter, status int, body []byte) {
	body = append(body, '\n')
	w.Header().Set("Content-Type", "application/json")
	if status != http.StatusNoContent {
		w.Header().Set("Content-Length", strconv.Itoa(len(body))) // it is whole once it was flushed, whatever is done after it
	}
	w.WriteHeader(status)
	_, _ = w.Write(body) //nolint:gosec // it is JSON, never a page; a client that has gone is not told
}
