package llm_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/earshot-dev/earshot/agents/chat/llm"
)

// server answers requests in order; the last answer is for all that follow.
type server struct {
	answers  []reply
	requests []*http.Request
	at       []time.Time
}

// reply is one answer of a server; away fails instead, and hangs sends nothing.
type reply struct {
	status              int
	header, value, body string
	away                error
	hangs               bool
}

func (s *server) RoundTrip(r *http.Request) (*http.Response, error) {
	n := min(len(s.requests), len(s.answers)-1)
	s.requests, s.at = append(s.requests, r), append(s.at, time.Now())
	a := s.answers[n]
	if a.hangs {
		<-r.Context().Done()
		return nil, r.Context().Err()
	}
	if a.away != nil {
		return nil, a.away
	}
	return &http.Response{StatusCode: a.status, Header: http.Header{a.header: {a.value}}, Body: io.NopCloser(strings.NewReader(a.body))}, nil
}

func status(code int, header, value, body string) reply {
	return reply{status: code, header: header, value: value, body: body}
}

const (
	whole = "data: {\"choices\":[{\"delta\":{\"content\":\"Hello.\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n"
	half  = "data: {\"choices\":[{\"delta\":{\"content\":\"Hel\"}}]}\n\n"
	key   = "sk-very-secret"
)

func asks(t *testing.T, s *server) (llm.Answer, []string, error) {
	t.Helper()
	c, err := llm.NewClient(llm.Options{Wire: llm.OpenAI, Endpoint: "https://api.example.org", Transport: s, Key: func() (string, error) { return key, nil }})
	must(t, err)
	var heard []string
	a, err := c.Ask(t.Context(), llm.Request{Messages: []llm.Message{{Text: "Hi."}}}, llm.Listener{
		Text: func(text string) error { heard = append(heard, text); return nil },
		Again: func(why error, _ time.Duration, began bool) error {
			heard = append(heard, fmt.Sprint(why, " ", began))
			return nil
		},
	})
	return a, heard, err
}

// TestAskedAgain: a server that is busy, away or breaks off is asked again, later each time, and this is told.
func TestAskedAgain(t *testing.T) {
	t.Parallel()
	ok, busy := status(200, "", "", whole), status(529, "", "", `{"error":{"message":"Overloaded"}}`)
	for name, tt := range map[string]struct {
		first reply
		told  string
		least time.Duration
	}{
		"overloaded":             {busy, "the model's server is overloaded or out of order: Overloaded false", time.Second},
		"too often":              {status(429, "Retry-After", "30", `{"error":{"message":"Slow down, `+key+`"}}`), "the model's server is asked too often: Slow down, (the key) false", 30 * time.Second},
		"away":                   {reply{away: errors.New("no route")}, "no route false", time.Second},
		"broken off":             {status(200, "", "", half), "Hel; the answer broke off before its end true", time.Second},
		"an error in the stream": {status(200, "", "", half+"data: {\"error\":{\"message\":\"Sorry\"}}\n\n"), "Hel; the model's server is overloaded or out of order: Sorry true", time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := &server{answers: []reply{tt.first, ok}}
				a, heard, err := asks(t, s)
				must(t, err)
				told := strings.Join(heard, "; ")
				if a.Text != "Hello." || !strings.HasSuffix(told, tt.told+"; Hello.") {
					t.Errorf("found %q, told %q", a.Text, told)
				}
				if waited := s.at[1].Sub(s.at[0]); waited < tt.least || waited > 2*tt.least {
					t.Errorf("it was asked again after %s; want %s or a little more", waited, tt.least)
				}
			})
		})
	}
}

// TestNotAskedForEver: a server that stays busy is asked a number of times.
func TestNotAskedForEver(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &server{answers: []reply{status(500, "", "", "")}}
		_, _, err := asks(t, s)
		if refused, is := errors.AsType[*llm.ServerError](err); !is || refused.Status != 500 || len(s.requests) != 8 {
			t.Errorf("%d requests, then %v", len(s.requests), err)
		}
	})
}

// TestRefused: what will not change is not asked for again, and no error has the key.
func TestRefused(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		answer  reply
		want    string
		denied  bool
		tooLong bool
	}{
		"the key":   {status(401, "", "", `{"error":{"message":"Incorrect API key: `+key+`."}}`), "does not accept the key: Incorrect API key: (the key).", true, false},
		"the model": {status(404, "", "", `{"error":{"message":"no model m9"}}`), "refused the request (HTTP 404): no model m9", false, false},
		"too long":  {status(400, "", "", `{"error":{"message":"prompt is too long: 9 > 8"}}`), "longer than the model can read", false, true},
		"too large": {status(413, "", "", ``), "longer than the model can read", false, true},
		"no words":  {status(418, "", "", `<html>`), "refused the request (HTTP 418)", false, false},
		"elsewhere": {status(307, "Location", "https://evil.example.org/v1/chat/completions", ``), "refused the request (HTTP 307)", false, false},
		"no events": {status(200, "", "", "data: <html>\n\n"), "cannot be read", false, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := &server{answers: []reply{tt.answer}}
			_, _, err := asks(t, s)
			refused, _ := errors.AsType[*llm.ServerError](err)
			if err == nil || !strings.Contains(err.Error(), tt.want) || len(s.requests) != 1 || strings.Contains(err.Error(), key) {
				t.Errorf("%d requests, then %v; want %q", len(s.requests), err, tt.want)
			}
			if refused != nil && (refused.Denied() != tt.denied || refused.TooLong != tt.tooLong) {
				t.Errorf("denied %t, too long %t", refused.Denied(), refused.TooLong)
			}
		})
	}
}

// TestStalled: a server that sends nothing is given up, and asked again.
func TestStalled(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &server{answers: []reply{{hangs: true}, status(200, "", "", whole)}}
		a, heard, err := asks(t, s)
		if err != nil || a.Text != "Hello." || !strings.Contains(heard[0], "sent nothing for 10 minutes") {
			t.Errorf("%q, %q, %v", a.Text, heard, err)
		}
	})
}

// TestStopped: a request ends with its context, also while it waits to be repeated.
func TestStopped(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &server{answers: []reply{status(503, "", "", "")}}
		c, err := llm.NewClient(llm.Options{Wire: llm.Anthropic, Endpoint: "https://api.example.org", Transport: s})
		must(t, err)
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		began := time.Now()
		if _, err := c.Ask(ctx, llm.Request{}, llm.Listener{}); err == nil || time.Since(began) != 5*time.Second {
			t.Errorf("ended after %s with %v", time.Since(began), err)
		}
	})
}

// TestHeaders: each API gets its key in its own way, and none without one.
func TestHeaders(t *testing.T) {
	t.Parallel()
	for _, wire := range wires {
		for _, key := range []string{"", key} {
			s := &server{answers: []reply{status(400, "", "", "")}}
			c, err := llm.NewClient(llm.Options{Wire: wire, Endpoint: "http://127.0.0.1:1", Transport: s, Key: func() (string, error) { return key, nil }})
			must(t, err)
			_, _ = c.Ask(t.Context(), llm.Request{}, llm.Listener{})
			h := s.requests[0].Header
			found, want := h.Get("X-Api-Key")+h.Get("Authorization"), key
			if wire == llm.OpenAI && key != "" {
				want = "Bearer " + key
			}
			if found != want {
				t.Errorf("%s: found %q, want %q", wire, found, want)
			}
		}
	}
}

// TestAddress: plain HTTP stays on this machine, and an address has no key.
func TestAddress(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		wire           llm.Wire
		endpoint, want string // a want without http is a part of the error
	}{
		{llm.OpenAI, "https://api.openai.com", "https://api.openai.com/v1/chat/completions"},
		{llm.OpenAI, "http://127.0.0.1:11434/v1/", "http://127.0.0.1:11434/v1/chat/completions"},
		{llm.OpenAI, "http://localhost:8080/v1/chat/completions", "http://localhost:8080/v1/chat/completions"},
		{llm.OpenAI, "http://[::1]:8080", "http://[::1]:8080/v1/chat/completions"},
		{llm.Anthropic, "https://api.anthropic.com/", "https://api.anthropic.com/v1/messages"},
		{llm.Anthropic, "https://proxy.example.org/anthropic/v1", "https://proxy.example.org/anthropic/v1/messages"},
		{llm.OpenAI, "http://10.0.0.7:8000/v1", "plain HTTP to another machine"},
		{llm.OpenAI, "http://localhost.example.org", "plain HTTP to another machine"},
		{llm.OpenAI, "https://me:secret@api.example.org", "a key is never part of an address"},
		{llm.OpenAI, "https://api.example.org/v1?key=1", "more than a server and a path"},
		{llm.OpenAI, "api.example.org", "is the address of a server"},
		{llm.OpenAI, "", "is the address of a server"},
		{llm.OpenAI, "file:///etc/passwd", "is the address of a server"},
		{"gemini", "https://api.example.org", "it is anthropic or openai"},
	} {
		got := ""
		_, err := llm.NewClient(llm.Options{Wire: tt.wire, Endpoint: tt.endpoint})
		if err == nil {
			got, err = llm.Address(tt.wire, tt.endpoint)
		}
		if err != nil {
			got = err.Error()
		}
		if strings.HasPrefix(tt.want, "http") && got != tt.want || !strings.Contains(got, tt.want) || strings.Contains(got, "secret") {
			t.Errorf("%s is %q; want %q", tt.endpoint, got, tt.want)
		}
	}
}

// TestLongLines: an event of many lines and an old line end are read.
func TestLongLines(t *testing.T) {
	t.Parallel()
	text := string(bytes.Repeat([]byte("x"), 1<<20))
	s := &server{answers: []reply{
		status(200, "", "", ": a comment\r\nevent: e\r\ndata: {\"choices\":[{\"delta\":{\"content\":\r\ndata: \""+text+"\"},\"finish_reason\":\"stop\"}]}\r\n\r\n"),
	}}
	if a, _, err := asks(t, s); err != nil || a.Text != text {
		t.Errorf("%d bytes, %v", len(a.Text), err)
	}
}
