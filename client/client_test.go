package client_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/client"
)

const me = `{"name":"anna","roles":["listener"],"surface":"phone"}`

// eventText is one event of a session as it is sent.
func eventText(kind, id, members string) string {
	return fmt.Sprintf(`{"@context":"https://aaep-protocol.org/context/v1","aaep_version":"1.0.0","type":"aaep:agent.%s","event_id":"evt_%s","session_id":"sess_1","timestamp":"2026-11-21T12:00:00.000Z","producer":{"agent_id":"x"},%s}`, kind, id, members)
}

func frameOf(id, text string) string {
	return "event: aaep.event\nid: " + id + "\ndata: " + text + "\n\n"
}

// producer is a server that serves streams one after the other.
type producer struct {
	streams []string // what each connection gets before it breaks
	after   []string // the Last-Event-ID of each connection
	asked   []byte   // the last request of a subscription
	calls   atomic.Int32
	subs    atomic.Int32
	token   atomic.Value
}

func newProducer(streams ...string) *producer {
	p := &producer{streams: streams}
	p.token.Store("t")

	return p
}

func (p *producer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Header.Get("Authorization") != "Bearer "+p.token.Load().(string) {
		w.WriteHeader(http.StatusUnauthorized)
		_, _ = w.Write([]byte(`{"error":{"code":"authentication_required","message":"nobody","hint":"log in","safe_to_retry":false}}`))
		return
	}
	switch r.URL.Path {
	case "/api/v1/me":
		_, _ = w.Write([]byte(me))
	case "/aaep/v1/subscriptions":
		p.asked, _ = io.ReadAll(r.Body)

		w.WriteHeader(http.StatusCreated)
		_, _ = fmt.Fprintf(w, `{"type":"subscription.accepted","subscription_id":"sub_%d","aaep_version":"1.0.0","producer":{"agent_id":"x"},"honored_capabilities":{}}`, p.subs.Add(1))
	case "/aaep/v1/events":
		n := int(p.calls.Add(1)) - 1
		p.after = append(p.after, r.Header.Get("Last-Event-ID"))
		if n >= len(p.streams) || p.streams[n] == "404" {
			w.WriteHeader(http.StatusNotFound)
			_, _ = w.Write([]byte(`{"error":{"code":"not_found","message":"no such subscription","safe_to_retry":false}}`))
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = w.Write([]byte(p.streams[n]))
	default:
		w.WriteHeader(http.StatusNoContent)
	}
}

// TestClientResumes (TR-SSE-09, C-43): a broken stream resumes after the last event, an expired subscription is
// renewed, and no event is received twice.
func TestClientResumes(t *testing.T) {
	t.Parallel()
	start := eventText("session.started", "1", `"summary_normal":"Started."`)
	state := eventText("state.changed", "2", `"from_state":"idle","to_state":"thinking"`)
	end := eventText("session.completed", "3", `"summary_normal":"Done.","duration_ms":1`)
	p := newProducer(
		": connected\n\n"+frameOf("evt_1", start)+"id: evt_2\ndata: {\"cut", // what was not ended does not count
		"404",
		frameOf("evt_1", start)+frameOf("evt_2", state)+frameOf("evt_3", end),
	)
	s := httptest.NewServer(p)
	t.Cleanup(s.Close)
	c, err := client.Dial(t.Context(), client.Options{URL: s.URL, Token: "t", Session: "sess_1"})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { // those who may not answer receive the questions as well
		asked, err := aaep.DecodeSubscriptionRequest(p.asked)
		if ours := string(asked.Capabilities.Extensions[aaep.PrefixEarshot]); err != nil || ours != `{"observe_questions":true,"session_ids":["sess_1"]}` || !*asked.Capabilities.SupportsConfirmationReply {
			t.Errorf("asked with %s, %v", p.asked, err)
		}
	}()
	var connected []string
	for d, err := range c.Events(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		connected = append(connected, d.ID)
	}
	if want := []string{"evt_1", "evt_2", "evt_3"}; !slices.Equal(connected, want) {
		t.Errorf("heard %v, want %v", connected, want)
	}
	if want := []string{"", "evt_1", "evt_1"}; !slices.Equal(p.after, want) {
		t.Errorf("it went on behind %q, want %q", p.after, want)
	}
	if p.subs.Load() != 2 {
		t.Errorf("%d subscriptions, want 2", p.subs.Load())
	}
}

// TestClientRefused: a token that is no longer valid ends the events with an error.
func TestClientRefused(t *testing.T) {
	t.Parallel()
	p := newProducer(frameOf("evt_1", eventText("session.started", "1", `"summary_normal":"Started."`)))
	s := httptest.NewServer(p)
	t.Cleanup(s.Close)
	c, err := client.Dial(t.Context(), client.Options{URL: s.URL, Token: "t", Session: "sess_1"})
	if err != nil {
		t.Fatal(err)
	}
	for d, err := range c.Events(t.Context()) {
		if err == nil && d.Type() == aaep.TypeSessionStarted {
			p.token.Store("another")
			continue
		}
		if !errors.Is(err, client.ErrUnauthenticated) {
			t.Errorf("the events end with %v", err)
		}
	}
}

// within answers each request by a handler, in the test's own time and without a network.
type within struct{ http.Handler }

func (w within) RoundTrip(r *http.Request) (*http.Response, error) {
	answer := httptest.NewRecorder()
	w.ServeHTTP(answer, r)
	if answer.Code == http.StatusBadGateway {
		return nil, errors.New("connection refused")
	}
	result := answer.Result()
	result.Request = r
	return result, nil
}

// TestClientMeetsANewServer: a server that was killed and restarts at the same address answers before it has written
// its new token. The client waits for the token for a while.
func TestClientMeetsANewServer(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		word  time.Duration // when the new server writes its token
		heard int
		err   error
	}{
		"it leaves word": {word: 4 * time.Second, heard: 2},
		"it never does":  {word: time.Hour, heard: 1, err: client.ErrUnauthenticated},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file := filepath.Join(t.TempDir(), "server.json")
			says := func(token string) {
				if err := os.WriteFile(file, []byte(`{"url":"http://127.0.0.1:7411","token":"`+token+`"}`), 0o600); err != nil {
					t.Error(err)
				}
			}
			says("old")
			synctest.Test(t, func(t *testing.T) {
				p := newProducer(
					frameOf("evt_1", eventText("session.started", "1", `"summary_normal":"Started."`)),
					frameOf("evt_2", eventText("session.completed", "2", `"summary_normal":"Done.","duration_ms":1`)),
				)
				p.token.Store("old")
				killed := false
				c, err := client.Dial(t.Context(), client.Options{
					ServerFile: file, Session: "sess_1", Transport: within{http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
						if killed && p.token.Load() == "old" {
							w.WriteHeader(http.StatusBadGateway)
							return
						}
						p.ServeHTTP(w, r)
					})},
				})
				if err != nil {
					t.Fatal(err)
				}
				began, connected := time.Now(), 0
				for _, got := range c.Events(t.Context()) {
					if err = got; got == nil {
						connected++
					}
					if connected == 1 && !killed {
						killed = true
						time.AfterFunc(time.Second, func() { p.token.Store("new") })
						time.AfterFunc(row.word, func() { says("new") })
					}
				}
				if connected != row.heard || !errors.Is(err, row.err) {
					t.Errorf("%d events were heard, %v; want %d, %v", connected, err, row.heard, row.err)
				}
				if took := time.Since(began); took > 30*time.Second {
					t.Errorf("it took %v", took)
				}
			})
		})
	}
}

// TestForSessionKeepsZone: a client of one session tells times where its person wanted them, as the one that it comes from.
func TestForSessionKeepsZone(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte(`{"name":"anna","roles":["listener"],"surface":"phone","time_zone":"Africa/Lagos"}`))
	}))
	defer server.Close()
	c, err := client.Dial(t.Context(), client.Options{URL: server.URL, Token: "t"})
	if err != nil {
		t.Fatal(err)
	}
	if zone := c.ForSession("sess_1").Zone(); zone == nil || zone.String() != "Africa/Lagos" {
		t.Errorf("the client of a session has the zone %v, expected that of its client, %v", zone, c.Zone())
	}
}

// TestDialRefuses: invalid options give an error that says what to do, and send no token.
func TestDialRefuses(t *testing.T) {
	t.Parallel()
	s := httptest.NewServer(newProducer())
	t.Cleanup(s.Close)
	elsewhere := httptest.NewServer(http.RedirectHandler(s.URL, http.StatusFound))
	t.Cleanup(elsewhere.Close)
	empty := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(empty, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, row := range []struct {
		name string
		o    client.Options
		code client.Code
	}{
		{"no address", client.Options{Token: "t"}, client.CodeUsage},
		{"another scheme", client.Options{URL: "ftp://127.0.0.1", Token: "t"}, client.CodeUsage},
		{"a password in it", client.Options{URL: "http://a:b@127.0.0.1", Token: "t"}, client.CodeUsage},
		{"another machine without TLS", client.Options{URL: "http://example.org", Token: "t"}, client.CodeInsecure},
		{"no token", client.Options{URL: s.URL}, client.CodeUsage},
		{"empty token file", client.Options{URL: s.URL, TokenFile: empty}, client.CodeUsage},
		{"missing token file", client.Options{URL: s.URL, TokenFile: empty + "x"}, client.CodeUsage},
		{"wrong token", client.Options{URL: s.URL, Token: "x"}, client.CodeUnauthenticated},
		{"nobody there", client.Options{URL: "http://127.0.0.1:1", Token: "t"}, client.CodeUnreachable},
		{"no server file", client.Options{ServerFile: empty + "x"}, client.CodeUnreachable},
		{"a redirection", client.Options{URL: elsewhere.URL, Token: "t"}, client.CodeStrange},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			_, err := client.Dial(t.Context(), row.o)
			var e *client.Error
			if !errors.As(err, &e) || e.Code != row.code || e.Hint == "" && e.Code != client.CodeUnauthenticated {
				t.Errorf("got %#v, want %s with a hint", err, row.code)
			}
			if err != nil && row.o.Token == "t" && strings.Contains(err.Error(), "Bearer") {
				t.Errorf("%v tells the token", err)
			}
		})
	}
}

// TestClientIsLate: an answer that comes second learns who was first, in this listener's local time.
func TestClientIsLate(t *testing.T) {
	t.Parallel()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/api/v1/me" {
			_, _ = w.Write([]byte(me))
			return
		}
		w.WriteHeader(http.StatusConflict)
		_, _ = w.Write([]byte(`{"error":{"code":"done","message":"done","hint":"look","safe_to_retry":false,"closed":{"question":7,"resolution":"rejected","by":"bob","surface":"page","at":"2026-11-21T11:00:00Z"}}}`))
	}))
	t.Cleanup(s.Close)
	now := func() time.Time { return time.Date(2026, 11, 21, 12, 1, 0, 0, time.FixedZone("here", 3600)) }
	c, err := client.Dial(t.Context(), client.Options{URL: s.URL, Token: "t", Now: now})
	if err != nil {
		t.Fatal(err)
	}
	_, err = c.Reply(t.Context(), 7, api.Reply{Decision: "accept"})
	var e *client.Error
	if !errors.As(err, &e) || !errors.Is(err, client.ErrConflict) || e.Closed == nil || e.Closed.By != "bob" ||
		err.Error() != "Question 7 was rejected by bob on the page, at 12:00:00. Your answer came after that and did not count." {
		t.Errorf("the client says %v", err)
	}
}

// TestClientPrefers: the wish is set, and asked for.
func TestClientPrefers(t *testing.T) {
	t.Parallel()
	wish := 0
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.Method + " " + r.URL.Path {
		case "GET /api/v1/me":
			_, _ = w.Write([]byte(me))
			return
		case "PUT /api/v1/preferences":
			wish = 90
		case "GET /api/v1/preferences":
		default:
			t.Errorf("asked for %s %s", r.Method, r.URL)
		}
		_, _ = fmt.Fprintf(w, `{"answer_seconds":%d}`, wish)
	}))
	t.Cleanup(s.Close)
	c, err := client.Dial(t.Context(), client.Options{URL: s.URL, Token: "t"})
	if err != nil {
		t.Fatal(err)
	}
	for _, wanted := range []api.Preferences{{}, {AnswerSeconds: new(90)}, {}} {
		now, err := c.Preferences(t.Context())
		if wanted != (api.Preferences{}) {
			now, err = c.SetPreferences(t.Context(), wanted)
		}
		if err != nil || *now.AnswerSeconds != wish {
			t.Errorf("%+v, %v; want %d", now, err, wish)
		}
	}
}
