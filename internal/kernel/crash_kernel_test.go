package kernel_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/kernel/store"
	"github.com/earshot-dev/earshot/internal/kernel/turn"
	"github.com/earshot-dev/earshot/internal/rpc"
	"github.com/earshot-dev/earshot/utp"
)

// The tests whose names begin with TestCrash… are the rows of the call protocol's table
// of crashes and faults. In each the world judges at the end that the turn ended once,
// that the events are whole and valid, and that no effect lacked a consent.

// effectsAre checks how often the tools have had their effect.
func (w *world) effectsAre(want int) {
	w.t.Helper()
	if got := len(w.effects.all()); got != want {
		w.t.Errorf("%d effects; want %d", got, want)
	}
}

// succeeded waits for the turn's end and checks that it is a success.
func (w *world) succeeded(id string) turn.State {
	w.t.Helper()
	state := w.over(id)
	if state.End.Status != utp.StatusSuccess {
		w.t.Errorf("the turn ended %s %s; want success", state.End.Status, state.End.Code)
	}
	return state
}

// staleThenAsked waits until the call that q was about is stale for the reason and the
// work is asked for again: another call, token and digest, and another number unless it is only a
// restart that has ended the consent. It returns the new question.
func (w *world) staleThenAsked(turnID, call string, q api.QuestionRow, reason string) api.QuestionRow {
	w.t.Helper()
	next := w.askedAnew(q)
	state := w.turn(turnID)
	old, _ := state.Find(call)
	if old.State != turn.Closed || old.Outcome.Code != utp.CodeConsentStale || old.Outcome.Message != reason {
		w.t.Errorf("the old call is %s %+v; want over, consent_stale, %s", old.State, old.Outcome, reason)
	}
	if old.Outcome.Status != utp.StatusCanceled {
		w.t.Errorf("a stale call has the status %s; want canceled", old.Outcome.Status)
	}
	fresh, found := state.Find(old.ReplacedBy)
	switch {
	case !found || fresh.Question != next.Number || fresh.Replaces != old.ID || fresh.ID == old.ID:
		w.t.Errorf("the new call is %+v; want one that replaces %s and has question %d", fresh, old.ID, next.Number)
	case (next.Number == q.Number) != (reason == turn.StaleRestarted):
		w.t.Errorf("question %d, stale for its %s, is asked again as %d", q.Number, reason, next.Number)
	case fresh.Digest == old.Digest || fresh.Digest == "":
		w.t.Error("the new question has the old digest")
	case next.Token == q.Token:
		w.t.Error("the new question has the old token")
	}
	if n := w.cell(`SELECT count(*) FROM receipts WHERE call_id = ? AND decision = 'accept'`, fresh.ID); n != "0" {
		w.t.Error("the new call has a consent already")
	}
	return next
}

// dieAt kills the kernel when it passes the point.
func (p *process) dieWhenReaching(point string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.dieAt[point] = 1
}

func (w *world) dies() {
	w.t.Helper()
	w.until("the kernel is to die", func() bool { return w.now.dead.Load() })
}

// TestCrashBeforeDispatch: the kernel dies between the accept and the dispatch. The consent to
// what cannot be undone ends with it: it is asked for again, once, under the number of its question,
// and says why.
func TestCrashBeforeDispatch(t *testing.T) {
	for _, point := range []string{"answer.saved", "undo.waiting", "dispatch.committing"} {
		t.Run(point, func(t *testing.T) {
			onDisk(t, nil, func(t *testing.T, w *world) {
				w.work(one(burn))
				a := w.begin()
				w.now.dieWhenReaching(point)
				q := w.asked()
				_, err := w.reply(q, "accept")
				w.dies()
				if answered := point == "dispatch.committing"; (err == nil) != answered {
					t.Errorf("the answer to the accept: %v", err)
				}
				w.pass(10 * time.Second)
				call := w.last(a.Turn).ID
				w.restart()
				w.say(w.staleThenAsked(a.Turn, call, q, turn.StaleRestarted), "accept")
				w.succeeded(a.Turn)
				w.effectsAre(1)
				if n := w.cell(`SELECT count(*) FROM questions`); n != "1" {
					t.Errorf("%s questions were asked; want one", n)
				}
				if tale := w.tale(); !strings.Contains(tale, "Earshot restarted after your yes. Nothing was done.") {
					t.Error(tale)
				}
			})
		})
	}
}

// TestCrashBeforeDispatchOfAGeneration: the same, of what can be undone, or where another kernel on
// the ledger has lived on: the consent is fresh, and it runs, once.
func TestCrashBeforeDispatchOfAGeneration(t *testing.T) {
	for name, tt := range map[string]struct {
		tool string
		with func(*world)
	}{
		"reversible": {paint, nil}, "irreversible, one generation": {burn, lasting(nil)},
	} {
		t.Run(name, func(t *testing.T) {
			onDisk(t, tt.with, func(t *testing.T, w *world) {
				w.work(one(tt.tool))
				a := w.begin()
				w.now.dieWhenReaching("dispatch.committing")
				w.accepts()
				w.dies()
				w.pass(10 * time.Second)
				w.effectsAre(0)
				w.restart()
				w.succeeded(a.Turn)
				w.effectsAre(1)
				if n := w.cell(`SELECT count(*) FROM questions`); n != "1" {
					t.Errorf("%s questions were asked; want one", n)
				}
			})
		})
	}
}

// TestCrashBeforeDispatchTooOld: the same, and the restart comes too late.
func TestCrashBeforeDispatchTooOld(t *testing.T) {
	onDisk(t, lasting(nil), func(t *testing.T, w *world) {
		w.work(one(burn))
		a := w.begin()
		w.now.dieWhenReaching("dispatch.committing")
		q := w.accepts()
		w.dies()
		w.pass(2 * time.Minute)
		w.restart()
		call := w.turn(a.Turn).Calls[0].ID
		next := w.staleThenAsked(a.Turn, call, q, "age")
		w.effectsAre(0)
		w.say(next, "accept")
		w.succeeded(a.Turn)
		w.effectsAre(1)
	})
}

// TestCrashQuestion: the kernel dies around the question. It is open after the restart
// with one number, or was never asked and is asked then.
func TestCrashQuestion(t *testing.T) {
	for _, point := range []string{"question.saving", "question.saved"} {
		t.Run(point, func(t *testing.T) {
			onDisk(t, nil, func(t *testing.T, w *world) {
				a := w.begin() // before the worker, so that the answer has come when the kernel dies
				w.now.dieWhenReaching(point)
				w.work(one(burn))
				w.dies()
				w.pass(10 * time.Second)
				w.restart()
				q := w.asked()
				if q.Number != 1 {
					t.Errorf("the question has the number %d", q.Number)
				}
				w.say(q, "accept")
				w.succeeded(a.Turn)
				w.effectsAre(1)
			})
		})
	}
}

// TestCrashAfterDispatch: the kernel dies after the dispatch, before or after the command has left.
// Where another kernel on the ledger lives on it is rung again under the same id.
func TestCrashAfterDispatch(t *testing.T) {
	for _, point := range []string{"invoked.logged", "command.published"} {
		t.Run(point, func(t *testing.T) {
			onDisk(t, lasting(nil), func(t *testing.T, w *world) {
				w.work(one(burn))
				a := w.begin()
				w.now.dieWhenReaching(point)
				w.accepts()
				w.dies()
				w.pass(5 * time.Second)
				w.restart()
				w.succeeded(a.Turn)
				w.effectsAre(1)
				if n := w.cell(`SELECT count(DISTINCT call_id) FROM grants`); n != "1" {
					t.Errorf("%s calls were started; want one", n)
				}
			})
		})
	}
}

// TestCrashAfterDispatchRestarted: what cannot be undone is not started after a restart, although its
// command is there: the person is asked again.
func TestCrashAfterDispatchRestarted(t *testing.T) {
	for _, sole := range []bool{false, true} {
		t.Run(fmt.Sprint("sole host: ", sole), func(t *testing.T) {
			onDisk(t, func(w *world) { w.sole = sole }, func(t *testing.T, w *world) {
				first := w.work(one(burn))
				a := w.begin()
				w.now.dieWhenReaching("invoked.logged")
				q := w.accepts()
				w.dies()
				call := w.last(a.Turn).ID
				first.kill()
				w.work(one(burn))
				w.restart()
				next := w.staleThenAsked(a.Turn, call, q, turn.StaleRestarted)
				w.effectsAre(0)
				w.say(next, "accept")
				w.succeeded(a.Turn)
				w.effectsAre(1)
			})
		})
	}
}

// TestPutBack: a copy of the ledger that is put back, with all that lies beside it, repeats nothing
// of what was agreed to before it was taken.
func TestPutBack(t *testing.T) {
	for _, at := range []turn.CallState{turn.Accepted, turn.Dispatched} {
		t.Run(string(at), func(t *testing.T) {
			onDisk(t, func(w *world) { w.unended = true }, func(t *testing.T, w *world) {
				work := w.gate()
				for _, s := range w.services {
					s.conn.cut.Store(at == turn.Dispatched)
				}
				w.effects.at("done", work.pass)
				w.work(one(burn))
				a := w.begin()
				q := w.accepts()
				call := w.reaches(a.Turn, at).ID
				old, count := w.copied(), w.count.n.Load()
				for _, s := range w.services {
					s.conn.cut.Store(false)
				}
				work.open()
				w.succeeded(a.Turn)
				w.effectsAre(1)
				w.restored = true
				w.count.n.Store(count)
				w.restore(old)
				next := w.staleThenAsked(a.Turn, call, q, turn.StaleRestarted)
				w.effectsAre(1)
				w.say(next, "reject")
				w.over(a.Turn)
				w.effectsAre(1)
			})
		})
	}
}

// TestCrashAfterDispatchTooOld: nobody rings until the consent is too old.
func TestCrashAfterDispatchTooOld(t *testing.T) {
	onDisk(t, lasting(nil), func(t *testing.T, w *world) {
		w.work(one(burn))
		a := w.begin()
		w.now.dieWhenReaching("invoked.logged")
		q := w.accepts()
		w.dies()
		w.pass(61 * time.Second)
		w.restart()
		call := w.turn(a.Turn).Calls[0].ID
		next := w.staleThenAsked(a.Turn, call, q, "age")
		w.say(next, "reject")
		w.over(a.Turn)
		w.effectsAre(0)
	})
}

// TestCrashCommandLost: the bus loses the command; it is rung again with the same id.
func TestCrashCommandLost(t *testing.T) {
	onDisk(t, nil, func(t *testing.T, w *world) {
		var rung []string
		w.bus.fault(func(m message) sendResult {
			if m.kind == isCommand {
				rung = append(rung, m.subject)
			}
			return sendResult{}
		})
		w.bus.lose(4, commands)
		w.work(one(burn))
		a := w.begin()
		w.accepts()
		w.succeeded(a.Turn)
		w.effectsAre(1)
		if len(rung) != 5 {
			t.Errorf("rung %d times; want five", len(rung))
		}
		if n := w.cell(`SELECT count(*) FROM calls`); n != "1" {
			t.Errorf("%s calls; want one", n)
		}
	})
}

// TestCrashCommandLostUntilStale: the bus loses all of them.
func TestCrashCommandLostUntilStale(t *testing.T) {
	onDisk(t, nil, func(t *testing.T, w *world) {
		w.bus.lose(1000, commands)
		w.work(one(burn))
		a := w.begin()
		q := w.accepts()
		call := w.reaches(a.Turn, turn.Dispatched).ID
		next := w.staleThenAsked(a.Turn, call, q, "age")
		w.bus.heal()
		w.effectsAre(0)
		w.say(next, "accept")
		w.succeeded(a.Turn)
		w.effectsAre(1)
	})
}

// TestCrashBrokerDown: what cannot be published is put aside with its reason, and does
// not keep the session from going on once the broker is back.
func TestCrashBrokerDown(t *testing.T) {
	onDisk(t, nil, func(t *testing.T, w *world) {
		w.work(one(burn))
		a := w.begin()
		w.asked()
		w.bus.down.Store(true)
		w.accepts()
		w.pass(10 * time.Second)
		w.effectsAre(0)
		w.bus.down.Store(false)
		w.succeeded(a.Turn)
		w.effectsAre(1)
		for _, row := range w.query(w.now.path, `SELECT dead_reason FROM outbox WHERE dead_at IS NOT NULL`) {
			if !strings.Contains(row[0], errNobody.Error()) {
				t.Errorf("a command was put aside for the reason %q", row[0])
			}
		}
	})
}

// TestCrashFinishAnswerLost: the result is recorded and its answer lost. The service
// says it again and hears that it is done.
func TestCrashFinishAnswerLost(t *testing.T) {
	onDisk(t, nil, func(t *testing.T, w *world) {
		w.bus.lose(2, answerTo(api.OpFinish))
		w.work(one(burn))
		a := w.begin()
		w.accepts()
		w.succeeded(a.Turn)
		w.effectsAre(1)
		w.pass(20 * time.Second)
		if strings.Contains(w.lines.String(), "not finished") {
			t.Error("the service was not told that its result is recorded")
		}
	})
}

// TestCrashAfterFinish: the kernel dies with the result committed and applied, before the
// answer, or just before that. It is recorded and applied in one, and once.
func TestCrashAfterFinish(t *testing.T) {
	for point, recorded := range map[string]string{"finish.committed": "1", "report.applying": "0"} {
		t.Run(point, func(t *testing.T) {
			onDisk(t, nil, func(t *testing.T, w *world) {
				w.work(one(burn))
				a := w.begin()
				w.accepts()
				w.now.dieWhenReaching(point)
				w.dies()
				for _, what := range []string{"reports", "reports WHERE applied IS NOT NULL", "results"} {
					if n := w.cell(`SELECT count(*) FROM ` + what); n != recorded {
						t.Errorf("%s %s; want %s", n, what, recorded)
					}
				}
				w.pass(2 * time.Second)
				w.restart()
				w.succeeded(a.Turn)
				w.effectsAre(1)
				if n := w.cell(`SELECT count(*) FROM results`); n != "1" {
					t.Errorf("%s results were applied; want one", n)
				}
			})
		})
	}
}

// TestCrashKernelWhileRunning: the kernel dies while the service is at work. The
// service lives on, holds its lease, and finishes.
func TestCrashKernelWhileRunning(t *testing.T) {
	onDisk(t, nil, func(t *testing.T, w *world) {
		work := w.gate()
		w.effects.at("begun", work.pass)
		w.work(one(burn))
		a := w.begin()
		w.accepts()
		w.reaches(a.Turn, turn.Started)
		w.now.die()
		w.pass(8 * time.Second)
		w.restart()
		work.open()
		w.succeeded(a.Turn)
		w.effectsAre(1)
	})
}

// TestCrashSoleHost: everything lives in one process and dies with it: anyone who held
// the call is gone at the restart, and is not waited for.
func TestCrashSoleHost(t *testing.T) {
	onDisk(t, func(w *world) { w.sole = true }, func(t *testing.T, w *world) {
		w.effects.at("done", dies)
		first := w.work(one(burn))
		a := w.begin()
		w.accepts()
		w.reaches(a.Turn, turn.Started)
		first.kill()
		w.restart()
		w.serve(target, standardTools)
		w.work(one(burn))
		w.settle()
		if s := w.last(a.Turn).State; s != turn.Unknown {
			t.Errorf("the call is %s right after the restart; want unknown", s)
		}
		q := w.asked()
		w.say(q, "ask again") // one word is enough: the old owner is dead
		q = w.askedAfter(q)
		w.say(q, "reject")
		w.over(a.Turn)
		w.effectsAre(1)
	})
}

// TestCrashUnknownAsked: the kernel dies as the unknown fate is put to the person. The
// question is there at the restart.
func TestCrashUnknownAsked(t *testing.T) {
	onDisk(t, nil, func(t *testing.T, w *world) {
		w.effects.at("done", dies)
		w.work(one(burn))
		a := w.begin()
		w.accepts()
		w.now.dieWhenReaching("unknown.asked")
		w.dies()
		w.restart()
		q := w.asked()
		if q.Number != 2 {
			t.Errorf("the question has the number %d", q.Number)
		}
		w.say(q, "leave")
		w.over(a.Turn)
		w.effectsAre(1)
	})
}

// TestCrashDiskFull: a full disk leaves nothing half-written, and everything goes on
// once there is room.
func TestCrashDiskFull(t *testing.T) {
	onDisk(t, nil, func(t *testing.T, w *world) {
		w.work(one(burn))
		a := w.begin()
		q := w.asked()
		w.now.full.Store(true)
		before := w.cell(`SELECT version || ' ' || seq FROM turns`)
		_, err := w.reply(q, "accept")
		wantFault(t, err, utp.CodeUpstreamUnavailable)
		w.pass(5 * time.Second)
		if after := w.cell(`SELECT version || ' ' || seq FROM turns`); after != before {
			t.Errorf("version and seq were %s and are %s", before, after)
		}
		if n := w.cell(`SELECT count(*) FROM receipts`); n != "0" {
			t.Errorf("%s receipts of an answer that was not recorded", n)
		}
		w.now.full.Store(false)
		w.say(q, "accept")
		w.pass(time.Second)
		w.now.full.Store(true)
		w.pass(10 * time.Second)
		w.effectsAre(0)
		w.now.full.Store(false)
		w.succeeded(a.Turn)
		w.effectsAre(1)
	})
}

// TestCrashDiskFullWhileRunning: the result waits with the service until there is room.
func TestCrashDiskFullWhileRunning(t *testing.T) {
	onDisk(t, nil, func(t *testing.T, w *world) {
		work := w.gate()
		w.effects.at("done", work.pass)
		w.work(one(burn))
		a := w.begin()
		w.accepts()
		w.reaches(a.Turn, turn.Started)
		w.now.full.Store(true)
		work.open()
		w.pass(10 * time.Second)
		w.now.full.Store(false)
		w.succeeded(a.Turn)
		w.effectsAre(1)
	})
}

// TestCrashRacingSteps: two steps of a turn are committed in one order and come back
// in the other. The turn is ticked when the later one wants it.
func TestCrashRacingSteps(t *testing.T) {
	onDisk(t, nil, func(t *testing.T, w *world) {
		w.work(one(burn))
		a := w.begin()
		q := w.asked()
		w.now.mu.Lock()
		w.now.committed = func() { w.say(q, "accept") } // the worker's next renewal is overtaken
		w.now.mu.Unlock()
		w.reaches(a.Turn, turn.Accepted)
		w.pass(turn.DefaultUndo + time.Second)
		w.effectsAre(1)
		w.succeeded(a.Turn)
	})
}

var _ store.Ledger = fuse{}

// TestRestartedAndChanged: what was agreed to has changed by the time that a restart ends the yes to
// it: it is another question then, of which nobody has read or remembers anything.
func TestRestartedAndChanged(t *testing.T) {
	onDisk(t, func(w *world) { w.unnoticed = true }, func(t *testing.T, w *world) {
		w.work(long(burn))
		a := w.begin()
		q := w.asked()
		w.reads(q)
		w.say(q, "accept")
		d := definition(burn, utp.Irreversible, `{"args":{"fixed":{"name":"y"}}}`)
		if err := w.now.kernel.Registry().Register(w.ctx, target, d); err != nil {
			t.Fatal(err)
		}
		w.restart()
		next := w.askedAnew(q)
		if next.Number == q.Number {
			t.Errorf("question %d is asked again under its number, and is about something else now", q.Number)
		}
		if want := "Earshot restarted after your yes, and the tool has changed since. Nothing was done."; !strings.Contains(w.cell(`SELECT body FROM events WHERE event_id = '`+next.Event+`'`), want) {
			t.Errorf("question %d does not say %q", next.Number, want)
		}
		_, err := w.reply(next, "accept")
		wantFault(t, err, utp.CodeArgumentsNotSeen)
		w.say(next, "reject")
		w.over(a.Turn)
		w.effectsAre(0)
	})
}

// TestOldYesByNumber: a yes by number alone, which was taken and comes again after a restart (sent again because its
// answer was lost), is not a yes to the question that is asked again under the number. A no by number still is a no.
func TestOldYesByNumber(t *testing.T) {
	onDisk(t, func(w *world) { w.unnoticed = true }, func(t *testing.T, w *world) {
		w.work(one(burn))
		a := w.begin()
		q := w.asked()
		yes := api.ReplyRequest{Question: q.Number, Decision: "accept", By: person, Surface: "terminal", At: w.clock.now()}
		if got, err := w.answer(yes); err != nil || got.Resolution != "accepted" {
			t.Fatalf("the first time: %+v, %v", got, err)
		}
		w.reaches(a.Turn, turn.Accepted)
		w.restart()
		next := w.askedAnew(q)
		w.pass(2 * time.Second)
		for _, at := range []time.Time{yes.At, {}, w.clock.now()} { // its own time, none, and as a server stamps it
			yes.At = at
			_, err := w.answer(yes)
			wantFault(t, err, utp.CodeConflict)
		}
		if again := w.asked(); again.Token != next.Token {
			t.Errorf("the question is %+v; it was %+v", again, next)
		}
		if got, err := w.answer(api.ReplyRequest{Question: q.Number, Decision: "reject", By: person, Surface: "terminal"}); err != nil || got.Resolution != "rejected" {
			t.Errorf("a no by number: %+v, %v", got, err)
		}
		w.over(a.Turn)
		w.effectsAre(0)
	})
}

// TestNoticedByToken: the word that a yes was told of is about that yes, also where the question is asked again
// under its number and agreed to once more.
func TestNoticedByToken(t *testing.T) {
	onDisk(t, func(w *world) { w.unnoticed = true }, func(t *testing.T, w *world) {
		w.work(one(burn))
		a := w.begin()
		q := w.accepts()
		w.restart()
		next := w.askedAnew(q)
		_, err := w.hub.Undo(w.ctx, api.ReplyRequest{Question: q.Number, By: person, Surface: "terminal"})
		wantFault(t, err, utp.CodeDone)
		if !strings.Contains(err.Error(), "reject it") {
			t.Errorf("who wants to take back the first yes is told: %v", err)
		}
		w.say(next, "accept")
		late := api.ReplyRequest{Question: q.Number, Token: q.Token, By: person, Surface: "terminal"}
		wantFault(t, rpc.Ask(w.ctx, w.person, api.OpNoticed, late, nil), utp.CodeDone)
		late.Token = "" // the first yes came without it, and so does the word on it
		wantFault(t, rpc.Ask(w.ctx, w.person, api.OpNoticed, late, nil), utp.CodeConflict)
		w.pass(20 * time.Second)
		w.effectsAre(0)
		late.Token = next.Token
		if err := rpc.Ask(w.ctx, w.person, api.OpNoticed, late, nil); err != nil {
			t.Fatal(err)
		}
		w.succeeded(a.Turn)
		w.effectsAre(1)
	})
}
