package main_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"syscall"
	"testing"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/testkit"
)

// TestSessionsListed: the newest sessions come first, as many as are asked for; that there
// are others is said. One owner has 200 turns open at most, over HTTP too.
func TestSessionsListed(t *testing.T) {
	t.Parallel()
	testkit.Slow(t)
	s := newScene(t)
	server := s.up()
	place := s.place()
	begin := func() (status int, code, after string) {
		body, err := json.Marshal(map[string]any{"agent": "tidy", "args": map[string]string{"root": s.folder}})
		must(t, err)
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, place.URL+"/api/v1/turns", bytes.NewReader(body))
		must(t, err)
		r.Header.Set("Authorization", "Bearer "+place.Token)
		r.Header.Set("Content-Type", "application/json")
		answer, err := http.DefaultClient.Do(r)
		must(t, err)
		defer func() { _ = answer.Body.Close() }()
		raw, err := io.ReadAll(answer.Body)
		must(t, err)
		var refusal struct {
			Error struct {
				Code string `json:"code"`
				Safe bool   `json:"safe_to_retry"`
			} `json:"error"`
		}
		_ = json.Unmarshal(raw, &refusal) // what was taken has no such member
		if answer.StatusCode != http.StatusCreated && !refusal.Error.Safe {
			t.Errorf("it is not safe to try again: %s", raw)
		}
		return answer.StatusCode, refusal.Error.Code, answer.Header.Get("Retry-After")
	}
	for n := range 200 { // eight of them ask, and the others wait for those
		if status, code, _ := begin(); status != http.StatusCreated {
			t.Fatalf("turn %d: %d %s", n, status, code)
		}
	}
	if status, code, after := begin(); status != http.StatusTooManyRequests || code != "too_many_turns" || after == "" {
		t.Errorf("one more: %d %s, Retry-After %q", status, code, after)
	}
	list := func(args ...string) []api.Session {
		p := start(t, options{verb: "sessions", data: s.data, args: append(args, "--json"), nobody: true})
		p.ends(0)
		var rows []api.Session
		must(t, json.Unmarshal([]byte(p.out.String()), &rows))
		if strings.Contains(p.prompt.String(), "There are older ones") != (len(rows) < 200) {
			t.Errorf("%v lists %d sessions and says %q", args, len(rows), p.prompt)
		}
		for i, row := range rows[1:] {
			if row.Created.After(rows[i].Created) {
				t.Errorf("%v: the older session comes first", args)
			}
		}
		return rows
	}
	for want, args := range map[int][]string{50: nil, 3: {"--limit", "3"}, 150: {"--limit", "150"}, 200: {"--all"}, 120: {"--open", "--limit", "120"}} {
		if rows := list(args...); len(rows) != want {
			t.Errorf("%v lists %d sessions", args, len(rows))
		}
	}
	contains(t, s.does(2, "sessions", "--limit", "0"), "--limit 0 is not a number of sessions")
	s.does(2, "sessions", "--limit", "1", "--all")
	server.signal(syscall.SIGTERM)
	server.ends(0)
}
