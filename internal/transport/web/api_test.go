package web_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/hub/access"
	"github.com/earshot-dev/earshot/internal/transport/web"
)

// TestTurns: a turn starts, or it is said why not.
func TestTurns(t *testing.T) {
	t.Parallel()
	s := newScene(t, func(o *web.Options) {
		o.Agents = func(_ context.Context, t *api.TurnStart) error {
			agent := t.Agent
			if agent != "tidy" {
				return &web.Refusal{Kind: api.KindInvalid, Code: "unknown_agent", Message: "there is no agent " + agent, Hint: "there is: tidy"}
			}
			return nil
		}
	})
	w := s.do("POST", "/api/v1/turns", "ada", `{"agent":"tidy","args":{"dir":"Downloads"},"request":"tidy Downloads","answer_seconds":60}`)
	if w.Code != 201 || w.Body.String() != `{"turn_id":"turn_9","session_id":"sess_9"}`+"\n" || w.Header().Get("Location") != "/api/v1/sessions/sess_9/events" {
		t.Errorf("%d %v %s", w.Code, w.Header(), w.Body)
	}
	if got := s.room.turns[0]; string(got.Args) != `{"dir":"Downloads"}` || got.Request != "tidy Downloads" || got.Answer != 60 {
		t.Errorf("the hub got %+v", got)
	}
	s.do("POST", "/api/v1/turns", "ada", `{"agent":"tidy"}`)
	if got := s.room.turns[1]; string(got.Args) != `{}` {
		t.Errorf("without arguments: %s", got.Args)
	}
	for body, code := range map[string]string{
		`{"agent":"rm"}`:                          "unknown_agent",
		`{"args":{}}`:                             "bad_request",
		`{"agent":"tidy","answer_seconds":-1}`:    "bad_request",
		`{"agent":"tidy","owner":"eve","args":1}`: "bad_request",
	} {
		if w := s.do("POST", "/api/v1/turns", "ada", body); w.Code != 400 || !strings.Contains(w.Body.String(), `"code":"`+code+`"`) {
			t.Errorf("%s: %d %s", body, w.Code, w.Body)
		}
	}
}

// TestIdempotencyKey: a request's key reaches the hub; a repeated request gets the same answer and
// is not counted as a turn; a key that none can be is refused.
func TestIdempotencyKey(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	body := `{"agent":"tidy","args":{}}`
	key := "!" + strings.Repeat("k", 253) + "~"
	first := s.do("POST", "/api/v1/turns", "ada", body, "Idempotency-Key", key)
	again := s.do("POST", "/api/v1/turns", "ada", body, "Idempotency-Key", key)
	if first.Code != 201 || again.Code != 201 || first.Body.String() != again.Body.String() || again.Header().Get("Location") != first.Header().Get("Location") {
		t.Errorf("%d %s, then %d %s", first.Code, first.Body, again.Code, again.Body)
	}
	if s.do("POST", "/api/v1/turns", "ada", body); s.room.turns[0].Key != key || s.room.turns[1].Key != key || s.room.turns[2].Key != "" {
		t.Errorf("the hub got %+v", s.room.turns)
	}
	wants(t, s.do("GET", "/metrics", "aud", "").Body.String(), "earshot_turns_total 2\n")
	for name, bad := range map[string]string{"empty": "", "too long": key + "x", "a blank": "a b", "no ASCII": "é", "a control": "a\x7f"} {
		if w := s.do("POST", "/api/v1/turns", "ada", body, "Idempotency-Key", bad); w.Code != 400 || !strings.Contains(w.Body.String(), "1 to 255 visible ASCII characters") {
			t.Errorf("%s: %d %s", name, w.Code, w.Body)
		}
	}
	r := request("POST", "/api/v1/turns", "ada", body, "Idempotency-Key", "a")
	r.Header.Add("Idempotency-Key", "b")
	if w := record(s, r); w.Code != 400 || !strings.Contains(w.Body.String(), "found 2 headers") {
		t.Errorf("two keys: %d %s", w.Code, w.Body)
	}
	if len(s.room.turns) != 3 {
		t.Errorf("the hub got %+v", s.room.turns[3:])
	}
}

// TestCodes: anyone who shows a token gets a code that logs them in; a page, an agent and a
// tool get none.
func TestCodes(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.login("ada")
	for as, status := range map[string]int{"@ada": 403, "bot": 403, "box": 403, "": 401} {
		if w := s.do("POST", "/api/v1/codes", as, `{}`); w.Code != status || strings.Contains(w.Body.String(), "BBBB") {
			t.Errorf("%q: %d %s, want %d", as, w.Code, w.Body, status)
		}
	}
	w := s.do("POST", "/api/v1/codes", "lis", `{}`, "Host", "127.0.0.1:7411")
	if w.Code != 201 || w.Body.String() != `{"code":"BBBB-2222","page":"`+pageURL+`/","expires":"`+noon.Add(10*time.Minute).UTC().Format(time.RFC3339)+`"}`+"\n" || w.Header().Get("Cache-Control") != "no-store" {
		t.Errorf("%d %v %s", w.Code, w.Header(), w.Body)
	}
	if page, err := s.doors.Login("BBBB-2222", access.Browser{}); err != nil || s.doors.pages[page.Cookie] != "lis" {
		t.Errorf("the code logs in as %v, %v", s.doors.pages, err)
	}
	s.do("POST", "/api/v1/codes", "lis", `{}`)
	if w := s.do("POST", "/api/v1/codes", "lis", `{}`); w.Code != 429 {
		t.Errorf("too many: %d %s", w.Code, w.Body)
	}
}

// TestSessions: the lists and the record.
func TestSessions(t *testing.T) {
	t.Parallel()
	s := played(t)
	all, open := s.do("GET", "/api/v1/sessions", "ada", "").Body.String(), s.do("GET", "/api/v1/sessions?open=true", "ada", "").Body.String()
	wants(t, all, `{"sessions":[{"session_id":"sess_2"`, `{"session_id":"sess_1"`, `"ended":true`)
	lacks(t, all, "next")
	wants(t, open, `{"sessions":[{"session_id":"sess_2"`)
	lacks(t, open, "sess_1")
	empty := newScene(t).do("GET", "/api/v1/sessions", "ada", "").Body.String()
	if empty != `{"sessions":[]}`+"\n" {
		t.Errorf("none: %s", empty)
	}
	one := s.do("GET", "/api/v1/sessions/sess_1", "ada", "").Body.String()
	wants(t, one, `{"session_id":"sess_1"`, `"end":{"status":"success","tally":{"invoked":3,`)
	lacks(t, s.do("GET", "/api/v1/sessions/sess_2", "ada", "").Body.String(), `"end"`)
	w := s.do("GET", "/api/v1/sessions/sess_1/events?after=1", "ada", "")
	lines := strings.Split(strings.TrimSuffix(w.Body.String(), "\n"), "\n")
	if w.Header().Get("Content-Type") != "application/jsonl" || len(lines) != 3 {
		t.Errorf("%v, %d lines", w.Header(), len(lines))
	}
	for i, line := range lines {
		if e, err := aaep.DecodeEvent([]byte(line)); err != nil || e.SessionID != "sess_1" {
			t.Errorf("line %d: %v in %s", i, err, line)
		}
	}
	for target, want := range map[string]int{
		"/api/v1/sessions/sess_9": 404, "/api/v1/sessions/sess_9/events": 404, "/api/v1/sessions/sess_9/recap": 404, "/api/v1/sessions/sess_1/events?after=x": 400,
		"/api/v1/sessions/sess_1/events?after=-1": 400, "/api/v1/sessions/sess_1/events?after=99": 200, "/api/v1/questions/x/arguments": 400,
		"/api/v1/questions/0/arguments": 400, "/api/v1/nothing": 404,
	} {
		if w := s.do("GET", target, "ada", ""); w.Code != want {
			t.Errorf("%s: %d, want %d", target, w.Code, want)
		}
	}
	recap := s.do("GET", "/api/v1/sessions/sess_1/recap?n=2", "ada", "").Body.String()
	wants(t, recap, `{"announcements":[{"id":"sess_1.`, `"text":"`)
	if n := strings.Count(recap, `"text"`); n != 2 {
		t.Errorf("%d are told again: %s", n, recap)
	}
}

// TestCutRecord: a record that breaks in the middle is not taken for a whole one.
func TestCutRecord(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.room.begin("sess_1", "")
	server := httptest.NewServer(s.server)
	defer server.Close()
	s.room.fail = errors.New("the ledger is gone")
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL+"/api/v1/sessions/sess_1/events", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer secret-ada")
	w, err := server.Client().Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = w.Body.Close() }()
	text := mustRead(t, w.Body)
	if w.StatusCode != http.StatusInternalServerError || strings.Contains(text, "ledger") || !strings.Contains(text, `"code":"internal_error"`) {
		t.Errorf("%d %s", w.StatusCode, text)
	}
}

// TestWords: the words of the API, and those that are none.
func TestWords(t *testing.T) {
	t.Parallel()
	s := played(t)
	for target, want := range map[string]web.Reply{
		"/api/v1/questions/2/extend":   {Verb: web.VerbExtend, Question: 2, At: noon},
		"/api/v1/questions/2/undo":     {Verb: web.VerbUndo, Question: 2, At: noon},
		"/api/v1/questions/2/stop":     {Verb: web.VerbStop, Question: 2, At: noon},
		"/api/v1/sessions/sess_2/stop": {Verb: web.VerbStop, Session: "sess_2", At: noon},
	} {
		w := s.do("POST", target, "ada", `{}`)
		if got := s.room.words[len(s.room.words)-1]; w.Code != 200 || got != want {
			t.Errorf("%s: %d %s, the hub got %+v", target, w.Code, w.Body, got)
		}
	}
	w := s.do("POST", "/api/v1/questions/2/reply", "ada", `{"decision":"accept","reply_token":"`+tokenA+`","reason":"old"}`)
	if got := s.room.words[len(s.room.words)-1]; w.Body.String() != `{"question":2,"resolution":"accepted"}`+"\n" || got.Token != tokenA || got.Reason != "old" {
		t.Errorf("%s, the hub got %+v", w.Body, got)
	}
	before := len(s.room.words)
	for _, tt := range []struct {
		target, body string
		want         int
	}{
		{"/api/v1/questions/2/reply", `{}`, 400},
		{"/api/v1/questions/2/reply", `{"decision":"yes"}`, 400},
		{"/api/v1/questions/2/reply", `{"decision":"accept","response":"x"}`, 400},
		{"/api/v1/questions/2/extend", `{"decision":"accept"}`, 400},
		{"/api/v1/questions/two/reply", `{"decision":"accept"}`, 400},
		{"/api/v1/questions/2/reply", ``, 415},
	} {
		if w := s.do("POST", tt.target, "ada", tt.body); w.Code != tt.want {
			t.Errorf("%s %s: %d, want %d", tt.target, tt.body, w.Code, tt.want)
		}
	}
	if len(s.room.words) != before {
		t.Errorf("the hub got %+v", s.room.words[before:])
	}
	if w := s.do("POST", "/api/v1/questions/9/reply", "ada", `{"decision":"accept"}`); w.Code != 404 {
		t.Errorf("a question that is not open: %d", w.Code)
	}
}

// TestRefusals: each kind has its status, and says whether a retry is safe.
func TestRefusals(t *testing.T) {
	t.Parallel()
	for kind, want := range map[api.Kind]int{
		api.KindInvalid: 400, api.KindUnauthenticated: 401, api.KindForbidden: 403, api.KindNotFound: 404, api.KindConflict: 409, api.KindTooLarge: 413,
		api.KindMedia: 415, api.KindMisdirected: 421, api.KindBusy: 429, api.KindUnavailable: 503, api.KindUncertain: 504, "else": 500,
	} {
		s := newScene(t)
		s.room.fail = &web.Refusal{Kind: kind, Message: "this was found", Hint: "do that", After: 1500 * time.Millisecond}
		w := s.do("GET", "/api/v1/sessions", "ada", "")
		retry := `"safe_to_retry":false`
		if kind == api.KindBusy || kind == api.KindUnavailable {
			retry = `"safe_to_retry":true`
		}
		if w.Code != want || w.Header().Get("Retry-After") != "2" {
			t.Errorf("%s: %d %v", kind, w.Code, w.Header())
		}
		wants(t, w.Body.String(), `"code":"`+string(kind)+`"`, `"message":"this was found"`, `"hint":"do that"`, retry)
	}
}

// TestBodyRefusals: a body that does not fit is refused in words, without names from Go.
func TestBodyRefusals(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	for body, want := range map[string]string{
		`{"agnt":"tidy"}`:         "it has the member /agnt, which is not known",
		`{"agent":7}`:             "the value of /agent is not of the kind that it should be",
		`{"agent":"a","agent":1}`: "it has the member /agent twice",
		`agent=tidy`:              "it is not JSON from byte 1 on",
	} {
		w := s.do("POST", "/api/v1/turns", "ada", body)
		wants(t, w.Body.String(), `"message":"the body is not what this address takes: `+want+`"`)
	}
	w := s.do("POST", "/api/v1/turns", "ada", `{}`, "Content-Type", "application/x-www-form-urlencoded")
	wants(t, w.Body.String(), `"hint":"send JSON, with the header Content-Type: application/json"`)
}

// TestCounters: what others count stands beside the server's own figures.
func TestCounters(t *testing.T) {
	t.Parallel()
	s := newScene(t, func(o *web.Options) {
		o.Counters = func() []web.Counter { return []web.Counter{{Name: "earshot_found_total", Help: "Found.", Value: 7}} }
	})
	wants(t, s.do("GET", "/metrics", "aud", "").Body.String(), "earshot_streams_open 0\n", "# TYPE earshot_found_total counter\nearshot_found_total 7\n")
}

// TestHealth: alive is not ready.
func TestHealth(t *testing.T) {
	t.Parallel()
	var busy error
	s := newScene(t, func(o *web.Options) { o.Ready = func(context.Context) error { return busy } })
	if w := s.do("GET", "/readyz", "", ""); w.Code != 200 {
		t.Errorf("ready: %d", w.Code)
	}
	busy = errors.New("the ledger is frozen")
	w := s.do("GET", "/readyz", "", "")
	if w.Code != 503 || strings.Contains(w.Body.String(), "frozen") {
		t.Errorf("not ready: %d %s", w.Code, w.Body)
	}
	if w := s.do("GET", "/healthz", "", ""); w.Code != 200 || w.Body.String() != `{"status":"ok"}`+"\n" {
		t.Errorf("alive: %d %s", w.Code, w.Body)
	}
}

// TestOptions: what cannot work is refused before anything is served.
func TestOptions(t *testing.T) {
	t.Parallel()
	for name, o := range map[string]web.Options{
		"no hub":    {Access: newDoors()},
		"no access": {Hub: newRoom()},
	} {
		if _, err := web.New(o); err == nil {
			t.Errorf("%s is taken", name)
		}
	}
}
