package kernel_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/api/audit"
	"github.com/earshot-dev/earshot/internal/kernel"
	"github.com/earshot-dev/earshot/internal/kernel/turn"
	"github.com/earshot-dev/earshot/internal/testkit"
	"github.com/earshot-dev/earshot/utp"
	"github.com/earshot-dev/earshot/worker"
)

// damaged enqueues a turn and makes its row unreadable.
func (w *world) damaged() api.EnqueueAnswer {
	w.t.Helper()
	a, err := w.hub.Enqueue(w.ctx, api.EnqueueRequest{Agent: agentName, Args: jsontext.Value(`{}`)})
	if err != nil {
		w.t.Fatal(err)
	}
	w.tamper(`UPDATE turns SET doc = '{"turn":' WHERE turn_id = ?`, a.Turn)
	w.unended = true
	return a
}

// answers says a word to the open question as the ledger has it, for a list of them
// would need every turn.
func (w *world) answers(word string) {
	w.t.Helper()
	var q api.QuestionRow
	w.until("a question is to be open", func() bool {
		rows := w.query(w.now.path, `SELECT token FROM questions WHERE state = 'open'`)
		if len(rows) == 1 {
			q.Token = rows[0][0]
		}
		return len(rows) == 1
	})
	w.say(q, word)
}

// TestDamagedTurn: a turn whose row cannot be read is nobody else's trouble.
func TestDamagedTurn(t *testing.T) {
	t.Run("the others are claimed", func(t *testing.T) {
		onDisk(t, nil, func(t *testing.T, w *world) {
			broken := w.damaged()
			w.work(one(burn))
			a := w.begin()
			w.answers("accept")
			w.succeeded(a.Turn)
			w.effectsAre(1)
			_, err := w.now.kernel.Turn(w.ctx, broken.Turn)
			wantFault(t, err, utp.CodeStorageError)
		})
	})
	t.Run("its worker is given another", func(t *testing.T) {
		onDisk(t, nil, func(t *testing.T, w *world) {
			broken, err := w.hub.Enqueue(w.ctx, api.EnqueueRequest{Agent: agentName, Args: jsontext.Value(`{}`)})
			if got := w.claims("wrk_hand"); err != nil || got.Turn != broken.Turn {
				t.Fatalf("claimed %+v, %v", got, err)
			}
			w.tamper(`UPDATE turns SET doc = '{"turn":' WHERE turn_id = ?`, broken.Turn)
			w.unended = true
			a := w.begin()
			h := w.hand()
			if h.at.Turn != a.Turn || h.at.Epoch != 1 {
				t.Errorf("claimed as %+v; want %s, at once", h.at, a.Turn)
			}
			h.deliver()
			w.succeeded(a.Turn)
		})
	})
	t.Run("the others' questions are listed", func(t *testing.T) {
		onDisk(t, nil, func(t *testing.T, w *world) {
			w.damaged()
			w.work(one(burn))
			a := w.begin()
			w.reaches(a.Turn, turn.Asked)
			var page api.QuestionsAnswer
			err := w.as(kernel.HubCaller, person, api.OpQuestions, api.QuestionsRequest{}, &page)
			if err != nil || len(page.Questions) != 1 || page.Next != 0 {
				t.Errorf("the questions are %+v, %v; want one", page, err)
			}
			w.answers("reject")
			w.over(a.Turn)
		})
	})
	t.Run("the others are recovered", func(t *testing.T) {
		onDisk(t, nil, func(t *testing.T, w *world) {
			w.damaged()
			w.work(one(burn))
			a := w.begin()
			w.reaches(a.Turn, turn.Asked)
			old := w.copied()
			w.answers("accept")
			w.succeeded(a.Turn)
			w.unresumed = true
			w.goesBack(old, true)
			w.toldOfRestore(a.Session)
			w.saysUnknown(a.Turn)
			if err := w.now.kernel.Resume(w.ctx, a.Turn); err != nil {
				t.Fatal(err)
			}
			w.answers("leave")
			w.over(a.Turn)
			w.effectsAre(1)
		})
	})
}

// TestDamagedTurnIsLeft: a worker whose turn cannot be read any more goes on with others, whether
// it plans or waits.
func TestDamagedTurnIsLeft(t *testing.T) {
	for name, plan := range map[string][]worker.Call{"waiting": one(burn), "planning": nil} {
		t.Run(name, func(t *testing.T) {
			onDisk(t, nil, func(t *testing.T, w *world) {
				first := true
				w.loop(func(ctx context.Context, _ worker.Transcript) (worker.Decision, error) {
					if first && plan == nil {
						first = false
						<-ctx.Done()
						return worker.Decision{}, ctx.Err()
					}
					if first {
						first = false
						return worker.Decision{Calls: plan}, nil
					}
					return worker.Decision{Answer: &worker.Answer{Summary: "Done."}}, nil
				})
				broken, err := w.hub.Enqueue(w.ctx, api.EnqueueRequest{Agent: agentName, Args: jsontext.Value(`{}`)})
				if err != nil {
					t.Fatal(err)
				}
				w.pass(time.Second)
				w.tamper(`UPDATE turns SET doc = '{"turn":' WHERE turn_id = ?`, broken.Turn)
				w.unended = true
				a := w.begin()
				w.pass(2 * time.Minute)
				w.succeeded(a.Turn)
			})
		})
	}
}

// TestDamagedTurnIsDue: a turn that is due and cannot be read is tried again now and then, ever
// more seldom, and not again and again: each try is a line of the log.
func TestDamagedTurnIsDue(t *testing.T) {
	testkit.Slow(t)
	onDisk(t, nil, func(t *testing.T, w *world) {
		w.damaged()
		w.tamper(`UPDATE agenda SET due_at = 0 WHERE due_at IS NOT NULL`)
		w.work(one(poller))
		a := w.begin() // which wakes the ticker
		w.succeeded(a.Turn)
		before := strings.Count(w.lines.String(), "tick failed")
		w.pass(time.Minute)
		const most = 7
		if n := strings.Count(w.lines.String(), "tick failed") - before; n == 0 || n > most {
			t.Errorf("it was tried %d times in a minute; want some, at most %d", n, most)
		}
		before = strings.Count(w.lines.String(), "tick failed")
		const minutes = 60 / testkit.Slowdown
		w.pass(minutes * time.Minute)
		if n := strings.Count(w.lines.String(), "tick failed") - before; n < minutes*5/6 || n > minutes+1 {
			t.Errorf("it was tried %d times in %d minutes; want one a minute", n, minutes)
		}
	})
}

// damages are ways to spoil the arguments of the one call; its arguments are large
// enough to lie in a blob.
func damages() map[string]string {
	return map[string]string{
		"card cut short":    `UPDATE cards SET content = '{"tool' WHERE type = 'tool.call'`,
		"card of no call":   `UPDATE cards SET content = '{}' WHERE type = 'tool.call'`,
		"card gone":         `DELETE FROM cards WHERE type = 'tool.call'`,
		"blob gone":         `DELETE FROM blob_chunks; DELETE FROM blobs`,
		"blob's piece gone": `DELETE FROM blob_chunks`,
	}
}

// TestDamagedArguments: a call whose arguments cannot be read any more never runs, and
// does not keep the person from stopping nor the session from its end.
func TestDamagedArguments(t *testing.T) {
	testkit.Slow(t)
	for name, damage := range damages() {
		large := one(burn)
		large[0].Args = map[string]any{"name": "x", "text": strings.Repeat("a", 1<<20)}
		t.Run(name+", asked and stopped", func(t *testing.T) {
			onDisk(t, nil, func(t *testing.T, w *world) {
				w.work(large)
				a := w.begin()
				w.asked()
				w.tamper(damage)
				if _, err := w.hub.Stop(w.ctx, api.ReplyRequest{Session: a.Session, By: person, Surface: "terminal"}); err != nil {
					t.Fatal(err)
				}
				w.cancelled(a.Turn)
				w.effectsAre(0)
			})
		})
		t.Run(name+", accepted", func(t *testing.T) {
			onDisk(t, nil, func(t *testing.T, w *world) {
				w.work(large)
				a := w.begin()
				q := w.asked()
				w.reads(q)
				w.say(q, "accept")
				w.pass(time.Second)
				call := w.last(a.Turn).ID
				w.tamper(damage)
				w.flaws = []audit.Flaw{audit.Arguments}
				state := w.over(a.Turn)
				w.effectsAre(0)
				old, _ := state.Find(call)
				if old.State != turn.Closed || old.Outcome.Code != utp.CodeConsentStale || old.Outcome.Message != "arguments" {
					t.Errorf("the call is %s %+v; want over, consent_stale, arguments", old.State, old.Outcome)
				}
				next, found := state.Find(old.ReplacedBy)
				if !found || next.State != turn.Closed || next.Outcome.Code != utp.CodeBadRequest {
					t.Errorf("the call that replaces it is %s %+v; want over, bad_request", next.State, next.Outcome)
				}
			})
		})
	}
}
