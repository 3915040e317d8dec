package kernel_test

import (
	"strings"
	"testing"
	"time"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/kernel"
	"github.com/earshot-dev/earshot/internal/kernel/rulebook"
	"github.com/earshot-dev/earshot/internal/kernel/turn"
	"github.com/earshot-dev/earshot/internal/rpc"
	"github.com/earshot-dev/earshot/tool"
	"github.com/earshot-dev/earshot/utp"
)

// TestUndo: taken back within the undo time, after the dispatch, and too late.
func TestUndo(t *testing.T) {
	undo := func(w *world, q api.QuestionRow) error {
		_, err := w.hub.Undo(w.ctx, api.ReplyRequest{Question: q.Number, By: person, Surface: "terminal"})
		return err
	}
	t.Run("in time", func(t *testing.T) {
		inWorld(t, nil, func(t *testing.T, w *world) {
			w.work(one(burn))
			a := w.begin()
			q := w.accepts()
			w.pass(7900 * time.Millisecond)
			if err := undo(w, q); err != nil {
				t.Fatal(err)
			}
			w.cancelled(a.Turn)
			w.effectsAre(0)
			wantFault(t, undo(w, q), utp.CodeTurnEnded)
			w.pass(time.Minute)
			w.effectsAre(0)
		})
	})
	t.Run("after the dispatch", func(t *testing.T) {
		inWorld(t, nil, func(t *testing.T, w *world) {
			w.services[0].conn.cut.Store(true)
			w.work(one(burn))
			a := w.begin()
			q := w.accepts()
			w.reaches(a.Turn, turn.Dispatched)
			if err := undo(w, q); err != nil {
				t.Fatal(err)
			}
			w.services[0].conn.cut.Store(false)
			w.cancelled(a.Turn)
			w.pass(time.Minute)
			w.effectsAre(0)
		})
	})
	t.Run("too late", func(t *testing.T) {
		inWorld(t, nil, func(t *testing.T, w *world) {
			running := w.gate()
			w.effects.at("begun", running.pass)
			w.work(one(burn))
			a := w.begin()
			q := w.accepts()
			w.reaches(a.Turn, turn.Started)
			wantFault(t, undo(w, q), utp.CodeDone)
			wantFault(t, undo(w, api.QuestionRow{Number: q.Number + 7}), utp.CodeNotFound)
			running.open()
			w.succeeded(a.Turn)
			w.effectsAre(1)
		})
	})
	t.Run("by a no after the yes", func(t *testing.T) {
		inWorld(t, nil, func(t *testing.T, w *world) {
			w.work(one(burn))
			a := w.begin()
			q := w.accepts()
			w.pass(time.Second)
			w.say(q, "reject")
			w.cancelled(a.Turn)
			w.effectsAre(0)
			if got := w.cell(`SELECT group_concat(decision) FROM receipts`); got != "accept,undo" {
				t.Errorf("the receipts say %s", got)
			}
		})
	})
	t.Run("by a no that is too late", func(t *testing.T) {
		inWorld(t, nil, func(t *testing.T, w *world) {
			running := w.gate()
			w.effects.at("begun", running.pass)
			w.work(one(burn))
			a := w.begin()
			q := w.accepts()
			w.reaches(a.Turn, turn.Started)
			_, err := w.reply(q, "reject")
			wantFault(t, err, utp.CodeDone)
			running.open()
			w.succeeded(a.Turn)
			w.effectsAre(1)
		})
	})
}

// TestUndoByToken: the token of the question takes its yes back as well as its number.
func TestUndoByToken(t *testing.T) {
	inWorld(t, nil, func(t *testing.T, w *world) {
		w.work(one(burn))
		a := w.begin()
		q := w.accepts()
		answer, err := w.hub.Undo(w.ctx, api.ReplyRequest{Token: q.Token, By: person, Surface: "page"})
		if err != nil || answer.Question != q.Number || answer.Resolution != "stopped" {
			t.Errorf("taken back: %+v, %v", answer, err)
		}
		w.cancelled(a.Turn)
		w.effectsAre(0)
	})
}

// TestUndoRefused: there is nothing to take back where nobody has said yes.
func TestUndoRefused(t *testing.T) {
	inWorld(t, nil, func(t *testing.T, w *world) {
		w.work(one(burn))
		a := w.begin()
		q := w.asked()
		for name, tt := range map[string]struct {
			request api.ReplyRequest
			code    utp.Code
		}{
			"not answered yet":           {api.ReplyRequest{Question: q.Number}, utp.CodeDone},
			"not answered yet, by token": {api.ReplyRequest{Token: q.Token}, utp.CodeDone},
			"no such question":           {api.ReplyRequest{Question: q.Number + 1}, utp.CodeNotFound},
			"no such token":              {api.ReplyRequest{Token: "rpl_none"}, utp.CodeNotFound},
			"no question at all":         {api.ReplyRequest{Session: a.Session}, utp.CodeNotFound},
		} {
			t.Log(name)
			_, err := w.hub.Undo(w.ctx, tt.request)
			wantFault(t, err, tt.code)
		}
		if s := w.last(a.Turn).State; s != turn.Asked {
			t.Errorf("the call is %s; want asked", s)
		}
		w.say(q, "accept")
		w.succeeded(a.Turn)
		w.effectsAre(1)
	})
}

// TestNoticed: the time to take a yes back begins when the surface that gave it has been told, not
// before, and once.
func TestNoticed(t *testing.T) {
	told := func(w *world, q api.QuestionRow) {
		w.hub.Noticed(w.ctx, api.ReplyRequest{Question: q.Number, By: person, Surface: "terminal"})
	}
	quiet := func(w *world) { w.unnoticed = true }
	t.Run("late", func(t *testing.T) {
		inWorld(t, quiet, func(t *testing.T, w *world) {
			w.work(one(burn))
			a := w.begin()
			q := w.accepts()
			w.pass(50 * time.Second)
			w.effectsAre(0)
			told(w, q)
			w.pass(turn.DefaultUndo - 200*time.Millisecond)
			w.effectsAre(0)
			told(w, q) // it may be said again
			w.pass(time.Second)
			w.effectsAre(1)
			w.succeeded(a.Turn)
		})
	})
	t.Run("taken back right before the end", func(t *testing.T) {
		inWorld(t, quiet, func(t *testing.T, w *world) {
			w.work(one(burn))
			a := w.begin()
			q := w.accepts()
			w.pass(50 * time.Second)
			told(w, q)
			w.pass(turn.DefaultUndo - 200*time.Millisecond)
			w.say(q, "reject")
			w.cancelled(a.Turn)
			w.pass(time.Minute)
			w.effectsAre(0)
		})
	})
	t.Run("never", func(t *testing.T) {
		inWorld(t, quiet, func(t *testing.T, w *world) {
			w.work(one(burn))
			a := w.begin()
			q := w.accepts()
			call := w.last(a.Turn).ID
			next := w.staleThenAsked(a.Turn, call, q, turn.StaleUnnoticed)
			w.effectsAre(0)
			w.say(next, "reject")
			w.over(a.Turn)
		})
	})
	t.Run("elsewhere", func(t *testing.T) {
		inWorld(t, quiet, func(t *testing.T, w *world) {
			w.work(one(burn))
			a := w.begin()
			q := w.accepts()
			for _, r := range []api.ReplyRequest{
				{Question: q.Number, By: person, Surface: "page"}, {Question: q.Number, By: "bob", Surface: "terminal"}, {Question: q.Number},
			} {
				wantFault(t, rpc.Ask(w.ctx, w.person, api.OpNoticed, r, nil), utp.CodeConflict)
			}
			wantFault(t, rpc.Ask(w.ctx, w.person, api.OpNoticed, api.ReplyRequest{Question: q.Number + 1, By: person, Surface: "terminal"}, nil), utp.CodeNotFound)
			w.pass(50 * time.Second)
			w.effectsAre(0)
			told(w, q)
			w.succeeded(a.Turn)
			w.effectsAre(1)
		})
	})
	t.Run("on another device", func(t *testing.T) {
		inWorld(t, quiet, func(t *testing.T, w *world) {
			w.work(one(burn))
			a := w.begin()
			q := w.asked()
			phone := api.ReplyRequest{Token: q.Token, Decision: "accept", By: person, Surface: "page", Credential: "login:phone"}
			if _, err := w.answer(phone); err != nil {
				t.Fatal(err)
			}
			w.reaches(a.Turn, turn.Accepted)
			for _, credential := range []string{"login:desk", ""} {
				r := api.ReplyRequest{Question: q.Number, By: person, Surface: "page", Credential: credential}
				wantFault(t, rpc.Ask(w.ctx, w.person, api.OpNoticed, r, nil), utp.CodeConflict)
			}
			w.pass(50 * time.Second)
			w.effectsAre(0)
			w.hub.Noticed(w.ctx, api.ReplyRequest{Question: q.Number, By: person, Surface: "page", Credential: "login:phone"})
			w.succeeded(a.Turn)
			w.effectsAre(1)
		})
	})
	t.Run("no yes", func(t *testing.T) {
		inWorld(t, nil, func(t *testing.T, w *world) {
			w.work(one(burn))
			a := w.begin()
			q := w.asked()
			wantFault(t, rpc.Ask(w.ctx, w.person, api.OpNoticed, api.ReplyRequest{Question: q.Number, By: person, Surface: "terminal"}, nil), utp.CodeConflict)
			w.say(q, "reject")
			w.over(a.Turn)
		})
	})
	t.Run("what can be undone does not wait for it", func(t *testing.T) {
		inWorld(t, quiet, func(t *testing.T, w *world) {
			w.work(one(paint))
			a := w.begin()
			w.accepts()
			w.pass(time.Second)
			w.succeeded(a.Turn)
			w.effectsAre(1)
		})
	})
}

// TestUndoWish: the time to take a yes back is the wish of anyone who gives it, and never less than tool
// and policy want.
func TestUndoWish(t *testing.T) {
	for name, tt := range map[string]struct {
		wish    int
		options string
		undo    time.Duration
	}{
		"longer": {20, `{}`, 20 * time.Second}, "shorter": {3, `{}`, 3 * time.Second}, "none": {0, `{}`, turn.DefaultUndo},
		"the tool wants more": {3, `{"undo_seconds":10}`, 10 * time.Second}, "the tool wants less": {30, `{"undo_seconds":10}`, 30 * time.Second},
		"the longest": {120, `{}`, 2 * time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, nil, func(t *testing.T, w *world) {
				w.post(definition(mail, utp.Irreversible, tt.options), nil)
				if _, err := w.hub.Prefer(w.ctx, api.PreferRequest{Person: person, Preferences: api.Preferences{UndoSeconds: &tt.wish}}); err != nil {
					t.Fatal(err)
				}
				w.work(one(mail))
				a := w.begin()
				q := w.accepts()
				c := w.last(a.Turn)
				if undo := c.DispatchAt.Wall.Sub(c.Consent.At.Wall); undo != tt.undo {
					t.Errorf("undo %v, want %v", undo, tt.undo)
				}
				w.say(q, "reject")
				w.cancelled(a.Turn)
			})
		})
	}
}

// TestStartAfterTheStop: a service that is late hears that its call was stopped, not
// only that it is too late.
func TestStartAfterTheStop(t *testing.T) {
	inWorld(t, nil, func(t *testing.T, w *world) {
		w.services[0].kill()
		w.work(one(burn))
		a := w.begin()
		q := w.accepts()
		call := w.reaches(a.Turn, turn.Dispatched).ID
		if _, err := w.hub.Undo(w.ctx, api.ReplyRequest{Question: q.Number, By: person}); err != nil {
			t.Fatal(err)
		}
		w.cancelled(a.Turn)
		start := api.StartRequest{Call: call, Owner: "own_1"}
		wantFault(t, w.as(kernel.ToolCaller, target, api.OpStart, start, nil), utp.CodeStopped)
	})
}

// TestUndoTime: the undo time is the default or what a reviewed tool or the operator wants longer,
// and the time to start is counted from its end.
func TestUndoTime(t *testing.T) {
	rule := func(undo, start time.Duration) []rulebook.Rule {
		return []rulebook.Rule{{Tool: "*", Decide: turn.Ask, Undo: undo, StartWithin: start}}
	}
	tests := map[string]struct {
		options     string
		rules       []rulebook.Rule
		undo, start time.Duration
	}{
		"default":              {`{}`, nil, 8 * time.Second, 60 * time.Second},
		"shorter":              {`{"undo_seconds":1}`, nil, 8 * time.Second, 60 * time.Second},
		"none":                 {`{"undo_seconds":0}`, nil, 8 * time.Second, 60 * time.Second},
		"negative":             {`{"undo_seconds":-5}`, nil, 8 * time.Second, 60 * time.Second},
		"longer":               {`{"undo_seconds":20}`, nil, 20 * time.Second, 60 * time.Second},
		"little time to start": {`{"undo_seconds":9,"start_within_seconds":4}`, nil, 9 * time.Second, 4 * time.Second},
		"all too long":         {`{"undo_seconds":9000000000,"start_within_seconds":9223372037}`, nil, 5 * time.Minute, 10 * time.Minute},
		"all too negative":     {`{"undo_seconds":-9223372037,"start_within_seconds":-9223372037}`, nil, 8 * time.Second, 60 * time.Second},
		"longer by rule":       {`{"undo_seconds":5}`, rule(20*time.Second, 0), 20 * time.Second, 60 * time.Second},
		"longer by the tool":   {`{"undo_seconds":25}`, rule(20*time.Second, 0), 25 * time.Second, 60 * time.Second},
		"as long as possible":  {`{}`, rule(5*time.Minute, 10*time.Minute), 5 * time.Minute, 10 * time.Minute},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(w *world) { w.rules = tt.rules }, func(t *testing.T, w *world) {
				w.post(definition(mail, utp.Irreversible, tt.options), nil)
				w.work(one(mail))
				a := w.begin()
				q := w.accepts()
				c := w.last(a.Turn)
				undo, start := c.DispatchAt.Wall.Sub(c.Consent.At.Wall), c.StartBy.Wall.Sub(c.DispatchAt.Wall)
				if undo != tt.undo || start != tt.start {
					t.Errorf("undo %v, start within %v; want %v and %v", undo, start, tt.undo, tt.start)
				}
				if _, err := w.hub.Undo(w.ctx, api.ReplyRequest{Question: q.Number, By: person}); err != nil {
					t.Fatal(err)
				}
				w.cancelled(a.Turn)
			})
		})
	}
}

// TestUnreviewedTimes: the times that a tool wishes for itself do not count before an
// operator has looked at it.
func TestUnreviewedTimes(t *testing.T) {
	inWorld(t, nil, func(t *testing.T, w *world) {
		w.serve("post", func(s *service) []tool.Tool {
			d := definition(mail, utp.Irreversible, `{"answer_seconds":86000,"start_within_seconds":600,"undo_seconds":100}`)
			d.Target = strings.Replace(d.Target, "tool."+target, "tool.post", 1)
			return []tool.Tool{s.tool(d)}
		})
		w.work(one(mail))
		a := w.begin()
		q := w.asked()
		if left := q.Deadline.Sub(w.clock.now()).Round(time.Second); left != turn.DefaultAnswer {
			t.Errorf("the question stays open for %v; want %v", left, turn.DefaultAnswer)
		}
		w.say(q, "accept")
		c := w.last(a.Turn)
		undo, start := c.DispatchAt.Wall.Sub(c.Consent.At.Wall), c.StartBy.Wall.Sub(c.DispatchAt.Wall)
		if undo != turn.DefaultUndo || start != turn.DefaultStartWithin {
			t.Errorf("undo %v, start within %v; want the defaults", undo, start)
		}
		w.succeeded(a.Turn)
		w.effectsAre(1)
	})
}
