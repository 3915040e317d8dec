package serve_test

import (
	"bytes"
	"context"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/aaep/serve"
	"github.com/earshot-dev/earshot/aaep/transport"
	"github.com/earshot-dev/earshot/aaep/transport/pipe"
)

// fuzzed is a stream that has the bytes of a test, and keeps what is written.
type fuzzed struct {
	*bytes.Reader

	written bytes.Buffer
}

func (c *fuzzed) Write(p []byte) (int, error) { return c.written.Write(p) }
func (*fuzzed) Close() error                  { return nil }

const fuzzRequest = `{"type":"subscription.request","aaep_version":"1.0.0","subscriber_id":"fuzz","capabilities":{"supports_confirmation_reply":true,"languages":["en"]}}`

// FuzzConversation: whatever a subscriber sends on a connection, the producer comes to its end, nothing stays behind, and each message
// that it answers with is one of AAEP, or one of ours.
func FuzzConversation(f *testing.F) {
	request := fuzzRequest + "\n"
	for _, seed := range []string{
		"", request, `{"type":"earshot:authenticate","token":"a secret"}` + "\n" + request, request + `{"type":"subscription.close","subscription_id":"sub_1"}` + "\n",
		strings.Replace(request, "1.0.0", "9.0.0", 1), strings.Replace(request, `"en"`, `"x"`, 1), request + request, request + "{\n", `{"type":"subscription.renegotiate"}` + "\n",
		strings.Replace(request, `"languages":["en"]`, `"event_filters":{"include":["*"]},"max_events_per_second":1,"earshot":{"resume":{"after":"evt_1"}}`, 1),
	} {
		f.Add([]byte(seed), false)
		f.Add([]byte(seed), true)
	}
	var runs atomic.Int64 // each takes a minute, so that what is kept for a while is forgotten
	p := tidy(f, serve.Options{Allow: serve.Token("a secret"), Now: func() time.Time { return time.Unix(0, 0).Add(time.Duration(runs.Load()) * time.Minute) }})
	if _, err := p.Begin(aaep.SessionStarted{SummaryNormal: "Tidying up."}); err != nil {
		f.Fatal(err)
	}
	steady := &steady{}
	f.Fuzz(func(t *testing.T, raw []byte, rpc bool) {
		runs.Add(1)
		c := &fuzzed{Reader: bytes.NewReader(raw)}
		if rpc {
			p.ServePipe(t.Context(), c)
		} else {
			p.ServeConn(t.Context(), pipe.New(c, pipe.Options{Limit: transport.MessageLimit, Framing: pipe.Lines}), "a secret")
			for line := range bytes.Lines(c.written.Bytes()) {
				if kind, _ := aaep.Read(line).Text("type"); kind == "" {
					t.Fatalf("answered %q", line)
				}
			}
		}
		steady.check(t)
	})
}

// FuzzReply: whatever is sent as a reply while a question is open, and by whom, is answered at once; it counts as a yes if and only if it is the
// accept of that question, in time, with its token, by a subscription that was asked. Nothing stays behind.
func FuzzReply(f *testing.F) {
	reply := `{"type":"confirmation.reply","reply_token":"TOKEN","decision":"accept","subscription_id":"SUB","timestamp":"2026-11-27T10:00:00.000Z"}`
	for _, seed := range []string{
		reply, "", "{", "[]", strings.Replace(reply, "accept", "reject", 1), strings.Replace(reply, "accept", "Accept", 1), strings.Replace(reply, "SUB", "sub_1", 1),
		strings.Replace(reply, `"decision"`, `"modified_action":{},"decision"`, 1), strings.Replace(reply, `"decision"`, `"decision":"reject","decision"`, 1),
		strings.Replace(reply, "2026", "2999", 1), strings.Replace(reply, "TOKEN", "TOKENx", 1), strings.Replace(reply, "confirmation", "clarification", 1),
		`{"type":"subscription.close","subscription_id":"SUB"}`, `{"type":"subscription.renegotiate","subscription_id":"SUB","capabilities":{"supports_confirmation_reply":false}}`,
	} {
		f.Add([]byte(seed), true)
		f.Add([]byte(seed), false)
	}
	steady := &steady{}
	f.Fuzz(func(t *testing.T, raw []byte, shows bool) {
		q := asking(t)
		raw = bytes.ReplaceAll(bytes.ReplaceAll(raw, []byte("SUB"), []byte(q.subscription)), []byte("TOKEN"), []byte(token))
		q.post(t, "replies", raw, shows)
		m, err := aaep.DecodeConfirmationReply(raw)
		yes := err == nil && shows && m.Decision == aaep.DecisionAccept && m.ModifiedAction == nil && m.ReplyToken == token && m.SubscriptionID == q.subscription &&
			m.Timestamp.Before(q.began.Add(5*time.Minute))
		if answer := q.end(t, !yes); answer.Accepted() != yes {
			t.Fatalf("%q counts as %s", raw, answer.Resolution)
		}
		steady.check(t)
	})
}

// question is one that a producer has asked, and that waits.
type question struct {
	*serve.Producer

	subscription string
	began        time.Time
	answer       chan serve.Answer
	withdraw     context.CancelFunc
	stream       sync.WaitGroup
}

// asking returns a producer of its own whose question has just come to its subscriber.
func asking(t *testing.T) *question {
	t.Helper()
	p, err := serve.New(serve.Options{Producer: aaep.Producer{AgentID: "tidy"}, Allow: serve.Token("a secret")})
	if err != nil {
		t.Fatal(err)
	}
	q := &question{Producer: p, began: time.Now(), answer: make(chan serve.Answer, 1)}
	accepted, err := aaep.DecodeSubscriptionAccepted(q.post(t, "subscriptions", []byte(fuzzRequest), true))
	if err != nil {
		t.Fatal(err)
	}
	q.subscription = accepted.SubscriptionID
	ctx, cancel := context.WithCancel(t.Context())
	q.withdraw = cancel
	hears := &watched{ResponseRecorder: httptest.NewRecorder(), asked: make(chan struct{})}
	q.stream.Go(func() {
		r := httptest.NewRequestWithContext(ctx, http.MethodGet, "/aaep/v1/events?subscription_id="+q.subscription, http.NoBody)
		r.Header.Set("Authorization", "Bearer a secret")
		p.ServeHTTP(hears, r)
	})
	s, err := p.Begin(aaep.SessionStarted{SummaryNormal: "Tidying up."})
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		answer, _ := s.Confirm(ctx, "files.delete", aaep.AwaitingConfirmation{
			Action: "Delete 3 files.", Consequence: "They are gone.", SummaryNormal: "Delete 3 files?", RiskLevel: aaep.RiskHigh, Irreversible: true,
			ReplyToken: token, TimeoutSeconds: 300,
		})
		q.answer <- answer
	}()
	<-hears.asked
	return q
}

// post sends a message, and returns the answer.
func (q *question) post(t *testing.T, path string, raw []byte, shows bool) []byte {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/aaep/v1/"+path, bytes.NewReader(raw))
	if shows {
		r.Header.Set("Authorization", "Bearer a secret")
	}
	w := httptest.NewRecorder()
	q.ServeHTTP(w, r)
	return w.Body.Bytes()
}

// end returns how the question ended; with withdraw it is withdrawn, unless it has ended before.
func (q *question) end(t *testing.T, withdraw bool) serve.Answer {
	t.Helper()
	if withdraw {
		q.withdraw()
	}
	answer := <-q.answer
	q.withdraw()
	q.stream.Wait()
	q.Close()
	return answer
}

// watched is a stream that says when a question has come.
type watched struct {
	*httptest.ResponseRecorder

	once  sync.Once
	asked chan struct{}
}

func (w *watched) Write(p []byte) (int, error) {
	if bytes.Contains(p, []byte("awaiting.confirmation")) {
		w.once.Do(func() { close(w.asked) })
	}
	return len(p), nil
}

// steady finds goroutines that stay behind.
type steady struct{ runs, most int }

// check demands now and then that there are no more goroutines than in the beginning. What is ending is let end.
func (s *steady) check(t *testing.T) {
	t.Helper()
	const every, room = 500, 10
	if s.runs++; s.runs%every != 1 {
		return
	}
	now := runtime.NumGoroutine()
	for range 1000 {
		if s.most == 0 || now <= s.most+room {
			break
		}
		runtime.Gosched()
		now = runtime.NumGoroutine()
	}
	if s.most == 0 {
		s.most = now
	}
	if now > s.most+room {
		t.Fatalf("%d goroutines after %d runs, %d in the beginning", now, s.runs, s.most)
	}
}
