package kernel_test

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/kernel/rulebook"
	"github.com/earshot-dev/earshot/internal/kernel/turn"
	"github.com/earshot-dev/earshot/internal/rpc"
	"github.com/earshot-dev/earshot/internal/testkit"
	"github.com/earshot-dev/earshot/tool"
	"github.com/earshot-dev/earshot/utp"
	"github.com/earshot-dev/earshot/worker"
)

func TestAcceptRuns(t *testing.T) {
	inWorld(t, nil, func(t *testing.T, w *world) {
		w.work(one(burn))
		a := w.begin()
		q := w.accepts()
		w.pass(2900 * time.Millisecond)
		w.effectsAre(0)
		state := w.succeeded(a.Turn)
		w.effectsAre(1)
		if c := state.Calls[0]; c.State != turn.Finished || c.Consent == nil || !c.Consent.Consumed || c.Consent.By != person {
			t.Errorf("the call ended as %+v", c)
		}
		got := w.cell(`SELECT decision || ' ' || given_by || ' ' || surface || ' ' || question FROM receipts`)
		if want := fmt.Sprint("accept ada terminal ", q.Number); got != want {
			t.Errorf("the receipt says %q; want %q", got, want)
		}
		path := w.cell(`SELECT fence || ' ' || (SELECT count(*) FROM reports WHERE reports.call_id = grants.call_id) FROM grants`)
		if path != "1 1" {
			t.Errorf("the fence of the one grant, and its reports: %s; want one of each", path)
		}
	})
}

// TestNotAccepted: every way of not being accepted is a typed result, without an event
// of a tool (C-41), and the agent goes on with it.
func TestNotAccepted(t *testing.T) {
	tests := []struct {
		name  string
		rules []rulebook.Rule
		close func(*world)
		code  utp.Code
		after time.Duration
	}{
		{name: "reject", close: func(w *world) { w.say(w.asked(), "reject") }, code: utp.CodeConsentDeclined},
		{name: "expire", close: func(*world) {}, code: utp.CodeConsentExpired, after: 5 * time.Minute},
		{
			name: "expire by rule", rules: []rulebook.Rule{{Tool: burn, Decide: turn.Ask, Timeout: 20 * time.Second}},
			close: func(*world) {}, code: utp.CodeConsentExpired, after: 20 * time.Second,
		},
		{name: "deny", rules: []rulebook.Rule{{Tool: burn, Decide: turn.Deny}}, close: func(*world) {}, code: utp.CodeDeniedByPolicy},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			inWorld(t, func(w *world) { w.rules = tt.rules }, func(t *testing.T, w *world) {
				p := &planner{steps: [][]worker.Call{one(burn)}}
				w.workAs(func() worker.Planner { return p })
				began := time.Now()
				a := w.begin()
				if tt.code != utp.CodeDeniedByPolicy {
					w.asked()
				}
				tt.close(w)
				w.succeeded(a.Turn)
				w.effectsAre(0)
				if took := time.Since(began); took < tt.after || took > tt.after+3*time.Second {
					t.Errorf("it took %v; want %v", took, tt.after)
				}
				if r := p.seen[0]; r.Status != utp.StatusCanceled || r.Code != tt.code {
					t.Errorf("the agent sees %s %s; want canceled %s", r.Status, r.Code, tt.code)
				}
				if rows := w.query(w.now.path, `SELECT type FROM events WHERE type LIKE '%.tool.%'`); len(rows) != 0 {
					t.Errorf("events of a tool that was never invoked: %v", rows)
				}
				if n := w.cell(`SELECT count(*) FROM consents`); n != "0" {
					t.Errorf("%s consents without a yes", n)
				}
			})
		})
	}
}

// TestAnswerSeconds: the person's own time to answer goes before the tool's.
func TestAnswerSeconds(t *testing.T) {
	inWorld(t, nil, func(t *testing.T, w *world) {
		w.work(one(burn))
		a, err := w.hub.Enqueue(w.ctx, api.EnqueueRequest{Agent: agentName, Args: []byte(`{}`), Answer: 30})
		if err != nil {
			t.Fatal(err)
		}
		q := w.asked()
		if left := q.Deadline.Sub(w.clock.now()).Round(time.Second); left != 30*time.Second {
			t.Errorf("the question stays open for %v; want 30 s", left)
		}
		w.over(a.Turn)
	})
}

// TestFirstReplyWins (CONF-58, CONF-59), and nobody but the holder of the token, or of
// the number, can answer.
func TestFirstReplyWins(t *testing.T) {
	inWorld(t, nil, func(t *testing.T, w *world) {
		w.work(one(burn))
		a := w.begin()
		q := w.asked()
		for name, r := range map[string]api.ReplyRequest{
			"another token":      {Token: "rpl_00000000000000000000000000000000", Decision: "accept"},
			"another number":     {Question: q.Number + 1, Decision: "accept"},
			"no handle":          {Decision: "accept"},
			"another word":       {Token: q.Token, Decision: "yes"},
			"no word":            {Token: q.Token},
			"a response instead": {Token: q.Token, Response: "accept"},
		} {
			if _, err := w.hub.Answer(w.ctx, r); err == nil {
				t.Errorf("%s was taken as an answer", name)
			}
		}
		if now := w.asked(); now.Token != q.Token {
			t.Errorf("the question is %+v; it was %+v", now, q)
		}
		answer, err := w.answer(api.ReplyRequest{Question: q.Number, Decision: "accept", Surface: "page"})
		if err != nil || answer.Resolution != "accepted" || answer.Question != q.Number {
			t.Errorf("the answer to the accept is %+v, %v", answer, err)
		}
		_, err = w.reply(q, "accept")
		wantFault(t, err, utp.CodeDone)
		w.succeeded(a.Turn)
		w.effectsAre(1)
		_, err = w.reply(q, "accept")
		wantFault(t, err, utp.CodeDone)
	})
}

// TestTooLate: an accept at the deadline is none (CONF-53).
func TestTooLate(t *testing.T) {
	inWorld(t, nil, func(t *testing.T, w *world) {
		w.work(one(burn))
		a := w.begin()
		q := w.asked()
		w.now.full.Store(true) // the kernel cannot even record that time is up
		w.pass(q.Deadline.Sub(w.clock.now()))
		w.now.full.Store(false)
		if _, err := w.reply(q, "accept"); err == nil {
			t.Error("an accept at the deadline was taken")
		}
		w.over(a.Turn)
		w.effectsAre(0)
	})
}

// TestExtend: more time is the same question with its number and digest, under a new
// token; the old one is dead.
func TestExtend(t *testing.T) {
	inWorld(t, nil, func(t *testing.T, w *world) {
		w.work(one(burn))
		a := w.begin()
		q := w.asked()
		digest := w.last(a.Turn).Digest
		w.pass(4 * time.Minute)
		answer, err := w.hub.Extend(w.ctx, api.ReplyRequest{Token: q.Token, By: person, Surface: "terminal"})
		if err != nil {
			t.Fatal(err)
		}
		longer := w.asked()
		switch {
		case longer.Number != q.Number || answer.Question != q.Number:
			t.Errorf("the number is %d; it was %d", longer.Number, q.Number)
		case longer.Token == q.Token:
			t.Error("the token is the old one")
		case !longer.Deadline.Equal(q.Deadline.Add(5*time.Minute)) || !answer.Deadline.Equal(longer.Deadline):
			t.Errorf("the deadline is %v; it was %v", longer.Deadline, q.Deadline)
		case w.last(a.Turn).Digest != digest:
			t.Error("the digest is another")
		}
		for _, word := range []string{"accept", "reject"} {
			if _, err := w.reply(q, word); err == nil {
				t.Errorf("the old token took %q", word)
			}
		}
		if _, err := w.hub.Extend(w.ctx, api.ReplyRequest{Token: q.Token}); err == nil {
			t.Error("the old token gave more time")
		}
		w.pass(4 * time.Minute) // past the first deadline
		w.say(longer, "accept")
		w.succeeded(a.Turn)
		w.effectsAre(1)
		if n := w.cell(`SELECT count(*) FROM tokens`); n != "2" {
			t.Errorf("%s tokens are known; want two", n)
		}
		_, err = w.hub.Extend(w.ctx, api.ReplyRequest{Question: q.Number})
		wantFault(t, err, utp.CodeDone)
	})
}

// TestExtendOften: at least ten times, and over a restart.
func TestExtendOften(t *testing.T) {
	testkit.Slow(t)
	inWorld(t, nil, func(t *testing.T, w *world) {
		w.work(one(burn))
		a := w.begin()
		for range 10 {
			q := w.asked()
			w.pass(time.Minute)
			if _, err := w.hub.Extend(w.ctx, api.ReplyRequest{Token: q.Token}); err != nil {
				t.Fatal(err)
			}
		}
		q := w.asked()
		w.restart()
		if again := w.asked(); again.Token != q.Token {
			t.Errorf("after the restart the question is %+v; it was %+v", again, q)
		}
		w.pass(7 * time.Minute) // more than it had at first
		w.say(q, "accept")
		w.succeeded(a.Turn)
		w.effectsAre(1)
	})
}

// cancelled waits for the turn's end and checks that it was stopped.
func (w *world) cancelled(id string) turn.State {
	w.t.Helper()
	state := w.over(id)
	if state.End.Status != utp.StatusCanceled || state.End.Code != utp.CodeStopped {
		w.t.Errorf("the turn ended %s %s; want canceled, stopped", state.End.Status, state.End.Code)
	}
	last := w.bodies(state.Session)
	if n := len(last); !strings.Contains(last[n-1], `"aaep:agent.session.cancelled"`) {
		w.t.Errorf("the last event is %s; want session.cancelled", last[n-1])
	}
	return state
}

// TestStop: in every state of the call.
func TestStop(t *testing.T) {
	stop := func(w *world, a api.EnqueueAnswer) error {
		_, err := w.hub.Stop(w.ctx, api.ReplyRequest{Session: a.Session, By: person, Surface: "terminal", Reason: "enough"})
		return err
	}
	tests := []struct {
		name    string
		tool    string
		before  func(*world)
		at      turn.CallState
		outcome utp.Code
		effects int
		grants  string
	}{
		{name: "requested and asked", tool: burn, at: turn.Asked, outcome: utp.CodeStopped, grants: "0"},
		{name: "accepted", tool: burn, at: turn.Accepted, outcome: utp.CodeStopped, grants: "0"},
		{name: "dispatched", tool: burn, before: func(w *world) { w.services[0].conn.cut.Store(true) }, at: turn.Dispatched, outcome: utp.CodeStopped, grants: "0"},
		{name: "started", tool: burn, before: func(w *world) { w.effects.at("done", w.gate().pass) }, at: turn.Started, outcome: utp.CodeStopped, effects: 1, grants: "1"},
		{name: "lapsed", tool: shred, before: func(w *world) { w.effects.at("done", dies) }, at: turn.LeaseExpired, outcome: utp.CodeOutcomeUnknown, effects: 1, grants: "1"},
		{name: "unknown", tool: burn, before: func(w *world) { w.effects.at("done", dies) }, at: turn.Unknown, outcome: utp.CodeOutcomeUnknown, effects: 1, grants: "1"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			inWorld(t, nil, func(t *testing.T, w *world) {
				if tt.before != nil {
					tt.before(w)
				}
				w.work(one(tt.tool))
				a := w.begin()
				if q := w.asked(); tt.at != turn.Asked {
					w.say(q, "accept")
				}
				w.reaches(a.Turn, tt.at)
				if err := stop(w, a); err != nil {
					t.Fatal(err)
				}
				began := time.Now()
				state := w.cancelled(a.Turn)
				if took := time.Since(began); took > 15*time.Second {
					t.Errorf("it took %v to stop", took)
				}
				if c := state.Calls[0]; c.Outcome.Code != tt.outcome {
					t.Errorf("the call ended as %s %+v; want %s", c.State, c.Outcome, tt.outcome)
				}
				if state.Stop.By != person || state.Stop.Reason != "enough" {
					t.Errorf("stopped: %+v", state.Stop)
				}
				w.services[0].conn.cut.Store(false)
				w.pass(2 * time.Minute)
				w.effectsAre(tt.effects)
				if n := w.cell(`SELECT count(*) FROM grants`); n != tt.grants {
					t.Errorf("%s grants; want %s", n, tt.grants)
				}
				if open := w.questions(); len(open) != 0 {
					t.Errorf("questions of a stopped turn: %v", open)
				}
				wantFault(t, stop(w, a), utp.CodeTurnEnded)
			})
		})
	}
	t.Run("queued", func(t *testing.T) {
		inWorld(t, nil, func(t *testing.T, w *world) {
			a := w.begin()
			if err := stop(w, a); err != nil {
				t.Fatal(err)
			}
			w.cancelled(a.Turn)
			w.work(one(burn))
			w.pass(10 * time.Second)
			if n := w.cell(`SELECT count(*) FROM calls`); n != "0" {
				t.Errorf("%s calls of a turn that was stopped before it started", n)
			}
		})
	})
	t.Run("unknown session", func(t *testing.T) {
		inWorld(t, nil, func(t *testing.T, w *world) {
			wantFault(t, stop(w, api.EnqueueAnswer{Session: "sess_none"}), utp.CodeNotFound)
		})
	})
}

// TestStopWhilePlanning: the planner's next step is refused, and the turn has ended.
func TestStopWhilePlanning(t *testing.T) {
	inWorld(t, nil, func(t *testing.T, w *world) {
		thinking := w.gate()
		w.workAs(func() worker.Planner {
			return planFunc(func() (worker.Decision, error) {
				<-thinking.way
				return worker.Decision{Calls: one(burn)}, nil
			})
		})
		a := w.begin()
		w.until("the turn is to run", func() bool { return w.turn(a.Turn).Status == turn.Running })
		if _, err := w.hub.Stop(w.ctx, api.ReplyRequest{Session: a.Session}); err != nil {
			t.Fatal(err)
		}
		state := w.cancelled(a.Turn)
		if !state.Stop.System {
			t.Error("a stop by nobody counts as a person's")
		}
		thinking.open()
		w.pass(10 * time.Second)
		if n := w.cell(`SELECT count(*) FROM calls`); n != "0" {
			t.Errorf("%s calls after the stop", n)
		}
	})
}

// planFunc is a planner that only moves.
type planFunc func() (worker.Decision, error)

func (planFunc) Observe(worker.Result) error      { return nil }
func (f planFunc) Next() (worker.Decision, error) { return f() }

// TestStopWhileRunning: the tool is told, also when the notice is lost, finishes the
// item in hand and says exactly what was done.
func TestStopWhileRunning(t *testing.T) {
	for _, lost := range []bool{false, true} {
		t.Run(fmt.Sprintf("notice lost %v", lost), func(t *testing.T) {
			inWorld(t, nil, func(t *testing.T, w *world) {
				w.serve("post", func(s *service) []tool.Tool {
					d := definition(mail, utp.Irreversible, `{}`)
					d.Target = strings.Replace(d.Target, "tool."+target, "tool.post", 1)
					return []tool.Tool{{Definition: d, Run: func(ctx context.Context, c *tool.Call) (tool.Result, error) {
						if err := w.effects.happen(c.ID); err != nil {
							return tool.Result{}, err
						}
						<-ctx.Done()
						return tool.Result{Status: utp.StatusPartial, Value: map[string]any{"sent": 1, "left": 4}}, nil
					}}}
				})
				w.work(one(mail))
				a := w.begin()
				w.accepts()
				w.reaches(a.Turn, turn.Started)
				if lost {
					w.bus.lose(100, commands)
				}
				if _, err := w.hub.Stop(w.ctx, api.ReplyRequest{Session: a.Session, By: person}); err != nil {
					t.Fatal(err)
				}
				state := w.cancelled(a.Turn)
				if c := state.Calls[0]; c.State != turn.Finished || c.Outcome.Status != utp.StatusPartial {
					t.Errorf("the call ended as %s %+v; want its own word, partial", c.State, c.Outcome)
				}
				if content := w.cell(`SELECT content FROM cards WHERE type = 'tool.result'`); !strings.Contains(content, `"left":4`) {
					t.Errorf("the result is %s", content)
				}
			})
		})
	}
}

// TestTwoWorkers: one claims the turn, the other waits; a turn is worked on once.
func TestTwoWorkers(t *testing.T) {
	inWorld(t, nil, func(t *testing.T, w *world) {
		for range 3 {
			w.work(one(poller), one(put), one(poller))
		}
		var all []api.EnqueueAnswer
		for range 4 {
			all = append(all, w.begin())
		}
		for range all {
			w.until("a question is to be open", func() bool { return len(w.questions()) > 0 })
			w.say(w.questions()[0], "accept")
		}
		for _, a := range all {
			w.succeeded(a.Turn)
		}
		w.effectsAre(4)
		if n := w.cell(`SELECT count(*) FROM calls`); n != "12" {
			t.Errorf("%s calls were made; want twelve", n)
		}
	})
}

// TestAbsent: where nobody is left and policy decides, questions get their default.
func TestAbsent(t *testing.T) {
	inWorld(t, nil, func(t *testing.T, w *world) {
		w.work(one(burn), one(paint))
		a := w.begin()
		w.asked()
		if _, err := w.hub.Absent(w.ctx, api.ReplyRequest{Session: a.Session}); err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		w.over(a.Turn)
		if took := time.Since(began); took > 5*time.Second {
			t.Errorf("the next question stayed open for %v", took)
		}
		w.effectsAre(0)
		var page api.EventsAnswer
		if err := rpc.Ask(w.ctx, w.person, api.OpEvents, api.EventsRequest{Session: a.Session}, &page); err != nil || !page.Ended {
			t.Errorf("the events are %+v, %v", page, err)
		}
	})
}

// TestProgress: told at most every 5 % of the whole work, in order.
func TestProgress(t *testing.T) {
	inWorld(t, nil, func(t *testing.T, w *world) {
		w.effects.at("begun", func(_ context.Context, _ *service, c *tool.Call) error {
			for i := range 201 {
				c.Progress(float64(i) / 200)
				<-time.After(250 * time.Millisecond)
			}
			return nil
		})
		w.work(one(poller))
		a := w.begin()
		w.succeeded(a.Turn)
		var told []float64
		for _, row := range w.query(w.now.path, `SELECT json_extract(body, '$.progress.percent') FROM events WHERE type LIKE '%progress%' ORDER BY seq`) {
			percent, err := strconv.ParseFloat(row[0], 64)
			if err != nil {
				t.Fatal(err)
			}
			if n := len(told); n > 0 && percent-told[n-1] < 5 && percent < 100 {
				t.Errorf("%v %% was told after %v %%", percent, told[n-1])
			}
			told = append(told, percent)
		}
		if len(told) < 18 || told[len(told)-1] < 95 {
			t.Errorf("told: %v; want about every 5 %%", told)
		}
	})
}
