//go:build !faults

package main_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/earshot-dev/earshot/api"
)

// TestServerTurnOnce: the same request with the same key begins one turn, also at a server that
// was killed and started again; another request with that key is refused.
func TestServerTurnOnce(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	post := func(key, words string) (int, string) {
		t.Helper()
		place := s.place()
		body, err := json.Marshal(map[string]any{"agent": "tidy", "args": map[string]any{"root": s.folder}, "request": words})
		must(t, err)
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, place.URL+"/api/v1/turns", bytes.NewReader(body))
		must(t, err)
		r.Header.Set("Authorization", "Bearer "+place.Token)
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Idempotency-Key", key)
		w, err := http.DefaultClient.Do(r)
		must(t, err)
		defer func() { must(t, w.Body.Close()) }()
		raw, err := io.ReadAll(w.Body)
		must(t, err)
		return w.StatusCode, string(raw)
	}
	server := s.upApart()
	status, first := post("key-1", "Tidy up.")
	if status != http.StatusCreated {
		t.Fatalf("%d %s", status, first)
	}
	if status, again := post("key-1", "Tidy up."); status != http.StatusCreated || again != first {
		t.Errorf("again: %d %s; want %s", status, again, first)
	}
	server.kill()
	server.ends(-int(syscall.SIGKILL))
	s.up()
	if status, again := post("key-1", "Tidy up."); status != http.StatusCreated || again != first {
		t.Errorf("after a crash: %d %s; want %s", status, again, first)
	}
	if status, other := post("key-1", "Tidy up!"); status != http.StatusConflict || !strings.Contains(other, "this idempotency key came with another request") {
		t.Errorf("another request: %d %s", status, other)
	}
	if n := len(s.sessions()); n != 1 {
		t.Errorf("%d sessions; want 1", n)
	}
}

func (s *scene) sessions() []api.Session {
	s.t.Helper()
	var all []api.Session
	must(s.t, json.Unmarshal([]byte(s.does(0, "sessions", "--json", "--all")), &all))
	return all
}

// TestServerTurnAnswerLost: `earshot run` whose request has begun a turn, and whose answer is
// lost on the way, attaches to that turn and begins no other.
func TestServerTurnAnswerLost(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.up()
	at, err := url.Parse(s.place().URL)
	must(t, err)
	var begun atomic.Int32
	way := httptest.NewServer(&httputil.ReverseProxy{
		FlushInterval: -1,
		Rewrite:       func(r *httputil.ProxyRequest) { r.SetURL(at) },
		ModifyResponse: func(w *http.Response) error {
			if w.Request.URL.Path == "/api/v1/turns" && begun.Add(1) < 3 {
				panic(http.ErrAbortHandler)
			}
			return nil
		},
	})
	defer way.Close()
	p := start(t, options{
		args: []string{"tidy", s.folder, "--url", way.URL, "--token-file", filepath.Join(s.data, "person.token")},
	})
	p.await("Attached: the turn runs at")
	p.hears("then press Enter.")
	p.say("reject")
	p.ends(3)
	if n := len(s.sessions()); n != 1 || begun.Load() < 3 {
		t.Errorf("%d sessions by %d requests; want 1", n, begun.Load())
	}
	s.untouched("after a no")
}

// TestServerAwayAsARunAttaches: a server that is away for the first requests after it has begun a turn, because it is started again
// just then, costs the run nothing: it follows its turn to the end.
func TestServerAwayAsARunAttaches(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.up()
	at, err := url.Parse(s.place().URL)
	must(t, err)
	var begun atomic.Bool
	var lost atomic.Int32
	way := httptest.NewServer(&httputil.ReverseProxy{
		FlushInterval: -1,
		Rewrite:       func(r *httputil.ProxyRequest) { r.SetURL(at) },
		ModifyResponse: func(w *http.Response) error {
			if begun.Load() && lost.Add(1) <= 3 {
				panic(http.ErrAbortHandler)
			}
			if w.Request.URL.Path == "/api/v1/turns" {
				begun.Store(true)
			}
			return nil
		},
	})
	defer way.Close()
	p := start(t, options{
		args: []string{"tidy", s.folder, "--url", way.URL, "--token-file", filepath.Join(s.data, "person.token")},
	})
	p.hears("then press Enter.")
	p.say("reject")
	p.ends(3)
	if n := len(s.sessions()); n != 1 || lost.Load() < 3 {
		t.Errorf("%d sessions, and %d answers were lost; want 1 and 3", n, lost.Load())
	}
	s.untouched("after a no")
}

// TestStopAllAsOneEnds: a session that ends between its listing and its stop is no trouble to `earshot stop all`, and is one to who has
// named it.
func TestStopAllAsOneEnds(t *testing.T) {
	t.Parallel()
	for which, code := range map[string]int{"all": 0, "": 3} {
		s := newScene(t)
		s.up()
		at, err := url.Parse(s.place().URL)
		must(t, err)
		run := s.run("--json")
		run.await(asked)
		way := httptest.NewServer(&httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
			if r.SetURL(at); strings.HasSuffix(r.In.URL.Path, "/stop") {
				s.does(0, "reply", "1", "reject")
				run.ends(3)
			}
		}})
		p := start(t, options{verb: "stop", args: []string{which, "--url", way.URL, "--token-file", filepath.Join(s.data, "person.token")}})
		p.ends(code)
		contains(t, p.out.String()+p.prompt.String(), map[string]string{"all": "Nothing is under way.", "": "it had ended already"}[which])
		way.Close()
	}
}
