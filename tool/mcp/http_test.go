package mcp_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/earshot-dev/earshot/tool"
	"github.com/earshot-dev/earshot/utp"
)

// site is a server over HTTP.
type site struct {
	*httptest.Server

	mu     sync.Mutex
	before func(w http.ResponseWriter, r *http.Request) bool // reports whether it has answered itself
	tokens []string

	hangs, stops chan struct{} // the tool hang was called, and cancelled
}

func newSite(t *testing.T, stateless bool) *site {
	t.Helper()
	server := newServer("usual")
	inner := sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return server }, &sdk.StreamableHTTPOptions{Stateless: stateless})
	s := &site{hangs: make(chan struct{}), stops: make(chan struct{})}
	server.AddTool(&sdk.Tool{Name: "hang", InputSchema: object(`{}`)}, func(ctx context.Context, _ *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		close(s.hangs)
		<-ctx.Done()
		close(s.stops)
		return nil, ctx.Err()
	})
	server.AddReceivingMiddleware(func(next sdk.MethodHandler) sdk.MethodHandler {
		return func(ctx context.Context, method string, r sdk.Request) (sdk.Result, error) {
			result, err := next(ctx, method, r)
			if list, is := result.(*sdk.ListToolsResult); is {
				list.TTLMs = 3_600_000
			}
			return result, err
		}
	})
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		s.tokens = append(s.tokens, r.Header.Get("Authorization"))
		before := s.before
		s.mu.Unlock()
		if before == nil || !before(w, r) {
			inner.ServeHTTP(w, r)
		}
	}))
	t.Cleanup(func() {
		s.CloseClientConnections()
		s.Close()
	})
	return s
}

func (s *site) intercept(before func(w http.ResponseWriter, r *http.Request) bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.before = before
}

// reached runs a server at an address until the test ends.
func reached(t *testing.T, url string) *scene {
	t.Helper()
	s := newScene(t, "mcp:\n  scene:\n    url: "+url+"\n    headers: {Authorization: \"Bearer {token}\"}\n    secrets: {token: {env: SECRET_OF_TEST}}\n")
	s.run()
	s.offered()
	return s
}

func isCall(r *http.Request) bool {
	return r.Method == http.MethodPost && r.Header.Get("Mcp-Method") == "tools/call"
}

// TestHTTP: a server at an address gets its credentials with each request, and its tools are the same.
func TestHTTP(t *testing.T) {
	t.Parallel()
	for _, stateless := range []bool{false, true} { // the protocol's older and newest form
		web := newSite(t, stateless)
		s := reached(t, web.URL)
		got := s.call("echo", `{"word":"hello"}`, utp.Irreversible)
		if got.err != nil || !strings.Contains(got.text, "hello") {
			t.Errorf("echo: %v, %s", got.err, got.text)
		}
		got = s.call("ask", `{}`, utp.Irreversible)
		if got.err != nil || !strings.Contains(got.text, "not done: decline") || !slices.Equal(got.Declined, []string{"Really do it?"}) {
			t.Errorf("ask: %v, %s", got.err, got.text)
		}
		web.mu.Lock()
		if slices.ContainsFunc(web.tokens, func(token string) bool { return token != "Bearer "+secret }) {
			t.Errorf("the tokens were %q", web.tokens)
		}
		web.mu.Unlock()
	}
}

// TestHTTPChanged: a server that says that its list holds for an hour is asked again all the same.
func TestHTTPChanged(t *testing.T) {
	t.Parallel()
	for _, stateless := range []bool{false, true} {
		s := reached(t, newSite(t, stateless).URL)
		before := s.tool("plain")
		if got := s.call("change", `{"word":"x"}`, utp.Irreversible); got.err != nil {
			t.Fatal(got.err)
		}
		wantError(t, s.calls(t.Context(), before, `{}`, utp.Irreversible), utp.CodeChangedSinceReview, "earshot tools review scene.plain")
	}
}

// TestHTTPTrouble: only what is known to have had no effect is said to have had none.
func TestHTTPTrouble(t *testing.T) {
	t.Parallel()
	cut := func(w http.ResponseWriter) {
		if conn, _, err := http.NewResponseController(w).Hijack(); err == nil {
			_ = conn.Close()
		}
	}
	for name, row := range map[string]struct {
		answer    func(http.ResponseWriter)
		class     utp.Class
		want      utp.Code
		untouched bool
	}{
		"unauthorized":      {func(w http.ResponseWriter) { w.WriteHeader(http.StatusUnauthorized) }, utp.Irreversible, utp.CodeAuthFailed, true},
		"too many":          {func(w http.ResponseWriter) { w.WriteHeader(http.StatusTooManyRequests) }, utp.Irreversible, utp.CodeUpstreamUnavailable, true},
		"bad gateway":       {func(w http.ResponseWriter) { w.WriteHeader(http.StatusBadGateway) }, utp.Irreversible, utp.CodeOutcomeUnknown, false},
		"bad gateway, read": {func(w http.ResponseWriter) { w.WriteHeader(http.StatusBadGateway) }, utp.Read, utp.CodeUpstreamUnavailable, false},
		"cut":               {cut, utp.Irreversible, utp.CodeOutcomeUnknown, false},
		"cut, read":         {cut, utp.Read, utp.CodeUpstreamUnavailable, false},
		"elsewhere": {func(w http.ResponseWriter) {
			w.Header().Set("Location", "/elsewhere")
			w.WriteHeader(http.StatusTemporaryRedirect)
		}, utp.Irreversible, utp.CodeOutcomeUnknown, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			t.Attr("counts", "effects")
			web := newSite(t, true)
			s := reached(t, web.URL)
			calls := 0
			web.intercept(func(w http.ResponseWriter, r *http.Request) bool {
				if !isCall(r) {
					return false
				}
				web.mu.Lock()
				calls++
				web.mu.Unlock()
				row.answer(w)
				return true
			})
			got := s.call("plain", `{}`, row.class)
			wantError(t, got, row.want, "")
			if got.err != nil && got.err.IsUntouched() != row.untouched {
				t.Errorf("it says %+v", got.err)
			}
			web.mu.Lock()
			defer web.mu.Unlock()
			if calls != 1 {
				t.Errorf("it was sent %d times", calls)
			}
		})
	}
}

// TestHTTPAway: what cannot be reached was sent nothing.
func TestHTTPAway(t *testing.T) {
	t.Parallel()
	web := newSite(t, true)
	s := reached(t, web.URL)
	plain := s.tool("plain")
	web.CloseClientConnections()
	web.Close()
	got := s.calls(t.Context(), plain, `{}`, utp.Read)
	if got.err == nil || got.err.Code != utp.CodeUpstreamUnavailable || !got.err.IsUntouched() {
		t.Errorf("it ended with %v", got.err)
	}
}

// TestHTTPStop: a stop reaches a server over HTTP.
func TestHTTPStop(t *testing.T) {
	t.Parallel()
	web := newSite(t, false)
	s := reached(t, web.URL)
	ctx, cancel := context.WithCancelCause(t.Context())
	go func() {
		<-web.hangs
		cancel(tool.ErrStopped)
	}()
	wantError(t, s.calls(ctx, s.tool("hang"), `{}`, utp.Read), utp.CodeStopped, "cancelled at the MCP server scene")
	select {
	case <-web.stops:
	case <-time.After(connectTimeout):
		t.Error("the server was not told")
	}
}
