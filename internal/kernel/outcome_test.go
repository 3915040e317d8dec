package kernel_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/kernel"
	"github.com/earshot-dev/earshot/internal/kernel/turn"
	"github.com/earshot-dev/earshot/tool"
	"github.com/earshot-dev/earshot/utp"
	"github.com/earshot-dev/earshot/worker"
)

// oneResultEach checks that each call has one tool.result card.
func (w *world) oneResultEach() {
	w.t.Helper()
	for _, row := range w.query(w.now.path, `SELECT call_id, (SELECT count(*) FROM cards WHERE tool_call_id = call_id AND type = 'tool.result') FROM calls`) {
		if row[1] != "1" {
			w.t.Errorf("%s has %s result cards; want one", row[0], row[1])
		}
	}
}

// says lets the service fail the first call with the error, after its effect.
func (w *world) says(status utp.Status, failure *utp.ToolError) {
	first := true
	w.post(definition(mail, utp.Irreversible, `{}`), func(_ context.Context, c *tool.Call) (tool.Result, error) {
		if !first {
			return tool.Result{Value: "done"}, w.effects.happen(c.ID)
		}
		first = false
		return tool.Result{Status: status}, failure
	})
}

// TestServiceCannotTell: a service that does not know what became of its own call says
// so, and the person is asked. It holds the call no more: one word asks again.
func TestServiceCannotTell(t *testing.T) {
	for _, word := range []string{"leave", "ask again"} {
		t.Run(word, func(t *testing.T) {
			inWorld(t, nil, func(t *testing.T, w *world) {
				w.says(utp.StatusFailed, &utp.ToolError{Code: utp.CodeOutcomeUnknown, Message: "the line went dead"})
				w.work(one(mail))
				a := w.begin()
				q := w.askedAfter(w.accepts())
				w.saysUnknown(a.Turn)
				if m := w.last(a.Turn).Outcome.Message; m != "the line went dead" {
					t.Errorf("the service's own words are %q", m)
				}
				w.say(q, word)
				if word == "ask again" {
					q = w.askedAfter(q)
					if c := w.last(a.Turn); c.State != turn.Asked || c.Replaces == "" || c.Question != q.Number {
						t.Errorf("one word was not enough: the latest call is %s %+v", c.State, c)
					}
					w.say(q, "accept")
				}
				w.over(a.Turn)
				w.effectsAre(map[string]int{"ask again": 1}[word])
				w.oneResultEach()
			})
		})
	}
}

// TestServiceFoundItTooOld: a service that began nothing because the consent was too
// old leads to another question.
func TestServiceFoundItTooOld(t *testing.T) {
	inWorld(t, nil, func(t *testing.T, w *world) {
		w.says(utp.StatusCanceled, &utp.ToolError{Code: utp.CodeConsentStale, Message: "too late"})
		w.work(one(mail))
		a := w.begin()
		q := w.accepts()
		call := w.reaches(a.Turn, turn.Asked).Replaces
		next := w.staleThenAsked(a.Turn, call, q, "age")
		w.effectsAre(0)
		w.say(next, "accept")
		w.succeeded(a.Turn)
		w.effectsAre(1)
		w.oneResultEach()
	})
}

// TestGatesOwnCodes: what only the gate can say, a service cannot: that the person
// declined, or the policy forbade.
func TestGatesOwnCodes(t *testing.T) {
	for _, code := range []utp.Code{
		utp.CodeConsentDeclined, utp.CodeConsentExpired, utp.CodeConsentWithdrawn, utp.CodeDeniedByPolicy,
	} {
		t.Run(string(code), func(t *testing.T) {
			inWorld(t, nil, func(t *testing.T, w *world) {
				w.says(utp.StatusFailed, &utp.ToolError{Code: code, Message: "so they say"})
				p := &planner{steps: [][]worker.Call{one(mail)}}
				w.workAs(func() worker.Planner { return p })
				a := w.begin()
				w.accepts()
				state := w.over(a.Turn)
				if r := p.seen[0]; r.Status != utp.StatusFailed || r.Code != utp.CodeUnknownError || r.Message != "so they say" {
					t.Errorf("the planner sees %+v; want failed, unknown_error, with the message", r)
				}
				if state.Tally.Declined+state.Tally.Expired != 0 || state.Tally.Failed != 1 {
					t.Errorf("the tally is %+v; want one failure and nothing that a person did", state.Tally)
				}
				w.oneResultEach()
			})
		})
	}
}

// TestLongFailure: a very long message is kept as far as 8 KiB, cut between characters.
func TestLongFailure(t *testing.T) {
	for _, first := range []string{"", "x", "xx"} {
		t.Run(fmt.Sprint(len(first)), func(t *testing.T) {
			inWorld(t, nil, func(t *testing.T, w *world) {
				w.services[0].kill() // the test is the service
				w.work(one(burn))
				a := w.begin()
				w.accepts()
				call := w.reaches(a.Turn, turn.Dispatched).ID
				var s api.StartAnswer
				if err := w.as(kernel.ToolCaller, target, api.OpStart, api.StartRequest{Call: call, Owner: "own_1"}, &s); err != nil {
					t.Fatal(err)
				}
				err := w.as(kernel.ToolCaller, target, api.OpFinish, api.FinishRequest{
					OwnerRequest: api.OwnerRequest{Call: call, Owner: "own_1", Fence: s.Fence}, Status: utp.StatusFailed,
					Error: &utp.ToolError{Code: "broken", Message: first + strings.Repeat("€", 20<<10)},
				}, nil)
				if err != nil {
					t.Fatal(err)
				}
				w.over(a.Turn)
				var content struct {
					Error struct {
						Message string `json:"message"`
					} `json:"error"`
				}
				if err := json.Unmarshal([]byte(w.cell(`SELECT content FROM cards WHERE type = 'tool.result'`)), &content); err != nil {
					t.Fatal(err)
				}
				kept := content.Error.Message
				if n := len(kept); n > 8<<10 || n < 8<<10-6 || !utf8.ValidString(kept) || strings.ContainsRune(kept, utf8.RuneError) {
					t.Errorf("%d bytes are kept, ending %q", n, kept[max(0, n-10):])
				}
				if !strings.HasPrefix(kept, first+"€€") || !strings.HasSuffix(kept, "€…") {
					t.Errorf("it was cut as %q", kept[max(0, len(kept)-10):])
				}
				w.oneResultEach()
			})
		})
	}
}

// TestPartKeepsItsResult: a service that did a part and cannot tell of the rest has a
// result all the same; its code loses nothing of it.
func TestPartKeepsItsResult(t *testing.T) {
	for _, code := range []utp.Code{utp.CodeOutcomeUnknown, utp.CodeConsentStale} {
		t.Run(string(code), func(t *testing.T) {
			inWorld(t, nil, func(t *testing.T, w *world) {
				w.post(definition(mail, utp.Irreversible, `{}`), func(_ context.Context, c *tool.Call) (tool.Result, error) {
					return tool.Result{Status: utp.StatusPartial, Value: "half of it"}, errors.Join(w.effects.happen(c.ID), &utp.ToolError{Code: code, Message: "the rest"})
				})
				p := &planner{steps: [][]worker.Call{one(mail)}}
				w.workAs(func() worker.Planner { return p })
				a := w.begin()
				w.accepts()
				w.over(a.Turn)
				w.effectsAre(1)
				w.oneResultEach()
				if r := p.seen[0]; r.Status != utp.StatusPartial || string(r.Value) != `"half of it"` {
					t.Errorf("the agent sees %s %s %s; want the part", r.Status, r.Code, r.Value)
				}
			})
		})
	}
}
