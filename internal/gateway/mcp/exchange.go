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

// exchange is one request by HTTP, for as long as it is open.
type exchange struct {
	host   *host
	ctx    context.Context //nolint:containedctx // it is the life of the request, beside the library's own
	cancel context.CancelCauseFunc
	off    func() bool
	id     string // the message's
	// listens says that the host is told of changes; guarded by the mutex of the [HTTP].
	listens bool

	mu   sync.Mutex
	sent []string // calls whose results are in the answer
	left bool     // the host was there when the answer left
}

type exchangeKey struct{}

// context is one that tells the library's handlers which request they work for.
func (e *exchange) context() context.Context {
	return context.WithValue(e.ctx, exchangeKey{}, e)
}

func exchangeOf(ctx context.Context) *exchange {
	e, _ := ctx.Value(exchangeKey{}).(*exchange)
	return e
}

// whileOpen ends what is done for a request once the host has hung up: the library goes on with it, and a yes would start what
// nobody waits for.
func whileOpen(next sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, method string, r sdk.Request) (result sdk.Result, err error) {
		e := exchangeOf(ctx)
		defer func() { // it runs in a goroutine of the library's, which does not catch what panics
			if p := recover(); p != nil {
				e.host.gateway.o.Logger.Error("a request of a host has failed", "method", method, "panic", p, "stack", string(debug.Stack()))
				err = errors.New("the server could not do this; whether it was done is not known")
			}
		}()
		ctx, cancel := context.WithCancelCause(ctx)
		defer cancel(nil)
		defer context.AfterFunc(e.ctx, func() { cancel(context.Cause(e.ctx)) })()
		result, err = next(ctx, method, r)
		if answer, is := result.(*sdk.CallToolResult); is && answer != nil {
			if call, of := answer.Meta[callMeta].(string); of {
				e.sends(call)
			}
		}
		return result, err
	}
}

// sends notes that the result of a call is about to leave.
func (e *exchange) sends(call string) {
	e.host.gateway.receipts.begin()
	e.mu.Lock()
	defer e.mu.Unlock()
	e.sent = append(e.sent, call)
}

// answered notes whether the host has the results in the answer.
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

// trackedWriter is an answer that notes whether it has left while the host was there. Each of its writes is flushed by the library.
type trackedWriter struct {
	http.ResponseWriter

	e *exchange
}

// Write implements http.ResponseWriter.
func (w trackedWriter) Write(p []byte) (int, error) {
	there := w.e.ctx.Err() == nil // what has hung up by then did not get it; what hangs up later may have
	n, err := w.ResponseWriter.Write(p)
	w.e.mu.Lock()
	defer w.e.mu.Unlock()
	w.e.left = there && err == nil
	return n, err //nolint:wrapcheck // as the connection says it
}

// FlushError is what [http.ResponseController.Flush] calls.
func (w trackedWriter) FlushError() error {
	err := http.NewResponseController(w.ResponseWriter).Flush()
	if err != nil {
		w.e.mu.Lock()
		defer w.e.mu.Unlock()
		w.e.left = false
	}
	return err //nolint:wrapcheck // as the connection says it
}

// Unwrap is for [http.ResponseController].
func (w trackedWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// message is what has to be known of a message before the library reads it.
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

// client is what the host calls itself: once at first, or with each message.
func (m message) client() string {
	var said clientInfo
	if raw := m.Params.Meta["io.modelcontextprotocol/clientInfo"]; raw != nil && json.Unmarshal(raw, &said) == nil {
		return said.Name
	}
	return m.Params.ClientInfo.Name
}

// refusal is what a request is answered with that is not served.
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

// wallOf is after how long a call is to be answered that is still open, where the address says so: /mcp?answer-before=50s.
func wallOf(r *http.Request) time.Duration {
	d, err := time.ParseDuration(r.URL.Query().Get("answer-before"))
	if err != nil || d < time.Second {
		return 0
	}
	return d
}

// important passes on what is more than the library's word on each request.
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
