package kernel_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/earshot-dev/earshot/internal/kernel/turn"
	"github.com/earshot-dev/earshot/internal/testkit"
	"github.com/earshot-dev/earshot/tool"
	"github.com/earshot-dev/earshot/utp"
	"github.com/earshot-dev/earshot/worker"
)

// TestLongTurn: more results and events than one page holds. A worker that begins again
// in the middle, and a listener that comes late, get all of them.
func TestLongTurn(t *testing.T) {
	testkit.Slow(t)
	inWorld(t, nil, func(t *testing.T, w *world) {
		var steps [][]worker.Call
		for i := range 3 {
			var step []worker.Call
			for j := range 36 {
				step = append(step, worker.Call{Key: fmt.Sprintf("k%d.%d", i, j), Tool: poller, Args: map[string]any{"name": "x"}})
			}
			steps = append(steps, step)
		}
		steps = append(steps, one(burn))
		first := w.work(steps...)
		a := w.begin()
		q := w.asked()
		first.kill()
		p := &planner{steps: steps}
		w.workAs(func() worker.Planner { return p })
		w.pass(time.Minute)
		w.follow(a.Session) // late
		w.say(q, "accept")
		w.succeeded(a.Turn)
		w.effectsAre(1)
		if len(p.seen) != 109 {
			t.Errorf("the second worker saw %d results; want 109", len(p.seen))
		}
		for i, r := range p.seen[:108] {
			if want := fmt.Sprintf("k%d.%d", i/36, i%36); r.Key != want {
				t.Fatalf("result %d is %s; want %s", i, r.Key, want)
			}
		}
		if n := w.cell(`SELECT seq FROM turns`); len(n) != 3 {
			t.Errorf("the session has %s events; want some hundreds", n)
		}
	})
}

// TestLargeResults: a page of the transcript is no larger than a message.
func TestLargeResults(t *testing.T) {
	inWorld(t, nil, func(t *testing.T, w *world) {
		w.serve("post", func(*service) []tool.Tool {
			d := definition(mail, utp.Read, `{}`)
			d.Target = strings.Replace(d.Target, "tool."+target, "tool.post", 1)
			return []tool.Tool{{Definition: d, Run: func(context.Context, *tool.Call) (tool.Result, error) {
				return tool.Result{Value: strings.Repeat("r", 200<<10)}, nil
			}}}
		})
		w.review(map[string]utp.Class{mail: utp.Read})
		var step []worker.Call
		for i := range 7 {
			step = append(step, worker.Call{Key: fmt.Sprint(i), Tool: mail, Args: map[string]any{"name": "x"}})
		}
		p := &planner{steps: [][]worker.Call{step}}
		w.workAs(func() worker.Planner { return p })
		a := w.begin()
		w.succeeded(a.Turn)
		if len(p.seen) != 7 || len(p.seen[6].Value) != 200<<10+2 {
			t.Errorf("%d results", len(p.seen))
		}
	})
}

// TestToolLimits: a tool's own times, in its options.
func TestToolLimits(t *testing.T) {
	inWorld(t, nil, func(t *testing.T, w *world) {
		w.serve("post", func(s *service) []tool.Tool {
			d := definition(mail, utp.Irreversible, `{"answer_seconds":20,"start_within_seconds":30,"undo_seconds":10}`)
			d.Target = strings.Replace(d.Target, "tool."+target, "tool.post", 1)
			return []tool.Tool{s.tool(d)}
		})
		w.review(map[string]utp.Class{mail: utp.Irreversible}) // until then they do not count
		w.work(one(mail), one(mail))
		a := w.begin()
		q := w.asked()
		if left := q.Deadline.Sub(w.clock.now()).Round(time.Second); left != 20*time.Second {
			t.Errorf("the question stays open for %v; want 20 s", left)
		}
		w.say(q, "accept")
		c := w.reaches(a.Turn, turn.Accepted)
		if undo, start := c.DispatchAt.Wall.Sub(c.Consent.At.Wall), c.StartBy.Wall.Sub(c.DispatchAt.Wall); undo != 10*time.Second || start != 30*time.Second {
			t.Errorf("undo %v, start within %v; want 10 s and 30 s", undo, start)
		}
		w.askedAfter(q)
		w.effectsAre(1)
		state := w.over(a.Turn) // nobody answers
		if last := state.Calls[len(state.Calls)-1]; last.Outcome.Code != utp.CodeConsentExpired {
			t.Errorf("the second call ended as %s %+v", last.State, last.Outcome)
		}
		w.effectsAre(1)
	})
}

// TestSessions: what there is, and what is still open.
func TestSessions(t *testing.T) {
	inWorld(t, nil, func(t *testing.T, w *world) {
		w.work(one(burn))
		first := w.begin()
		q := w.accepts()
		w.over(first.Turn)
		second := w.begin()
		q = w.askedAfter(q)
		all, err := w.hub.Sessions(w.ctx, false)
		if err != nil || len(all) != 2 || all[0].Session != first.Session || all[1].Turn != second.Turn || all[0].Agent != agentName {
			t.Errorf("all sessions: %+v, %v", all, err)
		}
		open, err := w.hub.Sessions(w.ctx, true)
		if err != nil || len(open) != 1 || open[0].Session != second.Session || open[0].Status != string(turn.Suspended) {
			t.Errorf("open sessions: %+v, %v", open, err)
		}
		rec, err := w.now.kernel.Turn(w.ctx, second.Turn)
		if err != nil || rec.State.Session != second.Session || rec.Request != "tidy up" || rec.State.Owner != person {
			t.Errorf("the turn: %+v, %v", rec, err)
		}
		_, err = w.now.kernel.Turn(w.ctx, "turn_none")
		wantFault(t, err, utp.CodeNotFound)
		wantFault(t, w.now.kernel.Resume(w.ctx, first.Turn), utp.CodeTurnEnded)
		wantFault(t, w.now.kernel.Resume(w.ctx, "turn_none"), utp.CodeNotFound)
		w.say(q, "reject")
		w.over(second.Turn)
	})
}

// TestAdoptedRunsOn: a foreign call that is at work when its turn ends is told to stop;
// its session ends in order, and its result is kept.
func TestAdoptedRunsOn(t *testing.T) {
	inWorld(t, nil, func(t *testing.T, w *world) {
		running, thinking := w.gate(), w.gate()
		w.effects.at("done", func(ctx context.Context, s *service, c *tool.Call) error {
			_ = running.pass(ctx, s, c)
			return nil
		})
		w.workAs(func() worker.Planner {
			return planFunc(func() (worker.Decision, error) {
				<-thinking.way
				return worker.Decision{Answer: &worker.Answer{Summary: "Done."}}, nil
			})
		})
		a := w.begin()
		w.settle()
		foreign{card: foreignCard(w, a.Turn, burn)}.arrives(w)
		w.accepts()
		w.reaches(a.Turn, turn.Started)
		thinking.open()
		w.succeeded(a.Turn)
		w.pass(30 * time.Second)
		w.effectsAre(1)
		if n := w.cell(`SELECT count(*) FROM late_results`); n != "1" {
			t.Errorf("%s late results are kept; want one", n)
		}
	})
}
