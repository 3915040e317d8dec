package kernel_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/kernel"
	"github.com/earshot-dev/earshot/internal/kernel/store/sqlite"
	"github.com/earshot-dev/earshot/internal/kernel/turn"
	"github.com/earshot-dev/earshot/internal/rpc"
	"github.com/earshot-dev/earshot/tool"
	"github.com/earshot-dev/earshot/utp"
	"github.com/earshot-dev/earshot/worker"
)

// goesBack puts an old copy of the ledger back and checks whether that was noticed.
func (w *world) goesBack(old home, noticed bool) {
	w.t.Helper()
	w.mark()
	if p := w.restore(old); p.restored != noticed {
		w.t.Errorf("the ledger went back in time; noticed: %v; want %v", p.restored, noticed)
	}
}

// mark keeps the end-of-test comparison from looking for events that are lost.
func (w *world) mark() { w.restored = true }

// toldOfRestore checks that the session says so.
func (w *world) toldOfRestore(session string) {
	w.t.Helper()
	if told := w.query(w.now.path, `SELECT seq FROM events WHERE session_id = ? AND template LIKE 'ledger.%'`, session); len(told) != 1 {
		w.t.Errorf("the session tells %d times that the ledger went back in time; want once", len(told))
	}
}

// TestCrashRestoredFromBeforeTheQuestion: the backup does not know of the call. Nothing
// fires by itself: the work is asked for again, as by anyone who does not know.
func TestCrashRestoredFromBeforeTheQuestion(t *testing.T) {
	onDisk(t, nil, func(t *testing.T, w *world) {
		a := w.begin()
		old := w.copied()
		w.work(one(burn))
		w.accepts()
		w.succeeded(a.Turn)
		w.effectsAre(1)
		w.goesBack(old, true)
		q := w.asked()
		w.pass(time.Minute)
		w.effectsAre(1)
		w.say(q, "reject")
		w.over(a.Turn)
		w.effectsAre(1)
	})
}

// TestCrashRestoredFromWhileAsked: the backup holds the open question. Its answer may
// have had its effect: it is withdrawn, and the fate put to the person.
func TestCrashRestoredFromWhileAsked(t *testing.T) {
	onDisk(t, nil, func(t *testing.T, w *world) {
		w.work(one(burn))
		a := w.begin()
		q := w.asked()
		old := w.copied()
		w.say(q, "accept")
		w.succeeded(a.Turn)
		w.goesBack(old, true)
		w.toldOfRestore(a.Session)
		if _, err := w.reply(q, "accept"); err == nil {
			t.Error("the question of the old ledger took an answer")
		}
		w.saysUnknown(a.Turn)
		w.say(w.asked(), "leave")
		w.over(a.Turn)
		w.effectsAre(1)
	})
}

// TestCrashRestoredFromBeforeTheDispatch: the backup holds an accept that has been used
// since.
func TestCrashRestoredFromBeforeTheDispatch(t *testing.T) {
	for _, name := range []string{burn, shred} {
		t.Run(name, func(t *testing.T) {
			onDisk(t, nil, func(t *testing.T, w *world) {
				w.work(one(name))
				a := w.begin()
				w.accepts()
				w.pass(time.Second)
				old := w.copied()
				w.succeeded(a.Turn)
				w.effectsAre(1)
				w.goesBack(old, true)
				w.toldOfRestore(a.Session)
				w.saysUnknown(a.Turn)
				q := w.asked()
				w.pass(time.Minute)
				w.effectsAre(1)
				w.say(q, "leave")
				w.over(a.Turn)
				w.effectsAre(1)
			})
		})
	}
}

// TestCrashRestoredOutbox: the backup holds a command that had not left. It never does:
// it is put aside for an operator.
func TestCrashRestoredOutbox(t *testing.T) {
	onDisk(t, nil, func(t *testing.T, w *world) {
		w.work(one(burn))
		a := w.begin()
		w.accepts()
		w.pass(2900 * time.Millisecond)
		w.bus.down.Store(true)
		w.reaches(a.Turn, turn.Dispatched)
		old := w.copied()
		if n := w.cell(`SELECT count(*) FROM outbox WHERE published_at IS NULL AND dead_at IS NULL`); n != "1" {
			t.Fatalf("%s commands wait in the copy; want one", n)
		}
		w.bus.down.Store(false)
		w.succeeded(a.Turn)
		w.goesBack(old, true)
		rows := w.query(w.now.path, `SELECT dead_reason FROM outbox WHERE dead_at IS NOT NULL`)
		if len(rows) != 1 || !strings.Contains(rows[0][0], "back in time") {
			t.Errorf("put aside: %v; want the one command, with the reason", rows)
		}
		w.pass(time.Minute)
		w.effectsAre(1)
		w.saysUnknown(a.Turn)
		w.say(w.asked(), "leave")
		w.over(a.Turn)
		w.effectsAre(1)
	})
}

// TestCrashRestoredFromWhileStarted: the backup knows of the start, so the count does
// not tell. The lease does.
func TestCrashRestoredFromWhileStarted(t *testing.T) {
	for _, name := range []string{burn, shred} {
		t.Run(name, func(t *testing.T) {
			onDisk(t, nil, func(t *testing.T, w *world) {
				running := w.gate()
				w.effects.at("begun", running.pass)
				w.work(one(name))
				a := w.begin()
				q := w.accepts()
				w.reaches(a.Turn, turn.Started)
				old := w.copied()
				running.open()
				w.succeeded(a.Turn)
				w.goesBack(old, false)
				if name == burn {
					w.say(w.askedAfter(q), "leave")
				}
				w.over(a.Turn)
				w.effectsAre(1)
			})
		})
	}
}

// TestCrashRestoredFromAfterTheFinish: nothing with an effect happened since. The
// result is applied.
func TestCrashRestoredFromAfterTheFinish(t *testing.T) {
	onDisk(t, nil, func(t *testing.T, w *world) {
		steps := one(burn)
		first := w.work(steps)
		a := w.begin()
		w.accepts()
		first.kill()
		w.reaches(a.Turn, turn.Finished)
		old := w.copied()
		w.work(steps)
		w.succeeded(a.Turn)
		w.goesBack(old, false)
		w.succeeded(a.Turn)
		w.effectsAre(1)
	})
}

// TestCrashRestoredReadsGoOn: what has no effect is simply done again.
func TestCrashRestoredReadsGoOn(t *testing.T) {
	onDisk(t, nil, func(t *testing.T, w *world) {
		w.services[0].conn.cut.Store(true)
		w.work(one(poller), one(burn))
		a := w.begin()
		w.reaches(a.Turn, turn.Dispatched)
		old := w.copied()
		w.services[0].conn.cut.Store(false)
		w.accepts()
		w.succeeded(a.Turn)
		w.goesBack(old, true)
		q := w.asked() // about the burning, anew
		w.say(q, "reject")
		w.over(a.Turn)
		w.effectsAre(1)
	})
}

// TestCrashRestoredTwice: the count goes on from where the world is, so that a second
// restore is noticed as well, and a plain restart is not a restore.
func TestCrashRestoredTwice(t *testing.T) {
	onDisk(t, nil, func(t *testing.T, w *world) {
		w.work(one(burn))
		a := w.begin()
		w.accepts()
		w.pass(time.Second)
		old := w.copied()
		w.succeeded(a.Turn)
		again := w.copyOf(old)
		w.goesBack(old, true)
		if p := w.restart(); p.restored {
			t.Error("a restart counts as a restore")
		}
		w.goesBack(again, true)
		w.say(w.asked(), "leave")
		w.over(a.Turn)
		if p := w.restart(); p.restored {
			t.Error("a restart counts as a restore")
		}
		w.effectsAre(1)
	})
}

// TestCrashCountOutside: nothing with an effect begins before the count outside knows
// of its start, also when writing it fails at first or the kernel dies before it.
func TestCrashCountOutside(t *testing.T) {
	t.Run("it cannot be written", func(t *testing.T) {
		onDisk(t, nil, func(t *testing.T, w *world) {
			w.work(one(burn))
			a := w.begin()
			w.accepts()
			w.count.broken.Store(true)
			w.reaches(a.Turn, turn.Started)
			w.pass(2 * time.Second)
			w.effectsAre(0)
			w.count.broken.Store(false)
			w.succeeded(a.Turn)
			w.effectsAre(1)
			if inside := w.cell(`SELECT value FROM counters WHERE name = 'incarnation'`); inside != fmt.Sprint(w.count.n.Load()) {
				t.Errorf("the count is %s inside and %d outside", inside, w.count.n.Load())
			}
		})
	})
	t.Run("the kernel dies before it", func(t *testing.T) {
		onDisk(t, nil, func(t *testing.T, w *world) {
			w.work(one(burn))
			a := w.begin()
			w.accepts()
			w.now.dieWhenReaching("start.committed")
			w.dies()
			w.effectsAre(0)
			if p := w.restart(); p.restored {
				t.Error("the ledger is ahead, not behind")
			}
			w.succeeded(a.Turn)
			w.effectsAre(1)
			if inside := w.cell(`SELECT value FROM counters WHERE name = 'incarnation'`); inside != fmt.Sprint(w.count.n.Load()) {
				t.Errorf("the count is %s inside and %d outside", inside, w.count.n.Load())
			}
		})
	})
}

// TestCrashRestoredServiceFinishes: a service that runs through the restore says what
// it did.
func TestCrashRestoredServiceFinishes(t *testing.T) {
	onDisk(t, nil, func(t *testing.T, w *world) {
		running := w.gate()
		w.effects.at("begun", func(ctx context.Context, s *service, c *tool.Call) error {
			if c.Tool != shred {
				return nil
			}
			return running.pass(ctx, s, c)
		})
		w.work([]worker.Call{
			{Key: "a", Tool: shred, Args: map[string]any{"name": "a"}},
			{Key: "b", Tool: burn, Args: map[string]any{"name": "b"}},
		})
		a := w.begin()
		w.until("two questions are to be open", func() bool { return len(w.questions()) == 2 })
		both := w.questions()
		w.say(both[0], "accept")
		w.until("the first is to be started", func() bool { return w.turn(a.Turn).Calls[0].State == turn.Started })
		old := w.copied()
		w.say(both[1], "accept")
		w.until("the second is to be finished", func() bool { return w.turn(a.Turn).Calls[1].State == turn.Finished })
		w.goesBack(old, true)
		w.pass(time.Second)
		running.open() // it finishes at the restored ledger, where its call is unknown
		q := w.asked()
		w.say(q, "leave")
		state := w.over(a.Turn)
		w.effectsAre(2)
		if c := state.Calls[0]; c.State != turn.Finished || c.Outcome.Status != utp.StatusSuccess {
			t.Errorf("the call of the running service ended as %s %+v", c.State, c.Outcome)
		}
	})
}

// given lists the numbers of all questions of a ledger.
func (w *world) given() []string {
	w.t.Helper()
	var all []string
	for _, row := range w.query(w.now.path, `SELECT number FROM questions ORDER BY number`) {
		all = append(all, row[0])
	}
	return all
}

// TestCrashRestoredWithoutAStart: a restore is noticed also where nothing was started in
// the part that is lost, but only asked, answered, stopped or taken back. No number of a
// question is given out twice.
func TestCrashRestoredWithoutAStart(t *testing.T) {
	tests := map[string]struct {
		step  []worker.Call
		until turn.CallState // where the copy is made; "" before anything is asked
		play  func(w *world, a api.EnqueueAnswer)
	}{
		"asked": {one(burn), "", func(w *world, _ api.EnqueueAnswer) { w.asked() }},
		"rejected": {one(burn), turn.Asked, func(w *world, a api.EnqueueAnswer) {
			w.say(w.asked(), "reject")
			w.over(a.Turn)
		}},
		"accepted": {one(burn), turn.Asked, func(w *world, a api.EnqueueAnswer) {
			w.accepts()
			w.reaches(a.Turn, turn.Accepted)
		}},
		"stopped": {one(burn), turn.Asked, func(w *world, a api.EnqueueAnswer) {
			if _, err := w.hub.Stop(w.ctx, api.ReplyRequest{Session: a.Session, By: person}); err != nil {
				w.t.Fatal(err)
			}
			w.cancelled(a.Turn)
		}},
		"stopped before anything was asked": {nil, "", func(w *world, a api.EnqueueAnswer) {
			if _, err := w.hub.Stop(w.ctx, api.ReplyRequest{Session: a.Session, By: person}); err != nil {
				w.t.Fatal(err)
			}
			w.cancelled(a.Turn)
		}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			onDisk(t, nil, func(t *testing.T, w *world) {
				a := w.begin()
				if tt.until != "" {
					w.work(tt.step)
					w.reaches(a.Turn, tt.until)
				}
				old := w.copied()
				if tt.until == "" && tt.step != nil {
					w.work(tt.step)
				}
				tt.play(w, a)
				before := w.given()
				w.goesBack(old, true)
				if tt.until != "" { // else the session had not begun
					w.toldOfRestore(a.Session)
				}
				if tt.step == nil {
					w.work()
					w.over(a.Turn)
					return
				}
				w.until("another question is to be open", func() bool { return len(w.questions()) == 1 })
				q := w.questions()[0]
				if tt.until == "" && slices.Contains(before, fmt.Sprint(q.Number)) {
					t.Errorf("the number %d is given out again; %v were in the part that is lost", q.Number, before)
				}
				word := "reject"
				if w.last(a.Turn).State == turn.Unknown {
					word = "leave"
				}
				w.say(q, word)
				w.over(a.Turn)
				w.effectsAre(0)
			})
		})
	}
}

// TestCrashRestoredNumbers: however many questions were asked in the part of a ledger
// that is lost, none of their numbers comes back.
func TestCrashRestoredNumbers(t *testing.T) {
	onDisk(t, nil, func(t *testing.T, w *world) {
		a := w.begin()
		old := w.copied()
		w.work(one(burn), one(shred), one(burn))
		var last api.QuestionRow
		for range 3 {
			last = w.askedAfter(last)
			w.say(last, "reject")
		}
		w.over(a.Turn)
		w.goesBack(old, true)
		for range 3 {
			q := w.askedAfter(last)
			if q.Number <= last.Number {
				t.Errorf("the number %d follows %d", q.Number, last.Number)
			}
			w.say(q, "reject")
			last = q
		}
		w.over(a.Turn)
	})
}

// TestCrashKilledWhileRestoring: a kernel dies while it goes through a ledger that was put
// back. What it had not come to is looked at by the next one: what it has written itself must
// not look as if nothing were lost.
func TestCrashKilledWhileRestoring(t *testing.T) {
	onDisk(t, nil, func(t *testing.T, w *world) {
		held := w.gate()
		w.effects.at("begun", func(ctx context.Context, s *service, c *tool.Call) error {
			if c.Tool != shred {
				return nil
			}
			return held.pass(ctx, s, c)
		})
		w.work(one(shred))
		first := w.begin()
		q := w.accepts()
		w.reaches(first.Turn, turn.Started)
		w.work(one(burn))
		second := w.begin()
		w.say(w.askedAfter(q), "accept")
		w.pass(time.Second)
		old := w.copied()
		w.succeeded(second.Turn) // one start is lost
		w.effectsAre(1)
		w.now.die()
		<-w.now.done

		w.mark()
		store, err := sqlite.Open(t.Context(), sqlite.Options{Path: old.folder, Now: w.clock.now})
		if err != nil {
			t.Fatal(err)
		}
		p := &process{world: w, store: store, home: old, path: store.Path(), done: make(chan struct{})}
		p.ctx, p.cancel = context.WithCancel(t.Context())
		p.afterCommits(func() bool {
			return len(w.query(p.path, `SELECT seq FROM events WHERE template LIKE 'ledger.%'`)) > 0
		})
		policy, err := w.judges()
		if err != nil {
			t.Fatal(err)
		}
		k, err := kernel.New(kernel.Options{
			Store: fuse{p}, Bus: port{bus: w.bus, proc: p}, Policy: policy, Narrator: w.now.narrator, Incarnation: w.count, Project: w.project,
			Clock: kernel.Clock{Now: w.clock.now, SinceBoot: w.clock.elapsed, Boot: w.clock.boot()}, Logger: w.log,
		})
		if err != nil {
			t.Fatal(err)
		}
		if restored, err := k.Recover(p.ctx); !restored || err == nil {
			t.Errorf("it was to notice and to die: %t, %v", restored, err)
		}
		if err := store.Close(); err != nil {
			t.Error(err)
		}

		if again := w.boot(old); !again.restored {
			t.Error("the next start did not go on with it")
		}
		w.pass(time.Minute)
		w.effectsAre(1)
		w.saysUnknown(second.Turn)
		held.open()
		for _, q := range w.questions() {
			w.say(q, "leave")
		}
		w.over(first.Turn)
		w.over(second.Turn)
	})
}

// afterCommits kills the process after the first commit after which the condition holds.
func (p *process) afterCommits(holds func() bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.committed = func() {
		if holds() {
			p.die()
			return
		}
		p.afterCommits(holds)
	}
}

// TestCrashRestoredUnderTheSameEpoch: a ledger that went back unnoticed counts the same epochs
// again, for the same worker. What that worker had sent before is not taken for a word of now,
// although seat, epoch and step are the present ones.
func TestCrashRestoredUnderTheSameEpoch(t *testing.T) {
	onDisk(t, nil, func(t *testing.T, w *world) {
		a := w.begin()
		w.serve(target, standardTools)
		w.pass(0)
		old := w.copied()
		planned := func() *hand {
			h := w.hand()
			if err := h.wants(api.ToolCall{Key: "k", Tool: poller, Args: api.Body{Inline: []byte(`{"name":"x"}`)}}); err != nil {
				t.Fatal(err)
			}
			w.pass(0)
			if got := h.results(); len(got) != 1 {
				t.Fatalf("results: %+v; want one", got)
			}
			return h
		}
		before := planned()
		w.goesBack(old, false)
		now := planned()
		if before.at.Worker != now.at.Worker || before.at.Epoch != now.at.Epoch || before.step != now.step {
			t.Fatalf("held as %+v, after %+v; want the same seat, epoch and step", now.at, before.at)
		}
		for _, late := range []struct {
			op string
			q  any
		}{
			{api.OpRenew, before.at},
			{api.OpResume, before.at},
			{api.OpAgentText, api.AgentTextRequest{WorkerRequest: before.at, Step: before.step + 1, Text: "I am."}},
			{api.OpCall, api.CallRequest{WorkerRequest: before.at, Step: before.step + 1, Calls: []api.ToolCall{
				{Key: "k2", Tool: poller, Args: api.Body{Inline: []byte(`{"name":"y"}`)}},
			}}},
			{api.OpRelease, before.at},
			{api.OpDeliver, api.DeliverRequest{WorkerRequest: before.at, Status: utp.StatusSuccess, Summary: "Done."}},
		} {
			if err := w.as(kernel.AgentCaller, agentName, late.op, late.q, nil); !rpc.Code(err, utp.CodeStale) {
				t.Errorf("%s of before: %v; want stale", late.op, err)
			}
		}
		if err := rpc.Ask(w.ctx, now.conn, api.OpRenew, now.at, nil); err != nil {
			t.Errorf("the present holder: %v", err)
		}
		now.deliver()
		w.succeeded(a.Turn)
	})
}

// TestLedgerTakenOver: a ledger that another one has worked on, who may have gone on since, is gone
// through once like one that went back in time: what was under way is of unknown fate.
func TestLedgerTakenOver(t *testing.T) {
	onDisk(t, nil, func(t *testing.T, w *world) {
		for _, s := range w.services {
			s.conn.cut.Store(true)
		}
		w.work(one(burn))
		a := w.begin()
		q := w.accepts()
		w.reaches(a.Turn, turn.Dispatched)
		w.takenOver = true
		w.restart()
		if !w.now.restored {
			t.Error("nobody has noticed")
		}
		w.saysUnknown(a.Turn)
		w.toldOfRestore(a.Session)
		w.takenOver = false
		w.restart()
		if w.now.restored {
			t.Error("it is gone through at each start")
		}
		w.work(one(burn))
		w.say(w.askedAfter(q), "leave")
		w.over(a.Turn)
		w.effectsAre(0)
	})
}
