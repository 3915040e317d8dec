package kernel_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/kernel"
	"github.com/earshot-dev/earshot/internal/kernel/rulebook"
	"github.com/earshot-dev/earshot/internal/kernel/turn"
	"github.com/earshot-dev/earshot/tool"
	"github.com/earshot-dev/earshot/utp"
	"github.com/earshot-dev/earshot/worker"
)

// hurried is a tool that is to have a result within so many seconds.
func hurried(class utp.Class, seconds string) utp.Definition {
	return definition("hurry", class, `{"suspend_timeout_seconds":`+seconds+`}`)
}

// TestNoResultInTime: a call that runs for too long is told to stop. One that may be repeated
// has timed out, and its turn goes on; what became of one with an effect is put to a person.
func TestNoResultInTime(t *testing.T) {
	for _, class := range []utp.Class{utp.Read, utp.Irreversible} {
		t.Run(string(class), func(t *testing.T) {
			inWorld(t, nil, func(t *testing.T, w *world) {
				told := make(chan struct{})
				way := w.gate()
				w.post(hurried(class, map[utp.Class]string{utp.Read: "19.5", utp.Irreversible: "20"}[class]), func(ctx context.Context, _ *tool.Call) (tool.Result, error) {
					<-ctx.Done()
					close(told)
					<-way.way // and it does not care
					return tool.Result{}, nil
				})
				w.work(one("hurry"))
				a := w.begin()
				if class == utp.Irreversible {
					w.accepts()
				}
				w.reaches(a.Turn, turn.Started)
				began := w.clock.now()
				<-told
				if took := w.clock.now().Sub(began); took < 15*time.Second || took > 25*time.Second {
					t.Errorf("it was told to stop after %v; want about 20 s", took)
				}
				if class == utp.Irreversible {
					w.say(w.asked(), "leave")
					w.over(a.Turn)
					if c := w.last(a.Turn); c.State != turn.Resolved || c.Outcome.Code != utp.CodeOutcomeUnknown {
						t.Errorf("the call is %s, %+v", c.State, c.Outcome)
					}
					return
				}
				w.succeeded(a.Turn)
				if c := w.last(a.Turn); c.Outcome.Status != utp.StatusTimeout || c.Outcome.Code != utp.CodeToolTimeout {
					t.Errorf("the call ended %+v; want a timeout", c.Outcome)
				}
				if took := w.clock.now().Sub(began); took > 40*time.Second {
					t.Errorf("the turn ended after %v", took)
				}
			})
		})
	}
}

// TestResultWithin: policy says how long a call may take where the tool does not.
func TestResultWithin(t *testing.T) {
	inWorld(t, func(w *world) {
		w.rules = []rulebook.Rule{{Tool: poller, Decide: turn.Allow, ResultWithin: 20 * time.Second}}
	}, func(t *testing.T, w *world) {
		w.effects.at("begun", w.gate().pass)
		w.work(one(poller))
		a := w.begin()
		c := w.reaches(a.Turn, turn.Started)
		if left := c.EndBy.Wall.Sub(w.clock.now()); left > 20*time.Second || left < 19*time.Second {
			t.Errorf("it has %v; want 20 s", left)
		}
		w.over(a.Turn)
	})
}

// TestIdleTurn: a turn that nobody takes up, and one whose worker falls silent, ends and says
// so; one that waits for a person does not.
func TestIdleTurn(t *testing.T) {
	for name, tt := range map[string]struct {
		claimed bool
		code    utp.Code
	}{
		"nobody takes it up": {false, utp.CodeDispatchTimeout},
		"its worker is gone": {true, utp.CodeTimeoutReapedByWatchdog},
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(w *world) { w.idle = 5 * time.Minute }, func(t *testing.T, w *world) {
				a := w.begin()
				w.settle()
				if tt.claimed {
					w.claims("wrk_dead")
				}
				w.pass(4 * time.Minute)
				if s := w.turn(a.Turn); s.Status == turn.Ended {
					t.Fatalf("it ended after 4 min: %+v", s.End)
				}
				w.pass(2 * time.Minute)
				s := w.turn(a.Turn)
				if s.Status != turn.Ended || s.End.Status != utp.StatusTimeout || s.End.Code != tt.code {
					t.Errorf("the turn is %s, %+v; want it ended, timeout, %s", s.Status, s.End, tt.code)
				}
				if n := w.cell(`SELECT count(*) FROM events WHERE type LIKE '%session.errored'`); n != "1" {
					t.Errorf("%s ends were told; want one", n)
				}
			})
		})
	}
	t.Run("it waits for a person", func(t *testing.T) {
		inWorld(t, func(w *world) { w.idle, w.patient = 5*time.Minute, true }, func(t *testing.T, w *world) {
			present := w.work(one(burn))
			a := w.begin()
			w.asked()
			present.kill()
			w.pass(15 * time.Minute)
			w.work(one(burn))
			q := w.asked()
			if _, err := w.shows(q); err != nil {
				t.Fatal(err)
			}
			w.say(w.asked(), "accept")
			w.succeeded(a.Turn)
		})
	})
}

// TestTerminate: a call whose definition says so ends its turn with its result as the answer,
// after the other calls of the step; the result itself may say otherwise, either way.
func TestTerminate(t *testing.T) {
	last := definition("last", utp.Read, `{}`)
	last.AfterExecution = utp.Terminate
	for name, tt := range map[string]struct {
		d      utp.Definition
		value  any
		status utp.Status
		ends   bool
		output string
	}{
		"a text":         {last, "That is all.\nReally.", utp.StatusSuccess, true, "That is all. Really."},
		"an object":      {last, map[string]any{"summary": "In short.", "output": "At length."}, utp.StatusSuccess, true, "At length."},
		"nothing to say": {last, map[string]any{"n": 1}, utp.StatusSuccess, true, ""},
		"a failure":      {last, nil, utp.StatusFailed, true, ""},
		"overridden":     {last, map[string]any{"__cg_control": map[string]any{"after_execution": "suspend"}}, utp.StatusSuccess, false, "I have done what I could."},
		"its own word":   {definition("last", utp.Read, `{}`), map[string]any{"output": "So be it.", "__cg_control": map[string]any{"after_execution": "terminate"}}, utp.StatusSuccess, true, "So be it."},
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, nil, func(t *testing.T, w *world) {
				way := w.gate()
				w.effects.at("begun", way.pass)
				w.post(tt.d, func(context.Context, *tool.Call) (tool.Result, error) {
					return tool.Result{Value: tt.value, Status: tt.status}, nil
				})
				w.work([]worker.Call{{Key: "a", Tool: "last", Args: map[string]any{"name": "x"}}, {Key: "b", Tool: poller, Args: map[string]any{"name": "x"}}})
				a := w.begin()
				w.pass(5 * time.Second)
				if s := w.turn(a.Turn); s.Status != turn.Suspended {
					t.Errorf("the turn is %s while another call runs", s.Status)
				}
				way.open()
				s := w.over(a.Turn)
				if s.End.Status != tt.status {
					t.Errorf("the turn ended %+v; want %s", s.End, tt.status)
				}
				w.settle()
				told := ""
				for _, row := range w.query(w.now.path, `SELECT body FROM events WHERE type LIKE '%output.streaming' ORDER BY seq`) {
					told += row[0]
				}
				for _, sentence := range strings.SplitAfter(tt.output, ". ") {
					if !strings.Contains(told, strings.TrimSpace(sentence)) {
						t.Errorf("%q was not told; told was %s", sentence, told)
					}
				}
				if n := w.cell(`SELECT count(*) FROM results`); n != "2" {
					t.Errorf("%s results stand in the transcript; want two", n)
				}
				if after := w.cell(`SELECT after_execution FROM reports r JOIN calls c USING (call_id) WHERE c.tool = 'last'`); (after == "terminate") != tt.ends {
					t.Errorf("the report says %s", after)
				}
			})
		})
	}
}

// TestQuestionsEndTogether: two questions whose time has passed are closed in one tick, also
// when the end of the first ends the turn, which withdraws the second.
func TestQuestionsEndTogether(t *testing.T) {
	last := definition("last", utp.Read, `{}`)
	last.AfterExecution = utp.Terminate
	inWorld(t, nil, func(t *testing.T, w *world) {
		w.post(last, func(context.Context, *tool.Call) (tool.Result, error) {
			return tool.Result{Value: "That is all."}, nil
		})
		a := w.begin()
		h := w.hand()
		args := api.Body{Inline: jsontext.Value(`{"name":"x"}`)}
		if err := h.wants(api.ToolCall{Key: "a", Tool: "last", Args: args}, api.ToolCall{Key: "b", Tool: burn, Args: args}); err != nil {
			t.Fatal(err)
		}
		w.asked()
		f := foreign{card: foreignCard(w, a.Turn, shred)}
		f.arrives(w)
		w.until("two questions are to be open", func() bool { return len(w.questions()) == 2 })
		w.clock.suspend(time.Hour) // both are over when somebody looks
		s := w.over(a.Turn)
		if s.End.Status != utp.StatusSuccess {
			t.Errorf("the turn ended %+v", s.End)
		}
		w.effectsAre(0)
	})
}

// TestTooDeep: agents that call agents come to an end.
func TestTooDeep(t *testing.T) {
	inWorld(t, nil, func(t *testing.T, w *world) {
		for depth, ok := range map[int]bool{0: true, 19: true, 20: false, 21: false, -1: false} {
			var a api.EnqueueAnswer
			err := w.as(kernel.HubCaller, person, api.OpEnqueue, api.EnqueueRequest{Agent: agentName, Depth: depth}, &a)
			if ok != (err == nil) {
				t.Errorf("depth %d: %v", depth, err)
			}
			if err != nil {
				wantFault(t, err, utp.CodeRecursionDepthExceeded)
				continue
			}
			if got := w.turn(a.Turn).Depth; got != depth {
				t.Errorf("the turn is %d deep; want %d", got, depth)
			}
			w.unended = true
		}
	})
}
