package compat_test

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/aaep/transport"
	"github.com/earshot-dev/earshot/aaep/transport/socket"
	"github.com/earshot-dev/earshot/internal/compat"
)

// silence is how long nothing comes before the listener takes a session to be over; the suite waits for 2 s.
const silence = 500 * time.Millisecond

// suite is a listener that behaves as the public suite does: it hears one stream, starts sessions by prompts, throws the first message
// of each away, and reads at most so many of the others.
type suite struct {
	t    *testing.T
	url  string
	come chan aaep.Document
	send func(string)
}

// suites returns the suite over server-sent events and over a WebSocket.
func suites(t *testing.T) map[string]func(t *testing.T) *suite {
	t.Helper()
	return map[string]func(t *testing.T) *suite{"http": overHTTP, "ws": overSocket}
}

func mounted(t *testing.T) string {
	t.Helper()
	m, err := compat.New(compat.Options{
		Producer: aaep.Producer{AgentID: "suite-agent"}, Agent: compat.Scripted,
		Failed: func(prompt string, err error) { t.Errorf("%s: %v", prompt, err) },
	})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(m)
	t.Cleanup(server.Close)
	t.Cleanup(m.Close)
	return server.URL
}

func overHTTP(t *testing.T) *suite {
	t.Helper()
	s := &suite{t: t, url: mounted(t), come: make(chan aaep.Document, 256)}
	s.send = func(message string) {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.url+"/messages", strings.NewReader(message))
		if err != nil {
			t.Fatal(err)
		}
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		_ = answer.Body.Close()
		if answer.StatusCode >= http.StatusMultipleChoices {
			t.Errorf("%s is answered with %s", message, answer.Status)
		}
	}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.url+"/events", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	var reads sync.WaitGroup
	reads.Go(func() {
		lines := bufio.NewScanner(answer.Body)
		lines.Buffer(nil, 1<<20)
		for lines.Scan() {
			if data, is := strings.CutPrefix(lines.Text(), "data: "); is {
				s.come <- aaep.Read([]byte(data))
			}
		}
	})
	t.Cleanup(func() {
		_ = answer.Body.Close()
		reads.Wait()
	})
	return s
}

func overSocket(t *testing.T) *suite {
	t.Helper()
	s := &suite{t: t, url: mounted(t), come: make(chan aaep.Document, 256)}
	conn, _, err := socket.Dial(t.Context(), "ws"+strings.TrimPrefix(s.url, "http"), http.DefaultClient, nil, socket.Options{Limit: transport.MessageLimit}) //nolint:bodyclose // it is the connection
	if err != nil {
		t.Fatal(err)
	}
	s.send = func(message string) {
		if err := conn.Send([]byte(message)); err != nil {
			t.Error(err)
		}
	}
	var reads sync.WaitGroup
	reads.Go(func() {
		for {
			raw, err := conn.Receive()
			if err != nil {
				return
			}
			s.come <- aaep.Read(raw)
		}
	})
	t.Cleanup(func() {
		conn.Drop()
		reads.Wait()
	})
	return s
}

// next returns the next message; nil after this long.
func (s *suite) next(within time.Duration) *aaep.Document {
	select {
	case d := <-s.come:
		return &d
	case <-time.After(within):
		return nil
	}
}

// start sends a prompt, and returns the session that the first message names.
func (s *suite) start(prompt string) string {
	s.t.Helper()
	s.send(`{"kind":"user_input","text":"` + prompt + `"}`)
	first := s.next(10 * time.Second)
	if first == nil {
		s.t.Fatalf("%s: nothing comes", prompt)
	}
	id, _ := first.Text("session_id")
	return id
}

// collect returns the types of the events of a session, at most so many. answer is called with each.
func (s *suite) collect(id string, most int, answer func(kind string, d aaep.Document)) []string {
	s.t.Helper()
	var types []string
	for len(types) < most {
		d := s.next(silence)
		if d == nil {
			return types
		}
		kind, _ := d.Text("type")
		if of, _ := d.Text("session_id"); of != id {
			s.t.Errorf("a message of another session comes: %s of %s, in %s", kind, of, id)
		}
		for _, found := range aaep.Errors(d.Validate(aaep.ModeProducer)) {
			s.t.Errorf("%s: %v", kind, found)
		}
		kind = strings.TrimPrefix(kind, "aaep:agent.")
		types = append(types, kind)
		answer(kind, *d)
		if strings.HasPrefix(kind, "session.") && kind != "session.started" {
			return types
		}
	}
	return types
}

// TestSuite: each prompt of the public suite, in its order, within the number of messages that it reads; what goes before is not
// heard in what follows.
func TestSuite(t *testing.T) {
	t.Parallel()
	for scheme, over := range suites(t) {
		t.Run(scheme, func(t *testing.T) {
			t.Parallel()
			s := over(t)
			for _, row := range []struct {
				prompt string
				most   int
				reply  string // to the first question
				want   string // the types, in order
			}{
				{"Hello, please respond briefly.", 5, "", "session.started state.changed state.changed output.streaming session.completed"},
				{"Tell me a short fact about the moon.", 15, "", "session.started state.changed state.changed output.streaming session.completed"},
				{"Please use a tool to fetch some data, then respond.", 15, "", "session.started state.changed tool.invoked tool.completed state.changed output.streaming session.completed"},
				{"Write a short three-sentence paragraph.", 15, "", "session.started state.changed state.changed output.streaming output.streaming session.completed"},
				{"Please call a tool that does not exist: 'this_tool_does_not_exist_xyz'.", 10, "", "session.started session.errored"},
				{"Please call a tool with these arguments: url=https://api.example.com, api_key=sk-test-12345", 10, "", "session.started state.changed tool.invoked tool.completed state.changed output.streaming session.completed"},
				{"Please book a meeting room tomorrow at 2pm. Use a tool that requires confirmation before booking.", 30, "accept", "session.started state.changed awaiting.confirmation state.changed tool.invoked tool.completed state.changed output.streaming session.completed"},
				{"Please send an email to test@example.com. Use a tool that requires confirmation.", 30, "reject", "session.started state.changed awaiting.confirmation state.changed session.completed"},
				{"Please delete record ID 12345 (this is high-risk and irreversible).", 5, "", "session.started state.changed awaiting.confirmation"},
				{"Please tell me about the weather. Don't assume my location - ask me where I am first via clarification.", 30, "Lagos", "session.started state.changed awaiting.clarification state.changed state.changed output.streaming session.completed"},
				{"Please request confirmation for any action you take.", 10, "", "session.started state.changed state.changed output.streaming session.completed"},
				{"Please escalate this conversation to a human via handoff.", 10, "", "session.started state.changed handoff.requested session.completed"},
			} {
				id := s.start(row.prompt)
				got := strings.Join(s.collect(id, row.most, func(kind string, d aaep.Document) {
					if strings.HasPrefix(kind, "awaiting.") && row.reply != "" {
						token, _ := d.Text("reply_token")
						s.send(reply(token, row.reply))
					}
				}), " ")
				if got != row.want {
					t.Errorf("%s\n got %s\nwant %s", row.prompt, got, row.want)
				}
			}
			s.terms()
		})
	}
}

// reply is a reply as the suite sends it, with the id of a subscription that does not exist.
func reply(token, answer string) string {
	members := `"type":"confirmation.reply","decision":"` + answer + `"`
	if answer != "accept" && answer != "reject" {
		members = `"type":"clarification.reply","response":"` + answer + `"`
	}
	return `{` + members + `,"reply_token":"` + token + `","subscription_id":"sub_0123456789abcdef","timestamp":"2026-11-26T12:00:00Z","decided_by":"suite"}`
}

// request is a subscription.request with these capabilities.
func request(version, capabilities string) string {
	return `{"type":"subscription.request","aaep_version":"` + version + `","subscriber_id":"suite","capabilities":` + capabilities + `}`
}

// terms asks for terms, and hears by them.
func (s *suite) terms() {
	t := s.t
	t.Helper()
	answer := func(version, capabilities, want string) {
		t.Helper()
		s.send(request(version, capabilities))
		d := s.next(10 * time.Second)
		if d == nil {
			t.Fatalf("%s has no answer", capabilities)
		}
		if kind, _ := d.Text("type"); kind != want {
			t.Errorf("%s is answered with %s, want %s", capabilities, kind, want)
		}
	}
	answer("1.0.0", `{"max_events_per_second":5,"languages":["en-US"],"supports_confirmation_reply":true,"supported_conformance_levels":[1,2,3]}`, aaep.TypeSubscriptionAccepted)
	answer("99.99.99", `{}`, aaep.TypeSubscriptionRejected)
	answer("1.0.0", `{"accept_signed_manifests_only":true}`, aaep.TypeSubscriptionRejected)
	answer("1.0.0", `{"max_events_per_second":1,"supports_confirmation_reply":true}`, aaep.TypeSubscriptionAccepted)
	id := s.start("Please give me a detailed step-by-step explanation of how rainbows form, thinking through each step before responding.")
	began, events := time.Now(), 0
	for ended := false; !ended; events++ {
		d := s.next(5 * time.Second)
		if d == nil {
			t.Fatal("the session has no end")
		}
		if of, _ := d.Text("session_id"); of != id {
			t.Errorf("a message of another session comes")
		}
		kind, _ := d.Text("type")
		ended = strings.HasSuffix(kind, "session.completed")
	}
	if least := time.Duration(events-1) * 900 * time.Millisecond; time.Since(began) < least {
		t.Errorf("%d events came in %v, at one a second", events, time.Since(began))
	}
}

// TestEarly: what is told before the listener has come waits for it.
func TestEarly(t *testing.T) {
	t.Parallel()
	url := mounted(t)
	for _, row := range []struct {
		method, path, origin string
		want                 int
	}{
		{"GET", "/healthz", "", http.StatusNoContent},
		{"GET", "/other", "", http.StatusNotFound},
		{"POST", "/messages", "", http.StatusNoContent},
		{"POST", "/messages", "https://evil.example", http.StatusForbidden},
	} {
		r, err := http.NewRequestWithContext(t.Context(), row.method, url+row.path, strings.NewReader(`{"kind":"user_input","text":"Hello"}`))
		if err != nil {
			t.Fatal(err)
		}
		if row.origin != "" {
			r.Header.Set("Origin", row.origin)
		}
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		if _ = answer.Body.Close(); answer.StatusCode != row.want {
			t.Errorf("%s %s: %s, want %d", row.method, row.path, answer.Status, row.want)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, url+"/events", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = answer.Body.Close() }()
	line, err := bufio.NewReader(answer.Body).ReadString('\n')
	if err != nil || !strings.Contains(line, `{"kind":"session","session_id":"sess_`) {
		t.Errorf("first comes %q, %v", line, err)
	}
	sessions, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url+"/sessions", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	list, err := http.DefaultClient.Do(sessions)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = list.Body.Close() }()
	if raw, _ := io.ReadAll(list.Body); !strings.HasPrefix(string(raw), `{"sessions":["sess_`) {
		t.Errorf("the list is %s", raw)
	}
}
