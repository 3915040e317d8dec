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

// Refusal is an error that is sent to the client as it is. Ports return or wrap it. Any other error is logged, and the
// client only learns that one occurred.
type Refusal struct { //nolint:errname // it is what a client is told; on the way it is an error
	Kind    api.Kind
	Code    string        // default: the kind
	Message string        // what was found and what was expected
	Hint    string        // what to do
	After   time.Duration // when a retry makes sense; 0 if unknown
	Field   string        // the field of the page's form that it is about; "" if it is about none
	Closed  *api.Closed   // how the question ended, if a command came too late
	Cause   error
}

// Error returns the kind, the message and the cause.
func (r *Refusal) Error() string {
	if r.Cause != nil {
		return fmt.Sprintf("web: %s: %s: %v", r.Kind, r.Message, r.Cause)
	}
	return fmt.Sprintf("web: %s: %s", r.Kind, r.Message)
}

// Unwrap returns the cause.
func (r *Refusal) Unwrap() error { return r.Cause }

// SafeToRetry reports whether the same request may succeed later.
func (r *Refusal) SafeToRetry() bool { return r.Kind == api.KindBusy || r.Kind == api.KindUnavailable }

func (r *Refusal) code() string {
	if r.Code != "" {
		return r.Code
	}
	return string(r.Kind)
}

func (r *Refusal) status() int { return r.Kind.Status() }

func refuse(kind api.Kind, message, hint string) *Refusal {
	return &Refusal{Kind: kind, Message: message, Hint: hint}
}

// refusalOf converts any error to what the client gets.
func (s *Server) refusalOf(r *http.Request, err error) *Refusal {
	if refusal, ok := errors.AsType[*Refusal](err); ok {
		return refusal
	}
	if big, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return refuse(api.KindTooLarge, fmt.Sprintf("the body is larger than %d bytes", big.Limit), "send less")
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return &Refusal{
			Kind: api.KindUnavailable, Message: "no answer came in time; whether anything was done is not known", Hint: "look at the questions and sessions, and try again",
			After: time.Second, Cause: err,
		}
	}
	if !errors.Is(err, context.Canceled) {
		s.log.ErrorContext(r.Context(), "request failed", "method", r.Method, "path", r.URL.Path, "error", err)
	}
	return &Refusal{
		Kind: api.KindInternal, Message: "the server could not do this", Hint: "look into the server's log; whether it was done is not known", Cause: err,
	}
}

// fail answers with a refusal: as a page if one is wanted, otherwise as JSON.
func (s *Server) fail(w http.ResponseWriter, r *http.Request, err error) {
	refusal := s.refusalOf(r, err)
	if refusal.After > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(int((refusal.After+time.Second-1)/time.Second)))
	}
	if refusal.Kind == api.KindUnauthenticated {
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
	writeJSON(w, r.status(), api.Failure{Error: r.body()})
}

// body returns a refusal as the client gets it.
func (r *Refusal) body() api.FailureBody {
	return api.FailureBody{Code: r.code(), Message: r.Message, Hint: r.Hint, Retry: r.SafeToRetry(), Closed: r.Closed}
}

// writeJSON answers with a JSON document. It ignores write errors: the client has gone away.
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
		w.Header().Set("Content-Length", strconv.Itoa(len(body))) // so the client knows that it is complete once it is flushed
	}
	w.WriteHeader(status)
	_, _ = w.Write(body) //nolint:gosec // it is JSON, never a page; a client that has gone is not told
}
