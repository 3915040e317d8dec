package web_test

import (
	"bufio"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/internal/transport/web"
)

const wish = `{"type":"subscription.request","aaep_version":"1.0.0","subscriber_id":"reader-1","capabilities":{"supports_confirmation_reply":true}}`

// subscribe makes a subscription and returns where its stream is.
func (s *scene) subscribe(as string) string {
	s.Helper()
	w := s.do("POST", "/aaep/v1/subscriptions", as, wish)
	if w.Code != http.StatusCreated {
		s.Fatalf("subscribe: %d %s", w.Code, w.Body)
	}
	return w.Header().Get("Location")
}

// TestFrames: the bytes of a stream (TR-SSE-03, TR-SSE-06, TR-SSE-11).
func TestFrames(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := newScene(t)
		s.room.begin("sess_1", "")
		r := s.stream(s.subscribe("ada"), "ada")
		defer r.close()
		id := s.room.tell("sess_1", aaep.StateChanged{FromState: "idle", ToState: "thinking", SummaryNormal: "Thinking."})
		want := ": connected\n\nevent: aaep.event\nid: " + id + "\ndata: " + string(s.room.log[1].raw) + "\n\n"
		if got := r.text(); got != want {
			t.Errorf("got  %q\nwant %q", got, want)
		}
		for name, want := range map[string]string{"Content-Type": "text/event-stream", "Cache-Control": "no-cache, no-transform", "X-Accel-Buffering": "no"} {
			if got := r.head.Get(name); got != want {
				t.Errorf("%s: %q, want %q", name, got, want)
			}
		}
	})
}

// TestLineBreaks: whatever a text holds, a frame has one line of data, and the JSON means
// the same (C-92).
func TestLineBreaks(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := newScene(t)
		s.room.begin("sess_1", "")
		r := s.stream(s.subscribe("ada"), "ada")
		defer r.close()
		text := "one\ntwo\r\nthree\u0085four\u2028five\u2029six\u00a0seven data: x"
		s.room.tell("sess_1", aaep.OutputStreaming{Chunk: text, Complete: true})
		lines := strings.Split(r.text(), "\n")
		if len(lines) != 7 || !strings.HasPrefix(lines[4], "data: {") {
			t.Fatalf("found %d lines: %q", len(lines), lines)
		}
		if strings.ContainsAny(lines[4], "\r\u0085\u2028\u2029") {
			t.Errorf("a break is left in %q", lines[4])
		}
		e, err := aaep.DecodeEvent([]byte(strings.TrimPrefix(lines[4], "data: ")))
		if err != nil || e.Payload.(aaep.OutputStreaming).Chunk != text {
			t.Errorf("the text has become %+v, %v", e.Payload, err)
		}
	})
}

// TestHeartbeat: a stream is never silent for longer than 15 s (TR-SSE-13), and no write
// may take for ever.
func TestHeartbeat(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := newScene(t)
		s.room.begin("sess_1", "")
		r := s.stream(s.subscribe("ada"), "ada")
		defer r.close()
		beats := func() int { return strings.Count(r.text(), ": still here\n\n") }
		<-time.After(14 * time.Second)
		if beats() != 0 {
			t.Error("it beats although it has just spoken")
		}
		<-time.After(time.Second)
		if beats() != 1 {
			t.Errorf("%d beats after 15 s", beats())
		}
		<-time.After(14 * time.Second)
		s.room.tell("sess_1", aaep.StateChanged{FromState: "idle", ToState: "thinking"})
		<-time.After(14 * time.Second)
		if beats() != 1 {
			t.Errorf("%d beats: an event counts too", beats())
		}
		<-time.After(61 * time.Second)
		if beats() != 6 {
			t.Errorf("%d beats after another minute", beats())
		}
		for _, limit := range r.limits[1:] { // the first is that of any answer
			if limit != 30*time.Second {
				t.Errorf("a write may take %s", limit)
			}
		}
	})
}

// TestResume: with Last-Event-ID nothing is lost and nothing repeated (TR-SSE-09,
// TR-SSE-10); without one it begins now.
func TestResume(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := newScene(t)
		s.room.begin("sess_1", "")
		at := s.subscribe("ada")
		r := s.stream(at, "ada")
		first := s.room.tell("sess_1", aaep.StateChanged{FromState: "idle", ToState: "thinking"})
		wants(t, r.text(), "id: "+first)
		r.close()
		second := s.room.tell("sess_1", aaep.StateChanged{FromState: "thinking", ToState: "deciding"})
		third := s.room.tell("sess_1", aaep.StateChanged{FromState: "deciding", ToState: "thinking"})
		again := s.stream(at, "ada", "Last-Event-ID", first)
		defer again.close()
		if got := ids(again.text()); got != second+" "+third {
			t.Errorf("resumed with %s", got)
		}
		anew := s.stream(at, "ada")
		defer anew.close()
		if got := ids(anew.text()); got != "" {
			t.Errorf("without an id it begins with %s", got)
		}
	})
}

func ids(text string) string {
	var all []string
	for line := range strings.Lines(text) {
		if id, ok := strings.CutPrefix(line, "id: "); ok {
			all = append(all, strings.TrimSpace(id))
		}
	}
	return strings.Join(all, " ")
}

// TestWhose: a subscription is its maker's alone (C-83); without one there is no stream.
func TestWhose(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := newScene(t)
		at := s.subscribe("ada")
		for name, tt := range map[string]struct {
			target, as string
			want       int
		}{
			"another's":     {at, "lis", 404},
			"nobody's":      {at, "", 401},
			"one of nobody": {"/aaep/v1/events?subscription_id=sub_ffffffffffffffff", "ada", 404},
			"none":          {"/aaep/v1/events", "ada", 400},
		} {
			if w := s.do("GET", tt.target, tt.as, ""); w.Code != tt.want {
				t.Errorf("%s: %d, want %d", name, w.Code, tt.want)
			}
		}
		s.do("POST", "/aaep/v1/replies", "ada", `{"type":"subscription.close","subscription_id":"`+strings.TrimPrefix(at, "/aaep/v1/events?subscription_id=")+`"}`)
		if w := s.do("GET", at, "ada", ""); w.Code != 404 {
			t.Errorf("one that was closed: %d", w.Code)
		}
	})
}

// TestClose: a close ends the stream at once (HS-68, HS-70, TR-07).
func TestClose(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := newScene(t)
		at := s.subscribe("ada")
		r := s.stream(at, "ada")
		s.do("POST", "/aaep/v1/replies", "ada", `{"type":"subscription.close","subscription_id":"`+strings.TrimPrefix(at, "/aaep/v1/events?subscription_id=")+`"}`)
		if !r.ended() {
			t.Error("the stream goes on")
		}
	})
}

// TestRevoked: who loses the right to hear loses the stream: a token at once, also one
// whose roles have changed; a login when it is over.
func TestRevoked(t *testing.T) {
	for name, change := range map[string]func(d *doors){
		"revoked": func(d *doors) { delete(d.who, "ada") },
		"another role": func(d *doors) {
			p := d.who["ada"]
			p.Roles = p.Roles[:1]
			d.who["ada"] = p
		},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				s := newScene(t)
				s.login("ada")
				token, page := s.stream(s.subscribe("ada"), "ada"), s.stream("/page/events", "@ada")
				other := s.stream(s.subscribe("lis"), "lis")
				defer other.close()
				s.doors.mu.Lock()
				change(s.doors)
				s.doors.mu.Unlock()
				s.doors.ring()
				if !token.ended() || !page.ended() || other.ended() {
					t.Errorf("ended: token %v, page %v, another's %v", token.ended(), page.ended(), other.ended())
				}
			})
		})
	}
}

// TestRunsOut: even when nobody rings, a login that has run out is found within 15 seconds, also
// on a stream that is never silent.
func TestRunsOut(t *testing.T) {
	for name, news := range map[string]func(*scene){
		"a silent stream": func(*scene) {},
		"a busy stream": func(s *scene) {
			s.room.tell("sess_1", aaep.StateChanged{FromState: "idle", ToState: "thinking"})
		},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				s := newScene(t)
				s.room.begin("sess_1", "")
				s.login("ada")
				token, page := s.stream(s.subscribe("ada"), "ada"), s.stream("/page/events", "@ada")
				s.doors.mu.Lock()
				clear(s.doors.pages)
				delete(s.doors.who, "ada")
				s.doors.mu.Unlock()
				for range 4 {
					<-time.After(4 * time.Second)
					news(s)
				}
				if !token.ended() || !page.ended() {
					t.Errorf("ended: token %v, page %v", token.ended(), page.ended())
				}
			})
		})
	}
}

// TestBrokenReader: a reader that takes nothing more is let go, and nobody waits for it.
func TestBrokenReader(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := newScene(t)
		s.room.begin("sess_1", "")
		r, other := s.stream(s.subscribe("ada"), "ada"), s.stream(s.subscribe("lis"), "lis")
		defer other.close()
		r.mu.Lock()
		r.broken = true
		r.mu.Unlock()
		id := s.room.tell("sess_1", aaep.StateChanged{FromState: "idle", ToState: "thinking"})
		if !r.ended() {
			t.Error("it is still written to")
		}
		wants(t, other.text(), id)
	})
}

// TestServerClose ends every stream, and refuses new ones with a hint to come back.
func TestServerClose(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := newScene(t)
		s.login("ada")
		at := s.subscribe("ada")
		r, page := s.stream(at, "ada"), s.stream("/page/events", "@ada")
		s.server.Close()
		s.server.Close()
		if !r.ended() || !page.ended() {
			t.Error("a stream outlives the server")
		}
		w := s.do("GET", at, "ada", "")
		if w.Code != 503 || w.Header().Get("Retry-After") != "2" || !strings.Contains(w.Body.String(), `"safe_to_retry":true`) {
			t.Errorf("%d %v %s", w.Code, w.Header(), w.Body)
		}
	})
}

// TestManyStreams: one principal cannot take all there is.
func TestManyStreams(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := newScene(t, func(o *web.Options) { o.Streams = 2 })
		at := s.subscribe("ada")
		one, two := s.stream(at, "ada"), s.stream(at, "ada")
		if w := s.do("GET", at, "ada", ""); w.Code != 429 || w.Header().Get("Retry-After") == "" {
			t.Errorf("a third: %d", w.Code)
		}
		other := s.stream(s.subscribe("lis"), "lis")
		if other.ended() {
			t.Error("another principal is refused")
		}
		wants(t, s.do("GET", "/metrics", "ada", "").Body.String(), "\nearshot_streams_open 3\n", "\nearshot_subscriptions_total 2\n")
		one.close()
		synctest.Wait()
		if third := s.stream(at, "ada"); third.ended() {
			t.Error("the place of one that has gone stays taken")
		} else {
			third.close()
		}
		two.close()
		other.close()
		wants(t, s.do("GET", "/metrics", "ada", "").Body.String(), "\nearshot_streams_open 0\n")
	})
}

// TestManyReaders: two subscribers hear the same, in the same order (TR-04, HS-72).
func TestManyReaders(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := newScene(t)
		s.room.begin("sess_1", "")
		one, two := s.stream(s.subscribe("ada"), "ada"), s.stream(s.subscribe("lis"), "lis")
		defer one.close()
		defer two.close()
		var want []string
		for i := range 50 {
			want = append(want, s.room.tell("sess_1", aaep.StateChanged{FromState: "thinking", ToState: "deciding", SummaryNormal: fmt.Sprint(i)}))
		}
		for _, r := range []*reader{one, two} {
			if got := ids(r.text()); got != strings.Join(want, " ") {
				t.Errorf("heard %s", got)
			}
		}
	})
}

// TestWire: the same over a real connection, past the time limits that the server has for
// other requests: heard, broken off, resumed.
func TestWire(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.room.begin("sess_1", "")
	server := httptest.NewServer(s.server)
	defer server.Close()
	defer s.server.Close()
	at := server.URL + s.subscribe("ada")
	open := func(last string) *bufio.Reader {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, at, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer secret-ada")
		r.Header.Set("Last-Event-ID", last)
		w, err := server.Client().Do(r)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = w.Body.Close() })
		if w.StatusCode != http.StatusOK || w.Header.Get("Content-Type") != "text/event-stream" {
			t.Fatalf("%d %v", w.StatusCode, w.Header)
		}
		return bufio.NewReader(w.Body)
	}
	next := func(from *bufio.Reader) string {
		for {
			line, err := from.ReadString('\n')
			if err != nil {
				t.Fatal(err)
			}
			if id, ok := strings.CutPrefix(line, "id: "); ok {
				return strings.TrimSpace(id)
			}
		}
	}
	first := s.room.tell("sess_1", aaep.StateChanged{FromState: "idle", ToState: "thinking"})
	second := s.room.tell("sess_1", aaep.StateChanged{FromState: "thinking", ToState: "deciding"})
	if got := next(open("evt_11")); got != first {
		t.Errorf("heard %s, want %s", got, first)
	}
	if got := next(open(first)); got != second {
		t.Errorf("resumed with %s, want %s", got, second)
	}
}
