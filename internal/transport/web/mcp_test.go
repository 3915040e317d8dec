package web_test

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/earshot-dev/earshot/internal/transport/web"
)

// TestMCP: only an agent's token lets a host in, under a name of this server's and from no other site.
func TestMCP(t *testing.T) {
	t.Parallel()
	var served []string
	s := newScene(t, func(o *web.Options) {
		o.Programs, o.AllowedOrigins = web.AgentsFromHub(nil), []string{"https://reader.example"} // it is never asked
		o.MCP = func(w http.ResponseWriter, r *http.Request, who web.Principal, token string) {
			raw, err := io.ReadAll(r.Body)
			if err != nil {
				t.Error(err)
			}
			served = append(served, r.Method+" "+who.Name+" "+token+" "+string(raw))
			w.WriteHeader(http.StatusAccepted)
		}
	})
	s.login("anna")
	const message = `{"jsonrpc":"2.0"}`
	for _, c := range []struct {
		name, method, as, body string
		headers                []string
		status                 int
	}{
		{"an agent", "POST", "bot", message, nil, 202},
		{"an agent at the loopback", "POST", "bot", message, []string{"Host", "127.0.0.1:7411"}, 202},
		{"its stream", "GET", "bot", "", nil, 202},
		{"its end", "DELETE", "bot", "", nil, 202},
		{"an agent in a page of an allowed origin", "POST", "bot", message, []string{"Origin", "https://reader.example"}, 202},
		{"an agent that names this server as its origin", "POST", "bot", message, []string{"Host", "127.0.0.1:7411", "Origin", "http://127.0.0.1:7411"}, 202},
		{"another port of this machine", "POST", "bot", message, []string{"Host", "127.0.0.1:7411", "Origin", "http://127.0.0.1:7412"}, 403},
		{"another name for it", "POST", "bot", message, []string{"Host", "evil.example", "Origin", "http://evil.example"}, 421},
		{"nobody", "POST", "", message, nil, 401},
		{"nobody's stream", "GET", "", "", nil, 401},
		{"another token", "POST", "nobody", message, nil, 401},
		{"an operator", "POST", "ope", message, nil, 403},
		{"an agent that may answer, too", "POST", "sly", message, nil, 403},
		{"a person", "POST", "anna", message, nil, 403},
		{"a person's login", "POST", "@anna", message, []string{"Origin", pageURL}, 403},
		{"a person's stream", "GET", "anna", "", nil, 403},
		{"another site", "POST", "bot", message, []string{"Origin", "https://evil.example"}, 403},
		{"another site's stream", "GET", "bot", "", []string{"Origin", "https://evil.example"}, 403},
		{"another site that does not say so", "POST", "bot", message, []string{"Sec-Fetch-Site", "cross-site"}, 403},
		{"another name", "POST", "bot", message, []string{"Host", "evil.example"}, 421},
		{"another type", "POST", "bot", message, []string{"Content-Type", "text/plain"}, 415},
		{"too much", "POST", "bot", `"` + strings.Repeat("x", 16<<20) + `"`, nil, 413},
		{"another method", "PUT", "bot", message, nil, 405},
	} {
		served = nil
		w := s.do(c.method, "/mcp", c.as, c.body, c.headers...)
		if w.Code != c.status || (len(served) > 0) != (c.status == http.StatusAccepted) {
			t.Errorf("%s: %d %s, served %q; want %d", c.name, w.Code, w.Body, served, c.status)
		}
		if len(served) > 0 && served[0] != c.method+" bot secret-bot "+c.body {
			t.Errorf("%s: served %q", c.name, served)
		}
		if challenge := w.Header().Get("WWW-Authenticate"); (challenge != "") != (c.status == http.StatusUnauthorized) {
			t.Errorf("%s: WWW-Authenticate %q", c.name, challenge)
		}
	}
	before := s.do("OPTIONS", "/mcp", "", "", "Origin", "https://reader.example", "Access-Control-Request-Method", "DELETE")
	if h := before.Header(); before.Code != 204 || h.Get("Access-Control-Allow-Methods") != "DELETE, GET, POST" || !strings.Contains(h.Get("Access-Control-Allow-Headers"), "Mcp-Session-Id") {
		t.Errorf("preflight: %d %v", before.Code, h)
	}
	if w := s.do("PUT", "/mcp", "", ""); w.Header().Get("Allow") != "DELETE, GET, HEAD, OPTIONS, POST" {
		t.Errorf("Allow %q", w.Header().Get("Allow"))
	}
}

// TestMCPRevoked: what is open of a host ends with its token.
func TestMCPRevoked(t *testing.T) {
	t.Parallel()
	for _, method := range []string{"GET", "POST"} {
		synctest.Test(t, func(t *testing.T) {
			s := newScene(t, func(o *web.Options) {
				o.Programs = web.AgentsFromHub(nil) // it is never asked
				o.MCP = func(_ http.ResponseWriter, r *http.Request, _ web.Principal, _ string) { <-r.Context().Done() }
			})
			over := make(chan struct{})
			go func() {
				defer close(over)
				s.do(method, "/mcp", "bot", "{}")
			}()
			<-time.After(time.Minute)
			select {
			case <-over:
				t.Fatalf("%s ends by itself", method)
			default:
			}
			s.doors.mu.Lock()
			delete(s.doors.who, "bot")
			s.doors.mu.Unlock()
			s.doors.ring()
			<-over // a deadlock of the bubble otherwise
		})
	}
}

// TestNoMCP: a server that serves no hosts says so.
func TestNoMCP(t *testing.T) {
	t.Parallel()
	s := newScene(t, func(o *web.Options) { o.Programs = web.AgentsFromHub(nil) }) // it is never asked
	w := s.do("POST", "/mcp", "bot", "{}")
	if w.Code != http.StatusNotFound {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}
