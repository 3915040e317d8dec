package mcp

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"runtime/debug"
	"sync"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// exchange is one open HTTP request.
type exchange struct {
	host   *host
	ctx    context.Context //nolint:containedctx // it is the life of the request, beside the library's own
	cancel context.CancelCauseFunc
	off    func() bool
	id     string // the message's
	// listens means that the host receives notifications of changes; guarded by the mutex of the [HTTP].
	listens bool

	mu   sync.Mutex
	sent []string // calls whose results are in the answer
	left bool     // the host was still connected when the answer was sent
}

type exchangeKey struct{}

// context returns a context that carries the exchange to the library's handlers.
func (e *exchange) context() context.Context {
	return context.WithValue(e.ctx, exchangeKey{}, e)
}

func exchangeOf(ctx context.Context) *exchange {
	e, _ := ctx.Value(exchangeKey{}).(*exchange)
	return e
}

// whileOpen cancels the work for a request once the host has disconnected. The library itself would continue with it,
// and an accept would start a call that nobody waits for.
func whileOpen(next sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, method string, r sdk.Request) (result sdk.Result, err error) {
		e := exchangeOf(ctx)
		defer func() { // this runs in a goroutine of the library, which does not recover panics
			if p := recover(); p != nil {
				e.host.gateway.o.Logger.Error("a request of a host has failed", "method", method, "panic", p, "stack", string(debug.Stack()))
				err = errors.New("the server could not do this; whether it was done is not known")
			}
		}()
		ctx, cancel := context.WithCancelCause(ctx)
		defer cancel(nil)
		defer context.AfterFunc(e.ctx, func() { cancel(context.Cause(e.ctx)) })()
		result, err = next(ctx, method, r)
		if call, of := metaOf(result)[callMeta].(string); of && err == nil {
			e.sends(call)
		}
		return result, err
	}
}

// metaOf returns the metadata of a call's result.
func metaOf(result sdk.Result) sdk.Meta {
	switch r := result.(type) {
	case *sdk.CallToolResult:
		if r != nil {
			return r.Meta
		}
	case *sdk.ReadResourceResult:
		if r != nil {
			return r.Meta
		}
	case *sdk.GetPromptResult:
		if r != nil {
			return r.Meta
		}
	}
	return nil
}

// sends records that the result of a call is about to be sent.
func (e *exchange) sends(call string) {
	e.host.gateway.receipts.begin()
	e.mu.Lock()
	defer e.mu.Unlock()
	e.sent = append(e.sent, call)
}

// answered acknowledges the results in the answer if the host was still connected.
func (e *exchange) answered() {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, call := range e.sent {
		if e.left {
			e.host.gateway.received(e.ctx, call)
		}
		e.host.gateway.receipts.end()
	}
	e.sent = nil
}

// trackedWriter is a response writer that records whether the host was connected when the answer was sent. The library
// flushes each of its writes.
type trackedWriter struct {
	http.ResponseWriter

	e *exchange
}

// Write implements http.ResponseWriter.
func (w trackedWriter) Write(p []byte) (int, error) {
	there := w.e.ctx.Err() == nil // a host that has disconnected by now did not get it; one that disconnects later may have
	n, err := w.ResponseWriter.Write(p)
	w.e.mu.Lock()
	defer w.e.mu.Unlock()
	w.e.left = there && err == nil
	return n, err //nolint:wrapcheck // as the connection says it
}

// FlushError is called by [http.ResponseController.Flush].
func (w trackedWriter) FlushError() error {
	err := http.NewResponseController(w.ResponseWriter).Flush()
	if err != nil {
		w.e.mu.Lock()
		defer w.e.mu.Unlock()
		w.e.left = false
	}
	return err //nolint:wrapcheck // as the connection says it
}

// Unwrap is used by [http.ResponseController].
func (w trackedWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// message is what must be known of a message before the library parses it.
type message struct {
	Method string         `json:"method"`
	ID     jsontext.Value `json:"id"`
	Params params         `json:"params"`
}

type params struct {
	ClientInfo clientInfo                `json:"clientInfo"` //nolint:tagliatelle // the protocol's names
	RequestID  jsontext.Value            `json:"requestId"`  //nolint:tagliatelle // the same
	Meta       map[string]jsontext.Value `json:"_meta"`      //nolint:tagliatelle // the same
}

type clientInfo struct {
	Name string `json:"name"`
}

func readMessage(raw []byte) (m message, err error) {
	err = json.Unmarshal(raw, &m)
	return m, err //nolint:wrapcheck // the caller says what it is about
}

// client returns the host's own name: it is in the first message or in each one.
func (m message) client() string {
	var said clientInfo
	if raw := m.Params.Meta["io.modelcontextprotocol/clientInfo"]; raw != nil && json.Unmarshal(raw, &said) == nil {
		return said.Name
	}
	return m.Params.ClientInfo.Name
}

// refusal is the answer to a request that is not served.
type refusal struct {
	status int
	text   string
}

func (r *refusal) write(w http.ResponseWriter) {
	if r.status == http.StatusTooManyRequests || r.status == http.StatusServiceUnavailable {
		w.Header().Set("Retry-After", "2")
	}
	http.Error(w, r.text, r.status)
}

// wallOf returns the time after which an open call is answered, if the address has it: /mcp?answer-before=50s.
func wallOf(r *http.Request) time.Duration {
	d, err := time.ParseDuration(r.URL.Query().Get("answer-before"))
	if err != nil || d < time.Second {
		return 0
	}
	return d
}

// sessionOfAddress distinguishes hosts with the same name and token, if their addresses do: /mcp?session=photos. In
// protocol versions without session ids, nothing else in their requests does.
func sessionOfAddress(r *http.Request) string {
	if name := r.URL.Query().Get("session"); name != "" {
		return ", " + nameIn(name)
	}
	return ""
}

// important drops the library's log entries about each request.
func important(l *slog.Logger) *slog.Logger { return slog.New(warnings{l.Handler()}) }

type warnings struct{ slog.Handler }

// Enabled implements slog.Handler.
func (h warnings) Enabled(ctx context.Context, level slog.Level) bool {
	return level >= slog.LevelWarn && h.Handler.Enabled(ctx, level)
}

func (h warnings) WithAttrs(attrs []slog.Attr) slog.Handler {
	return warnings{h.Handler.WithAttrs(attrs)}
}

func (h warnings) WithGroup(name string) slog.Handler { return warnings{h.Handler.WithGroup(name)} }
