package web

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/earshot-dev/earshot/api"
)

// mcpPath is where hosts of the Model Context Protocol come that connect by an address.
const mcpPath = "/mcp"

// mcpMethods and mcpHeaders are what a page of an allowed origin may use there.
const (
	mcpMethods = "DELETE, GET, POST"
	mcpHeaders = "Authorization, Content-Type, Last-Event-ID, Mcp-Method, Mcp-Name, Mcp-Protocol-Version, Mcp-Session-Id"
)

// mcpLimit is the largest message of a host's: as much as a call by the API.
const mcpLimit = 16 << 20

// mcpRoutes are not in the table of the API: what is sent and answered there is the protocol's.
func (s *Server) mcpRoutes(mux *http.ServeMux) {
	for _, method := range []string{http.MethodPost, http.MethodGet, http.MethodDelete} {
		mux.Handle(method+" "+mcpPath, s.known(api.Act, s.serveMCP))
	}
}

// serveMCP hands a request of an agent's on.
func (s *Server) serveMCP(w http.ResponseWriter, r *http.Request, v visitor) error {
	if s.options.MCP == nil {
		return refuse(api.KindNotFound, "this server serves no hosts of the Model Context Protocol", "use one that `earshot up` runs")
	}
	if len(v.Roles) != 1 { // a host is on the agent's side, and may be on no other
		return refuse(api.KindForbidden, v.Name+" is more than an agent", "use a token with the role agent and no other")
	}
	if r.Method == http.MethodPost {
		raw, err := body(w, r, mcpLimit)
		if err != nil {
			return err
		}
		r.Body = io.NopCloser(bytes.NewReader(raw))
	}
	ctx, leave := s.untilClose(r.Context())
	defer leave()
	ctx, release := s.entitledStill(ctx, v)
	defer release()
	w.Header().Set("X-Accel-Buffering", "no")
	s.options.MCP(boundedWriter{w, http.NewResponseController(w)}, r.WithContext(ctx), v.Principal, secretOf(r))
	return nil
}

// shortRequest is how long a request may be that is not watched: most are over at once.
const shortRequest = time.Second

// entitledStill is a context that ends with the visitor's right to what they have asked for. Release waits for its end.
func (s *Server) entitledStill(ctx context.Context, v visitor) (_ context.Context, release func()) {
	ctx, cancel := context.WithCancel(ctx)
	var owned sync.WaitGroup
	owned.Go(func() {
		short := time.NewTimer(shortRequest)
		defer short.Stop()
		select {
		case <-ctx.Done():
			return
		case <-short.C:
		}
		still := s.watch(v)
		changed := still.changes(ctx)
		for more := true; more; _, more = <-changed {
			if !still.valid() {
				cancel()
			}
		}
	})
	return ctx, func() {
		cancel()
		owned.Wait()
	}
}

func isMCP(r *http.Request) bool { return r.URL.Path == mcpPath }

// methodsServed are those with which something is served at all.
func methodsServed() []string { return append(api.Methods(), http.MethodDelete) }

// namesItself answers whether a host names the server's own address as its origin, which no page has: there are none under that name
// that ask for anything.
func namesItself(r *http.Request, origin string) bool {
	return isMCP(r) && isLoopback(r.Host) && origin == "http://"+r.Host
}

// secretOf is the token that a request came with; "" for a login.
func secretOf(r *http.Request) string {
	scheme, secret, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return ""
	}
	return secret
}

// boundedWriter bounds each write by itself, and not how long the whole answer takes.
type boundedWriter struct {
	http.ResponseWriter

	control *http.ResponseController
}

// Write implements http.ResponseWriter.
func (w boundedWriter) Write(p []byte) (int, error) {
	defer w.bound()()
	return w.ResponseWriter.Write(p) //nolint:wrapcheck // as the connection says it
}

// FlushError is what [http.ResponseController.Flush] calls.
func (w boundedWriter) FlushError() error {
	defer w.bound()()
	return w.control.Flush() //nolint:wrapcheck // as the connection says it
}

// Unwrap is for [http.ResponseController].
func (w boundedWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// bound begins the time that a write may take, and end ends it.
func (w boundedWriter) bound() (end func()) {
	_ = w.control.SetWriteDeadline(time.Now().Add(writeTimeout)) // not every writer has one
	return func() { _ = w.control.SetWriteDeadline(time.Time{}) }
}
