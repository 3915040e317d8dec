package web_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/earshot-dev/earshot/internal/transport/web"
)

// TestMethods: an address that is there with another method says so, and with which; one that
// is not there is not found. Nothing of that needs a login, and nothing is done.
func TestMethods(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	for _, c := range []struct {
		method, target string
		status         int
		allow          string
	}{
		{"GET", "/aaep/v1/replies", 405, "OPTIONS, POST"},
		{"GET", "/aaep/v1/subscriptions", 405, "OPTIONS, POST"},
		{"DELETE", "/aaep/v1/events?subscription_id=x", 405, "GET, HEAD, OPTIONS"},
		{"PUT", "/api/v1/turns", 405, "OPTIONS, POST"},
		{"GET", "/api/v1/turns", 405, "OPTIONS, POST"},
		{"POST", "/api/v1/sessions", 405, "GET, HEAD, OPTIONS"},
		{"POST", "/", 405, "GET, HEAD, OPTIONS"},
		{"DELETE", "/login", 405, "GET, HEAD, OPTIONS, POST"},
		{"GET", "/questions/1/accept", 405, "OPTIONS, POST"},
		{"POST", "/healthz", 405, "GET, HEAD, OPTIONS"},
		{"OPTIONS", "/api/v1/turns", 204, "OPTIONS, POST"},
		{"OPTIONS", "/api/v1/preferences", 204, "GET, HEAD, OPTIONS, PUT"},
		{"POST", "/api/v1/preferences", 405, "GET, HEAD, OPTIONS, PUT"},
		{"OPTIONS", "/", 204, "GET, HEAD, OPTIONS"},
		{"OPTIONS", "/api/v1/nothing", 404, ""},
		{"GET", "/api/v1/nothing", 404, ""},
		{"GET", "/api/v1/sessions/", 404, ""},
		{"GET", "/aaep/v1/", 404, ""},
		{"TRACE", "/api/v1/sessions", 405, "GET, HEAD, OPTIONS"},
	} {
		w := s.do(c.method, c.target, "", "", "Origin", pageURL)
		if w.Code != c.status || w.Header().Get("Allow") != c.allow {
			t.Errorf("%s %s: %d, Allow %q; want %d, %q", c.method, c.target, w.Code, w.Header().Get("Allow"), c.status, c.allow)
		}
		if w.Code >= 400 && (w.Header().Get("Content-Type") != "application/json" || !strings.HasPrefix(w.Body.String(), `{"error":{"code":"`)) {
			t.Errorf("%s %s: %v %s", c.method, c.target, w.Header(), w.Body)
		}
	}
	if len(s.room.turns)+len(s.room.words) != 0 {
		t.Error("something was done")
	}
	page := s.do("GET", "/api/v1/turns", "", "", "Accept", "text/html")
	wants(t, page.Body.String(), "<!DOCTYPE html>")
}

// TestNothingIsKept: whatever is answered, no cache may keep it, but for the style and the
// scripts, which are asked for again each time.
func TestNothingIsKept(t *testing.T) {
	t.Parallel()
	s := played(t)
	s.login("ada")
	for _, target := range []string{"/", "/login", "/sessions", "/questions/2/arguments", "/api/v1/sessions", "/api/v1/sessions/sess_1/events", "/api/v1/nothing", "/healthz", "/readyz", "/metrics", "/.well-known/aaep-manifest.json"} {
		for _, as := range []string{"@ada", ""} {
			w := s.do("GET", target, as, "", "Accept", "text/html")
			if kept := w.Header().Get("Cache-Control"); !strings.Contains(kept, "no-store") {
				t.Errorf("%s as %q: %d, Cache-Control %q", target, as, w.Code, kept)
			}
		}
	}
}

// TestHead: HEAD tells about a stream without opening one, and does not use up a notice.
func TestHead(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := played(t)
		s.login("ada")
		if w := s.do("HEAD", "/page/events", "@ada", ""); w.Code != 200 || w.Header().Get("Content-Type") != "text/event-stream" || w.Body.Len() != 0 {
			t.Errorf("HEAD of a stream: %d %v %s", w.Code, w.Header(), w.Body)
		}
		if w := s.do("HEAD", "/aaep/v1/events?subscription_id=sub_1", "ada", ""); w.Code != 404 {
			t.Errorf("HEAD of the stream of nothing: %d", w.Code)
		}
		if len(s.room.subs) != 0 {
			t.Error("HEAD has subscribed")
		}
		s.submit("/sessions/sess_2/stop", "@ada", "form="+s.form)
		s.do("HEAD", "/", "@ada", "", "Accept", "text/html")
		wants(t, s.page("/", "@ada"), "Stopping.")
	})
}

// TestTimeIsUp: where the hub does not answer, a request ends in time and says that it is not
// known what was done; streams have no such end.
func TestTimeIsUp(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := newScene(t, func(o *web.Options) {
			o.Ready = func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }
		})
		s.room.hang = true
		for target, most := range map[string]time.Duration{"/readyz": 2 * time.Second, "/api/v1/sessions": 30 * time.Second, "/api/v1/questions": 30 * time.Second} {
			began := time.Now()
			w := s.do("GET", target, "ada", "")
			if took := time.Since(began); took != most || w.Code != 503 || w.Header().Get("Retry-After") == "" {
				t.Errorf("%s: %d after %s: %s", target, w.Code, took, w.Body)
			}
		}
	})
}

// TestSlowBody: anyone who sends a body and never its end holds nothing for long, also where the
// body is not read because nobody is logged in.
func TestSlowBody(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	var limits []bool
	w := &limited{ResponseRecorder: httptest.NewRecorder(), reads: func(at time.Time) { limits = append(limits, !at.IsZero()) }}
	s.server.ServeHTTP(w, request("POST", "/api/v1/turns", "", `{"agent":"tidy"}`))
	if w.Code != 401 || len(limits) == 0 || !limits[len(limits)-1] {
		t.Errorf("%d, and the time of the body was bounded as %v", w.Code, limits)
	}
}

// TestSlowReaderOfAnAnswer: an answer that nobody takes is given up, each part of a long one
// after its own time.
func TestSlowReaderOfAnAnswer(t *testing.T) {
	t.Parallel()
	s := played(t)
	writes := 0
	w := &limited{ResponseRecorder: httptest.NewRecorder(), writes: func(at time.Time) {
		if left := time.Until(at); left > 0 && left <= 30*time.Second {
			writes++
		}
	}}
	s.server.ServeHTTP(w, request("GET", "/api/v1/sessions/sess_1/events", "ada", ""))
	if lines := strings.Count(w.Body.String(), "\n"); writes < lines || lines < 4 {
		t.Errorf("%d lines were written under %d bounds", lines, writes)
	}
}

// limited is a writer that can bound the time of its connection.
type limited struct {
	*httptest.ResponseRecorder

	reads, writes func(at time.Time)
}

func (l *limited) SetReadDeadline(at time.Time) error {
	if l.reads != nil {
		l.reads(at)
	}
	return nil
}

func (l *limited) SetWriteDeadline(at time.Time) error {
	if l.writes != nil {
		l.writes(at)
	}
	return nil
}

// TestCookieSubscribes: a login of the page does not speak to the protocol either.
func TestCookieSubscribes(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.login("ada")
	w := s.do("POST", "/aaep/v1/subscriptions", "@ada", wish, "Origin", pageURL)
	if w.Code != http.StatusForbidden || len(s.room.subs) != 0 || !strings.Contains(w.Body.String(), `"authorization_denied"`) {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}
