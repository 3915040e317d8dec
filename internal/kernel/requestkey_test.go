package kernel_test

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/kernel/store"
	"github.com/earshot-dev/earshot/utp"
)

func keyedRequest() api.EnqueueRequest {
	return api.EnqueueRequest{
		Agent: agentName, Args: jsontext.Value(`{"a":1,"b":{"c":2}}`), Request: "tidy up", Owner: person, Answer: 30,
		ResultFields: []string{"title"}, Key: "5f8e0d2a-key",
	}
}

// TestRequestKey: the same request of the same principal with the same key gives the same turn
// within a day, also after a restart, when it has ended, and in another spelling of its JSON.
func TestRequestKey(t *testing.T) {
	inWorld(t, func(w *world) { w.unended = true }, func(t *testing.T, w *world) {
		begin := func(change func(*api.EnqueueRequest)) api.EnqueueAnswer {
			t.Helper()
			q := keyedRequest()
			change(&q)
			a, err := w.hub.Enqueue(w.ctx, q)
			if err != nil {
				t.Fatal(err)
			}
			return a
		}
		same := func(*api.EnqueueRequest) {}
		first := begin(same)
		w.follow(first.Session)
		if first.Repeated {
			t.Error("the first request is told as a repeated one")
		}
		again := func(what string, change func(*api.EnqueueRequest)) {
			t.Helper()
			if a := begin(change); a.Turn != first.Turn || a.Session != first.Session || !a.Repeated {
				t.Errorf("%s: %+v; the first was %+v", what, a, first)
			}
		}
		again("at once", same)
		again("in another spelling", func(q *api.EnqueueRequest) { q.Args = jsontext.Value(` { "b" : {"c":2.0}, "\u0061":1 } `) })
		w.restart()
		again("after a restart", same)
		if _, err := w.hub.Stop(w.ctx, api.ReplyRequest{Session: first.Session, By: person}); err != nil {
			t.Fatal(err)
		}
		w.over(first.Turn)
		again("when it has ended", same)
		w.pass(store.KeyLife - time.Minute)
		again("nearly a day later", same)
		if n := w.cell(`SELECT count(*) FROM turns`); n != "1" {
			t.Errorf("%s turns; want 1", n)
		}
		w.pass(time.Minute)
		if a := begin(same); a.Turn == first.Turn || a.Repeated {
			t.Errorf("a day later: %+v", a)
		}
	})
}

// TestRequestKeyOfAnother: another request with the same key is a conflict and begins nothing;
// another principal's key of the same text, another key and no key are another request.
func TestRequestKeyOfAnother(t *testing.T) {
	inWorld(t, func(w *world) { w.unended = true }, func(t *testing.T, w *world) {
		first, err := w.hub.Enqueue(w.ctx, keyedRequest())
		if err != nil {
			t.Fatal(err)
		}
		for what, change := range map[string]func(*api.EnqueueRequest){
			"other arguments": func(q *api.EnqueueRequest) { q.Args = jsontext.Value(`{"a":1}`) },
			"other words":     func(q *api.EnqueueRequest) { q.Request = "tidy up!" },
			"another agent":   func(q *api.EnqueueRequest) { q.Agent = "other" },
			"another time":    func(q *api.EnqueueRequest) { q.Answer = 31 },
			"other fields":    func(q *api.EnqueueRequest) { q.ResultFields = nil },
			"another depth":   func(q *api.EnqueueRequest) { q.Depth = 1 },
		} {
			q := keyedRequest()
			change(&q)
			_, err := w.hub.Enqueue(w.ctx, q)
			t.Log(what)
			wantFault(t, err, utp.CodeConflict)
			if err == nil || !strings.Contains(err.Error(), first.Session) || !strings.Contains(err.Error(), "nothing was started") {
				t.Errorf("%s: %v", what, err)
			}
		}
		if n := w.cell(`SELECT count(*) FROM turns`); n != "1" {
			t.Errorf("%s turns; want 1", n)
		}
		for what, change := range map[string]func(*api.EnqueueRequest){
			"another principal": func(q *api.EnqueueRequest) { q.Owner = "bob" },
			"another key":       func(q *api.EnqueueRequest) { q.Key = strings.Repeat("~", api.MaxKey) },
			"no key":            func(q *api.EnqueueRequest) { q.Key = "" },
		} {
			q := keyedRequest()
			change(&q)
			if a, err := w.hub.Enqueue(w.ctx, q); err != nil || a.Turn == first.Turn || a.Repeated {
				t.Errorf("%s: %+v, %v", what, a, err)
			}
		}
		for _, bad := range []string{strings.Repeat("x", api.MaxKey+1), "a b", "tab\t", "é", "\x00", "\x7f", " "} {
			q := keyedRequest()
			q.Key = bad
			_, err := w.hub.Enqueue(w.ctx, q)
			wantFault(t, err, utp.CodeBadRequest)
		}
		if kept := w.cell(`SELECT group_concat(key) FROM request_keys`); strings.Contains(kept, "5f8e0d2a") {
			t.Errorf("the ledger has the key itself: %s", kept)
		}
	})
}

// TestRequestKeyExact: numbers that no double carries are compared as they are written, so that
// two different requests are never taken for one.
func TestRequestKeyExact(t *testing.T) {
	inWorld(t, func(w *world) { w.unended = true }, func(t *testing.T, w *world) {
		q := keyedRequest()
		q.Args = jsontext.Value(`{"n":9007199254740993}`)
		first, err := w.hub.Enqueue(w.ctx, q)
		if err != nil {
			t.Fatal(err)
		}
		if a, err := w.hub.Enqueue(w.ctx, q); err != nil || a.Turn != first.Turn {
			t.Errorf("the same request: %+v, %v", a, err)
		}
		q.Args = jsontext.Value(`{"n":9007199254740992}`)
		_, err = w.hub.Enqueue(w.ctx, q)
		wantFault(t, err, utp.CodeConflict)
	})
}

// TestRequestKeyAtOnce: of requests with one key that come at once, through two kernels, one
// begins a turn, and all are answered with it; also where it is the last that the owner may have.
func TestRequestKeyAtOnce(t *testing.T) {
	inWorld(t, func(w *world) { shared(w); w.unended = true }, func(t *testing.T, w *world) {
		w.join()
		const most = 200
		for range most - 1 {
			if _, err := w.hub.Enqueue(w.ctx, api.EnqueueRequest{Agent: "nobody", Owner: person, Args: jsontext.Value(`{}`)}); err != nil {
				t.Fatal(err)
			}
		}
		var all sync.WaitGroup
		answers := make([]api.EnqueueAnswer, 16)
		for i := range answers {
			all.Go(func() {
				a, err := w.hub.Enqueue(context.WithoutCancel(w.ctx), keyedRequest())
				if err != nil {
					t.Error(err)
				}
				answers[i] = a
			})
		}
		all.Wait()
		first := 0
		for _, a := range answers {
			if a.Turn != answers[0].Turn || a.Session != answers[0].Session {
				t.Errorf("%+v and %+v", a, answers[0])
			}
			if !a.Repeated {
				first++
			}
		}
		if n := w.cell(`SELECT count(*) FROM turns`); n != "200" || first != 1 {
			t.Errorf("%s turns, begun by %d requests; want 200, and one", n, first)
		}
	})
}

// TestRequestKeysAreForgotten: keys whose day is over leave the ledger by themselves.
func TestRequestKeysAreForgotten(t *testing.T) {
	inWorld(t, func(w *world) { w.unended = true }, func(t *testing.T, w *world) {
		if _, err := w.hub.Enqueue(w.ctx, keyedRequest()); err != nil {
			t.Fatal(err)
		}
		w.pass(store.KeyLife - time.Hour)
		if n := w.cell(`SELECT count(*) FROM request_keys`); n != "1" {
			t.Errorf("%s keys within the day; want 1", n)
		}
		w.pass(3 * time.Hour)
		if n := w.cell(`SELECT count(*) FROM request_keys`); n != "0" {
			t.Errorf("%s keys a day later; want none", n)
		}
	})
}
