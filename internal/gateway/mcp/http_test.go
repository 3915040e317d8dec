package mcp_test

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/client"
	"github.com/earshot-dev/earshot/internal/gateway/mcp"
	"github.com/earshot-dev/earshot/utp"
)

// The versions of the protocol: the first has sessions with an id, the second has none.
const (
	withSessions    = "2025-06-18"
	withoutSessions = "2026-07-28"
)

func eachEra(t *testing.T, test func(t *testing.T, version string)) {
	t.Helper()
	for _, version := range []string{withSessions, withoutSessions} {
		t.Run(version, func(t *testing.T) { test(t, version) })
	}
}

// site is a server at an address. In virtual time its connections are pipes.
type site struct {
	t      *testing.T
	e      *earshot
	hosts  *mcp.HTTP
	server *httptest.Server
	reach  *http.Transport
}

// pipes is a listener whose connections are pipes of this process.
type pipes struct {
	made chan net.Conn
	once sync.Once
	over chan struct{}
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.made:
		return c, nil
	case <-p.over:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error {
	p.once.Do(func() { close(p.over) })
	return nil
}

func (p *pipes) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 7411} }

func (p *pipes) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	theirs, ours := net.Pipe()
	select {
	case p.made <- theirs:
		return ours, nil
	case <-p.over:
		return nil, net.ErrClosed
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// virtual opens a site in a bubble.
func virtual(t *testing.T, e *earshot, o mcp.HTTPOptions) *site {
	t.Helper()
	p := &pipes{made: make(chan net.Conn), over: make(chan struct{})}
	return openSite(t, e, o, p, p.dial)
}

// loopback opens a site at an address of this machine.
func loopback(t *testing.T, e *earshot, o mcp.HTTPOptions) *site {
	t.Helper()
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return openSite(t, e, o, l, nil)
}

func openSite(t *testing.T, e *earshot, o mcp.HTTPOptions, l net.Listener, dial func(context.Context, string, string) (net.Conn, error)) *site {
	t.Helper()
	s := &site{t: t, e: e, reach: &http.Transport{DialContext: dial}}
	o.Dial = func(_ context.Context, token string) (mcp.Agent, error) {
		e.notef("dial with %s", token)
		return e, nil
	}
	s.hosts = mcp.NewHTTP(o)
	s.server = &httptest.Server{Listener: l, Config: &http.Server{ReadHeaderTimeout: time.Minute, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
		s.hosts.ServeHTTP(w, r, mcp.Caller{Credential: "credential of " + token, Token: token})
	})}}
	s.server.Start()
	return s
}

func (s *site) close() {
	s.hosts.Close()
	s.reach.CloseIdleConnections()
	s.server.Close()
}

// as has the requests of a host carry its token.
func (s *site) as(token string) *http.Client {
	return &http.Client{Transport: bearer{s.reach, token}}
}

type bearer struct {
	http.RoundTripper

	token string
}

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+b.token)
	return b.RoundTripper.RoundTrip(r)
}

// join has a host connect with the client of the library.
func (s *site) join(version, name, token string) *host {
	s.t.Helper()
	h := &host{t: s.t}
	c := sdk.NewClient(&sdk.Implementation{Name: name, Version: "1"}, h.options())
	session, err := c.Connect(s.t.Context(), &sdk.StreamableClientTransport{Endpoint: s.server.URL + "/mcp", HTTPClient: s.as(token), MaxRetries: -1},
		&sdk.ClientSessionOptions{ProtocolVersion: version})
	if err != nil {
		s.t.Fatal(err)
	}
	h.ClientSession = session
	if got := session.InitializeResult().ProtocolVersion; got != version {
		s.t.Fatalf("the host speaks %s, want %s", got, version)
	}
	return h
}

// plain makes a request by hand, so that it can be cut without a word.
func (s *site) plain(ctx context.Context, method, token, version, session, body string) (*http.Response, error) {
	r, err := http.NewRequestWithContext(ctx, method, s.server.URL+"/mcp", strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	for name, value := range map[string]string{
		"Content-Type": "application/json", "Accept": "application/json, text/event-stream", "Mcp-Protocol-Version": version, "Mcp-Session-Id": session,
	} {
		if value != "" {
			r.Header.Set(name, value)
		}
	}
	if version == withoutSessions {
		r.Header.Set("Mcp-Method", "tools/call")
		r.Header.Set("Mcp-Name", "note_send")
	}
	return s.as(token).Do(r)
}

// status is what a request by hand is answered with, and the text.
func (s *site) status(method, token, version, session, body string) (int, string) {
	s.t.Helper()
	answer, err := s.plain(s.t.Context(), method, token, version, session, body)
	if err != nil {
		s.t.Fatal(err)
	}
	defer func() { _ = answer.Body.Close() }()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return answer.StatusCode, string(text)
}

// begin opens a session by hand, where the protocol has them.
func (s *site) begin(token, version, name string) (session string) {
	s.t.Helper()
	if version == withoutSessions {
		return ""
	}
	answer, err := s.plain(s.t.Context(), http.MethodPost, token, "", "", fmt.Sprintf(
		`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":%q,"capabilities":{},"clientInfo":{"name":%q,"version":"1"}}}`, version, name))
	if err != nil {
		s.t.Fatal(err)
	}
	defer func() { _ = answer.Body.Close() }()
	if _, err := io.Copy(io.Discard, answer.Body); err != nil {
		s.t.Fatal(err)
	}
	return answer.Header.Get("Mcp-Session-Id")
}

// sends is a call by hand.
func sends(id int, version, name string) string {
	meta := ""
	if version == withoutSessions {
		meta = fmt.Sprintf(`,"_meta":{"io.modelcontextprotocol/protocolVersion":%q,"io.modelcontextprotocol/clientInfo":{"name":%q,"version":"1"},`+
			`"io.modelcontextprotocol/clientCapabilities":{}}`, version, name)
	}
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"note_send","arguments":{"text":"hi"}%s}}`, id, meta)
}

func sender(invoke func(n int) (api.AgentCall, error)) *earshot {
	return &earshot{
		tools:  []api.AgentTool{note("note.send", utp.Irreversible, true)},
		invoke: func(n int, _ api.AgentInvoke, _ time.Duration) (api.AgentCall, error) { return invoke(n) },
		wait:   func(n int, _ string, _ time.Duration) (api.AgentCall, error) { return invoke(n) },
	}
}

func done(int) (api.AgentCall, error) { return ended("call_7", `{"sent":true}`), nil }

func open(int) (api.AgentCall, error) { return waiting, nil }

// lines are those that Earshot has noted and begin so.
func (e *earshot) lines(prefix string) []string {
	var found []string
	for line := range strings.SplitSeq(e.all(), "\n") {
		if strings.HasPrefix(line, prefix) {
			found = append(found, line)
		}
	}
	return found
}

// TestHTTP: a real host at a real address has the tools, its call is made, and the result is noted as received.
func TestHTTP(t *testing.T) {
	eachEra(t, func(t *testing.T, version string) {
		e := sender(done)
		s := loopback(t, e, mcp.HTTPOptions{})
		h := s.join(version, "A Host", "secret-1")
		list, err := h.ListTools(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		if len(list.Tools) != 4 {
			t.Errorf("%d tools, want 4", len(list.Tools))
		}
		if r := h.use("note_send", map[string]any{"text": "hi"}, nil); r.IsError || textOf(r) != `{"sent":true}` {
			t.Errorf("error %v: %s", r.IsError, textOf(r))
		}
		if r := h.use("earshot_say", map[string]any{"text": "Done."}, nil); r.IsError {
			t.Errorf("not told: %s", textOf(r))
		}
		if err := h.Close(); err != nil {
			t.Error(err)
		}
		s.close()
		want := []string{"dial with secret-1", "open a-host ", "invoke note.send ", "received call_7", "say Done."}
		if version == withSessions {
			want = append(want, "end") // the other one has no word for it
		}
		for _, line := range want {
			if len(e.lines(line)) != 1 {
				t.Errorf("found %q %d times, want once, in\n%s", line, len(e.lines(line)), e.all())
			}
		}
		if n := len(e.lines("")); n != len(want) {
			t.Errorf("Earshot was asked %d times, want %d:\n%s", n, len(want), e.all())
		}
	})
}

// TestHTTPHostHangsUp: when the request has gone nobody waits for the call any more, so that a yes starts nothing, and what comes
// of it is not received.
func TestHTTPHostHangsUp(t *testing.T) {
	eachEra(t, func(t *testing.T, version string) {
		synctest.Test(t, func(t *testing.T) {
			e := sender(open)
			s := virtual(t, e, mcp.HTTPOptions{})
			defer s.close()
			session := s.begin("secret-1", version, "a-host")
			ctx, cut := context.WithTimeout(t.Context(), 30*time.Second)
			defer cut()
			answer, err := s.plain(ctx, http.MethodPost, "secret-1", version, session, sends(2, version, "a-host"))
			if err == nil {
				_, err = io.Copy(io.Discard, answer.Body)
				_ = answer.Body.Close()
			}
			if !errors.Is(err, context.DeadlineExceeded) {
				t.Fatalf("the request ended by itself: %v", err)
			}
			synctest.Wait()
			before := e.all()
			if !strings.Contains(before, "invoke") {
				t.Fatalf("the call was not made:\n%s", before)
			}
			pass(10 * time.Minute)
			synctest.Wait()
			if e.all() != before {
				t.Errorf("after the host had gone:\n%s", strings.TrimPrefix(e.all(), before))
			}
			if strings.Contains(before, "received") {
				t.Error("a result counts as received that there was not")
			}
		})
	})
}

// TestHTTPHostCancels: the same where the host says so by a message of its own, and keeps its request open.
func TestHTTPHostCancels(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := sender(open)
		s := virtual(t, e, mcp.HTTPOptions{})
		defer s.close()
		session := s.begin("secret-1", withSessions, "a-host")
		deadline := make(chan struct{})
		go func() {
			defer close(deadline)
			s.status(http.MethodPost, "secret-1", withSessions, session, sends(2, withSessions, "a-host"))
		}()
		pass(30 * time.Second)
		cancelled := `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}}`
		if status, text := s.status(http.MethodPost, "secret-1", withSessions, session, cancelled); status != http.StatusAccepted {
			t.Errorf("%d %s", status, text)
		}
		<-deadline
		before := e.all()
		pass(10 * time.Minute)
		if e.all() != before {
			t.Errorf("after the host had given up:\n%s", strings.TrimPrefix(e.all(), before))
		}
	})
}

// TestHTTPStillOpen: the host hears how the call stands every 15 seconds on the answer's own stream, and before its wall what it
// waits for; then it waits on.
func TestHTTPStillOpen(t *testing.T) {
	eachEra(t, func(t *testing.T, version string) {
		synctest.Test(t, func(t *testing.T) {
			began := time.Now()
			e := sender(func(int) (api.AgentCall, error) {
				if time.Since(began) < 400*time.Second {
					return waiting, nil
				}
				return ended("call_7", `{"sent":true}`), nil
			})
			s := virtual(t, e, mcp.HTTPOptions{})
			h := s.join(version, "a-host", "secret-1")
			r := h.use("note_send", map[string]any{"text": "hi"}, sdk.Meta{"progressToken": "p1"})
			if took := time.Since(began); took != 240*time.Second || r.IsError || member(r, "call_id") != "call_7" {
				t.Errorf("after %v, error %v: %s", took, r.IsError, textOf(r))
			}
			h.mu.Lock()
			if n := len(h.heard); n != 15 && n != 16 || h.heard[0] != "p1 1 "+waiting.Message {
				t.Errorf("heard %d times %q, want every 15 seconds", len(h.heard), h.heard)
			}
			h.mu.Unlock()
			if r = h.use("earshot_wait", map[string]any{"call_id": "call_7"}, nil); r.IsError || textOf(r) != `{"sent":true}` {
				t.Errorf("then error %v: %s", r.IsError, textOf(r))
			}
			_ = h.Close() // the pipe is closed, too, at times
			s.close()
			if len(e.lines("invoke")) != 1 || len(e.lines("received call_7")) != 1 || len(e.lines("open")) != 1 {
				t.Errorf("Earshot was asked\n%s", e.all())
			}
		})
	})
}

// TestHTTPWallOfTheAddress: a host with less patience says so in the address that it is given.
func TestHTTPWallOfTheAddress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := sender(open)
		s := virtual(t, e, mcp.HTTPOptions{})
		defer s.close()
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.server.URL+"/mcp?answer-before=50s", strings.NewReader(sends(1, withoutSessions, "a-host")))
		if err != nil {
			t.Fatal(err)
		}
		for name, value := range map[string]string{
			"Content-Type": "application/json", "Accept": "application/json, text/event-stream", "Mcp-Protocol-Version": withoutSessions,
			"Mcp-Method": "tools/call", "Mcp-Name": "note_send",
		} {
			r.Header.Set(name, value)
		}
		began := time.Now()
		answer, err := s.as("secret-1").Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = answer.Body.Close() }()
		text, err := io.ReadAll(answer.Body)
		if took := time.Since(began); err != nil || took != 50*time.Second || !strings.Contains(string(text), "Not done yet") {
			t.Errorf("after %v: %v %s", took, err, text)
		}
	})
}

// TestHTTPHosts: which requests are one session.
func TestHTTPHosts(t *testing.T) {
	for _, test := range []struct {
		name, version string
		hosts         [2][2]string // name, token
		sessions      int
	}{
		{"two of a name", withSessions, [2][2]string{{"a-host", "1"}, {"a-host", "1"}}, 2},
		{"two of a name", withoutSessions, [2][2]string{{"a-host", "1"}, {"a-host", "1"}}, 1},
		{"two names", withoutSessions, [2][2]string{{"a-host", "1"}, {"another", "1"}}, 2},
		{"two tokens", withoutSessions, [2][2]string{{"a-host", "1"}, {"a-host", "2"}}, 2},
	} {
		t.Run(test.name+" "+test.version, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				e := sender(done)
				s := virtual(t, e, mcp.HTTPOptions{})
				var here []*host
				for _, one := range test.hosts {
					h := s.join(test.version, one[0], one[1])
					h.use("note_send", map[string]any{"text": "hi"}, nil)
					here = append(here, h)
				}
				for _, h := range here {
					_ = h.Close() // the pipe is closed, too, at times
				}
				s.close()
				keys := map[string]bool{}
				for _, line := range e.lines("open") {
					keys[line] = true
				}
				if len(keys) != test.sessions {
					t.Errorf("%d sessions, want %d:\n%s", len(keys), test.sessions, e.all())
				}
			})
		})
	}
}

// TestHTTPRestart: a host that has an id from before a restart goes on in the same session, without a word; another process
// speaks for it.
func TestHTTPRestart(t *testing.T) {
	eachEra(t, func(t *testing.T, version string) {
		synctest.Test(t, func(t *testing.T) {
			e := sender(done)
			s := virtual(t, e, mcp.HTTPOptions{})
			session := s.begin("secret-1", version, "a-host")
			for range 2 {
				if status, text := s.status(http.MethodPost, "secret-1", version, session, sends(2, version, "a-host")); status != http.StatusOK || !strings.Contains(text, "sent") {
					t.Errorf("%d %s", status, text)
				}
				s.close()
				s = virtual(t, e, mcp.HTTPOptions{})
			}
			s.close()
			opened := e.lines("open")
			if len(opened) != 2 {
				t.Fatalf("Earshot was asked\n%s", e.all())
			}
			before, after := strings.Fields(opened[0]), strings.Fields(opened[1])
			if before[1] != after[1] || before[3] != after[3] || before[2] == after[2] {
				t.Errorf("opened %q, then %q; want the same session, and another holder", before, after)
			}
		})
	})
}

// TestHTTPSessionIDs: an id is good for the token that it was made for, until its session is ended.
func TestHTTPSessionIDs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := sender(done)
		s := virtual(t, e, mcp.HTTPOptions{})
		defer s.close()
		session := s.begin("secret-1", withSessions, "a-host")
		call := sends(2, withSessions, "a-host")
		for _, test := range []struct {
			name, method, token, version, session, body string
			status                                      int
		}{
			{"none", http.MethodPost, "secret-1", withSessions, "", call, http.StatusBadRequest},
			{"made up", http.MethodPost, "secret-1", withSessions, "a-host.ABC.0123456789abcdef", call, http.StatusNotFound},
			{"odd", http.MethodPost, "secret-1", withSessions, "…", call, http.StatusNotFound},
			{"of another token", http.MethodPost, "secret-2", withSessions, session, call, http.StatusNotFound},
			{"a stream of another token", http.MethodGet, "secret-2", withSessions, session, "", http.StatusNotFound},
			{"ended by another token", http.MethodDelete, "secret-2", withSessions, session, "", http.StatusNotFound},
			{"several messages", http.MethodPost, "secret-1", withSessions, session, "[" + call + "]", http.StatusBadRequest},
			{"no message", http.MethodPost, "secret-1", withSessions, session, "hello", http.StatusBadRequest},
			{"another method", http.MethodPut, "secret-1", withSessions, session, "", http.StatusMethodNotAllowed},
			{"a stream without sessions", http.MethodGet, "secret-1", withoutSessions, "", "", http.StatusMethodNotAllowed},
			{"an end without sessions", http.MethodDelete, "secret-1", withoutSessions, "", "", http.StatusMethodNotAllowed},
			{"an unknown version", http.MethodPost, "secret-1", "1999-01-01", session, call, http.StatusBadRequest},
			{"its own", http.MethodPost, "secret-1", withSessions, session, call, http.StatusOK},
			{"ended", http.MethodDelete, "secret-1", withSessions, session, "", http.StatusNoContent},
			{"after its end", http.MethodPost, "secret-1", withSessions, session, call, http.StatusNotFound},
			{"ended twice", http.MethodDelete, "secret-1", withSessions, session, "", http.StatusNotFound},
		} {
			if status, text := s.status(test.method, test.token, test.version, test.session, test.body); status != test.status {
				t.Errorf("%s: %d %s, want %d", test.name, status, text, test.status)
			}
		}
		if len(e.lines("open")) != 1 || len(e.lines("end")) != 1 {
			t.Errorf("Earshot was asked\n%s", e.all())
		}
	})
}

// TestHTTPEndWhileOpen: a host that ends its session while a call is open waits for it no longer.
func TestHTTPEndWhileOpen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := sender(open)
		s := virtual(t, e, mcp.HTTPOptions{})
		defer s.close()
		session := s.begin("secret-1", withSessions, "a-host")
		deadline := make(chan struct{})
		go func() {
			defer close(deadline)
			s.status(http.MethodPost, "secret-1", withSessions, session, sends(2, withSessions, "a-host"))
		}()
		pass(30 * time.Second)
		if status, text := s.status(http.MethodDelete, "secret-1", withSessions, session, ""); status != http.StatusNoContent {
			t.Errorf("%d %s", status, text)
		}
		<-deadline
		if !strings.HasSuffix(e.all(), "\nend") {
			t.Errorf("Earshot was asked\n%s", e.all())
		}
	})
}

// TestHTTPBounds: a token has so many sessions and requests at a time, and no more. What is idle makes room, and goes on.
func TestHTTPBounds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := sender(open)
		s := virtual(t, e, mcp.HTTPOptions{Hosts: 2, Requests: 3})
		var deadline sync.WaitGroup
		ctx, cut := context.WithCancel(t.Context())
		holds := func(token, name string) {
			deadline.Go(func() {
				answer, err := s.plain(ctx, http.MethodPost, token, withoutSessions, "", sends(1, withoutSessions, name))
				if err == nil {
					_, _ = io.Copy(io.Discard, answer.Body) // it is cut
					_ = answer.Body.Close()
				}
			})
			pass(time.Second)
		}
		refused := func(token, name, why string) {
			t.Helper()
			status, text := s.status(http.MethodPost, token, withoutSessions, "", sends(1, withoutSessions, name))
			if status != http.StatusTooManyRequests || !strings.Contains(text, why) {
				t.Errorf("%d %s, want 429, too many %s", status, text, why)
			}
		}
		idle := s.begin("1", withSessions, "idle")
		holds("1", "first")
		holds("1", "second") // the idle one makes room
		refused("1", "third", "sessions")
		holds("1", "first")
		refused("1", "first", "requests")
		holds("2", "third") // another token has bounds of its own
		cut()
		deadline.Wait()
		synctest.Wait()
		e.mu.Lock()
		e.invoke = func(int, api.AgentInvoke, time.Duration) (api.AgentCall, error) { return done(0) }
		e.mu.Unlock()
		if status, text := s.status(http.MethodPost, "1", withSessions, idle, sends(2, withSessions, "")); status != http.StatusOK || !strings.Contains(text, "sent") {
			t.Errorf("the idle one: %d %s", status, text)
		}
		s.close()
	})
}

// TestHTTPForgets: a host that was away for long takes no room, and goes on when it comes again.
func TestHTTPForgets(t *testing.T) {
	eachEra(t, func(t *testing.T, version string) {
		synctest.Test(t, func(t *testing.T) {
			e := sender(done)
			s := virtual(t, e, mcp.HTTPOptions{Forget: 10 * time.Minute})
			session := s.begin("secret-1", version, "a-host")
			opened := 0
			for _, away := range []time.Duration{0, 5 * time.Minute, 15 * time.Minute} {
				pass(away)
				if away == 0 || away > 10*time.Minute {
					opened++ // by another gateway, with the same key
				}
				if status, text := s.status(http.MethodPost, "secret-1", version, session, sends(2, version, "a-host")); status != http.StatusOK || !strings.Contains(text, "sent") {
					t.Errorf("after %v: %d %s", away, status, text)
				}
				if lines := e.lines("open"); len(lines) != opened || lines[0] != lines[len(lines)-1] {
					t.Errorf("after %v: opened %q, want the same one %d times", away, lines, opened)
				}
			}
			s.close()
		})
	})
}

// TestHTTPToolsChange: a host that listens hears of tools that have come and gone; for a host that does not, nothing is asked.
func TestHTTPToolsChange(t *testing.T) {
	eachEra(t, func(t *testing.T, version string) {
		synctest.Test(t, func(t *testing.T) {
			e := sender(done)
			s := virtual(t, e, mcp.HTTPOptions{})
			h := s.join(version, "a-host", "secret-1")
			if _, err := h.ListTools(t.Context(), nil); err != nil {
				t.Fatal(err)
			}
			pass(5 * time.Minute)
			h.mu.Lock()
			h.changed = 0
			h.mu.Unlock()
			e.offer(note("note.send", utp.Irreversible, true), note("note.read", utp.Read, false))
			pass(2 * time.Minute)
			synctest.Wait()
			h.mu.Lock()
			if h.changed == 0 {
				t.Error("not told of the change")
			}
			h.mu.Unlock()
			_ = h.Close() // the pipe is closed, too, at times
			s.close()
		})
	})
}

// TestHTTPStreams: a session has one stream for what it is told between its requests. A new one takes the place of one that was
// lost, and both end with the server.
func TestHTTPStreams(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := virtual(t, sender(done), mcp.HTTPOptions{})
		session := s.begin("secret-1", withSessions, "a-host")
		listen := func() *bufio.Reader {
			answer, err := s.plain(t.Context(), http.MethodGet, "secret-1", withSessions, session, "")
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = answer.Body.Close() })
			return bufio.NewReader(answer.Body)
		}
		first := listen()
		second := listen()
		if _, err := io.Copy(io.Discard, first); err != nil {
			t.Errorf("the first one: %v", err)
		}
		s.hosts.Close()
		if _, err := io.Copy(io.Discard, second); err != nil {
			t.Errorf("the second one: %v", err)
		}
		if status, text := s.status(http.MethodPost, "secret-1", withSessions, session, sends(2, withSessions, "")); status != http.StatusServiceUnavailable {
			t.Errorf("after the end: %d %s", status, text)
		}
		s.close()
	})
}

// TestReceiptComesFirst: a host that has a result and asks for the same again gets another one: that the first was received is
// known by then.
func TestReceiptComesFirst(t *testing.T) {
	order := func(e *earshot) string {
		var all []string
		for line := range strings.SplitSeq(e.all(), "\n") {
			if word, _, _ := strings.Cut(line, " "); word == "invoke" || word == "received" {
				all = append(all, word)
			}
		}
		return strings.Join(all, " ")
	}
	const want = "invoke received invoke received"
	twice := func(h *host) {
		for range 2 {
			h.use("note_send", map[string]any{"text": "hi"}, nil)
		}
	}
	slowly := func() *earshot {
		e := sender(done)
		e.slow = time.Second
		return e
	}
	t.Run("stdio", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			e := slowly()
			h := join(t, e)
			twice(h)
			h.leave()
			if got := order(e); got != want {
				t.Errorf("%s, want %s", got, want)
			}
		})
	})
	eachEra(t, func(t *testing.T, version string) {
		synctest.Test(t, func(t *testing.T) {
			e := slowly()
			s := virtual(t, e, mcp.HTTPOptions{})
			h := s.join(version, "a-host", "secret-1")
			twice(h)
			_ = h.Close() // the pipe is closed, too, at times
			s.close()
			if got := order(e); got != want {
				t.Errorf("%s, want %s", got, want)
			}
		})
	})
}

// TestSayAfterTheEnd: what the agent says after its session was idle for too long is told in another one.
func TestSayAfterTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := sender(done)
		h := join(t, e)
		h.use("note_send", map[string]any{"text": "hi"}, nil)
		e.report = func(n int) error {
			if n == 1 {
				return &client.Error{Code: "conflict", Message: "the session has ended", Ended: true}
			}
			return nil
		}
		if r := h.use("earshot_say", map[string]any{"text": "Going on."}, nil); r.IsError {
			t.Errorf("not told: %s", textOf(r))
		}
		h.leave()
		if opened := e.lines("open"); len(opened) != 2 || cmp.Compare(opened[0], opened[1]) == 0 {
			t.Errorf("opened %q, want two sessions", opened)
		}
	})
}
