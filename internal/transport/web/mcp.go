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

// mcpPath is the endpoint for hosts of the Model Context Protocol that connect by HTTP.
const mcpPath = "/mcp"

// mcpMethods and mcpHeaders are what a page of an allowed origin may use there.
const (
	mcpMethods = "DELETE, GET, POST"
	mcpHeaders = "Authorization, Content-Type, Last-Event-ID, Mcp-Method, Mcp-Name, Mcp-Protocol-Version, Mcp-Session-Id"
)

// mcpLimit is the largest message of a host, the same as for a call by the API.
const mcpLimit = 16 << 20

// mcpRoutes are not in the API's table: their content is defined by MCP.
func (s *Server) mcpRoutes(mux *http.ServeMux) {
	for _, method := range []string{http.MethodPost, http.MethodGet, http.MethodDelete} {
		mux.Handle(method+" "+mcpPath, s.known(api.Act, s.serveMCP))
	}
}

// serveMCP forwards a request of an agent.
func (s *Server) serveMCP(w http.ResponseWriter, r *http.Request, v visitor) error {
	if s.options.MCP == nil {
		return refuse(api.KindNotFound, "this server serves no hosts of the Model Context Protocol", "use one that `earshot up` runs")
	}
	if len(v.Roles) != 1 { // a host acts for an agent, and must have no other role
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

// shortRequest is how long a request may take before its right is watched: most end sooner.
const shortRequest = time.Second

// entitledStill returns a context that ends when the visitor loses the right to the request. release waits for its end.
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
		changed := still.Changes(ctx)
		for more := true; more; _, more = <-changed {
			if !still.Valid() {
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

// methodsServed returns all methods that any route serves.
func methodsServed() []string { return append(api.Methods(), http.MethodDelete) }

// namesItself reports whether a host, or a library for WebSockets, sends the server's own address as its origin. That is safe: no page
// under that name makes requests.
func (s *Server) namesItself(r *http.Request, origin string) bool {
	return (isMCP(r) || isSocket(r)) && s.named(r.Host) && origin == "http://"+r.Host
}

// secretOf returns the token of a request; "" for a login.
func secretOf(r *http.Request) string {
	scheme, secret, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return ""
	}
	return secret
}

// boundedWriter limits the time of each write, not of the whole answer.
type boundedWriter struct {
	http.ResponseWriter

	control *http.ResponseController
}

// Write implements http.ResponseWriter.
func (w boundedWriter) Write(p []byte) (int, error) {
	defer w.bound()()
	return w.ResponseWriter.Write(p) //nolint:wrapcheck // as the connection says it
}

// FlushError is called by [http.ResponseController.Flush].
func (w boundedWriter) FlushError() error {
	defer w.bound()()
	return w.control.Flush() //nolint:wrapcheck // as the connection says it
}

// Unwrap is used by [http.ResponseController].
func (w boundedWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// bound sets the deadline of a write, and end removes it.
func (w boundedWriter) bound() (end func()) {
	_ = w.control.SetWriteDeadline(time.Now().Add(writeTimeout)) // not every writer has one
	return func() { _ = w.control.SetWriteDeadline(time.Time{}) }
}
