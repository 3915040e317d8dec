package kernel_test

import (
	"strings"
	"testing"
	"time"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/kernel"
	"github.com/earshot-dev/earshot/internal/kernel/turn"
	"github.com/earshot-dev/earshot/worker"
)

// shared is a ledger on which several kernels work.
func shared(w *world) { w.poll, w.lasting = time.Second, true }

// TestTwoKernels: two kernels answer in turns on one ledger. What one has begun is claimed,
// asked, ticked, dispatched and ended through the other, whenever the first is killed; nothing
// happens twice.
func TestTwoKernels(t *testing.T) {
	const turns = 4
	steps := [][]worker.Call{one(poller), one(burn), one(poller)}
	for name, killed := range map[string]func(w *world, at turn.CallState) bool{
		"never":    func(*world, turn.CallState) bool { return false },
		"asked":    func(_ *world, at turn.CallState) bool { return at == turn.Asked },
		"accepted": func(_ *world, at turn.CallState) bool { return at == turn.Accepted },
		"started":  func(_ *world, at turn.CallState) bool { return at == turn.Started },
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, shared, func(t *testing.T, w *world) {
				first := w.now
				other := w.join()
				kill := func(at turn.CallState) {
					if killed(w, at) && !first.dead.Load() {
						first.die()
						w.now = other
					}
				}
				var begun []api.EnqueueAnswer
				for range turns {
					begun = append(begun, w.begin())
					w.work(steps...)
				}
				w.until("all are to be asked about", func() bool { return len(w.questions()) == turns })
				kill(turn.Asked)
				for _, q := range w.questions() {
					w.say(q, "accept")
				}
				kill(turn.Accepted)
				work := w.gate()
				w.effects.at("begun", work.pass)
				w.until("all are to be started", func() bool {
					n := 0
					for _, a := range begun {
						if c := w.last(a.Turn); c.State == turn.Started {
							n++
						}
					}
					return n == turns
				})
				kill(turn.Started)
				work.open()
				for _, a := range begun {
					w.succeeded(a.Turn)
				}
				w.effectsAre(turns)
				if text := w.lines.String(); strings.Contains(text, "tick failed") { // that the other was faster is not a failure
					t.Error(text)
				}
			})
		})
	}
}

// TestTakenOver: what a killed kernel alone knew of is found in the ledger by the other: a
// turn that waits for its undo time, a command that could not leave, a turn that nobody has
// claimed, and one whose worker died with it.
func TestTakenOver(t *testing.T) {
	t.Run("the undo time and the command", func(t *testing.T) {
		inWorld(t, shared, func(t *testing.T, w *world) {
			first := w.now
			w.work(one(burn))
			a := w.begin()
			w.accepts()
			other := w.join()
			first.die()
			w.now = other
			began := w.clock.now()
			w.succeeded(a.Turn)
			w.effectsAre(1)
			if took := w.clock.now().Sub(began); took > 13*time.Second {
				t.Errorf("it took %v; want the undo time and a poll", took)
			}
		})
	})
	t.Run("a command that has not left", func(t *testing.T) {
		inWorld(t, shared, func(t *testing.T, w *world) {
			first := w.now
			first.dieWhenReaching("invoked.logged")
			w.work(one(poller))
			a := w.begin()
			w.dies()
			left := w.commandsLeft()
			w.now = w.join()
			w.succeeded(a.Turn)
			w.pass(5 * time.Second)
			if n := w.waiting(); left.Load() == 0 || n != "0" {
				t.Errorf("%d commands left, %s wait", left.Load(), n)
			}
		})
	})
	t.Run("a turn that nobody has claimed", func(t *testing.T) {
		inWorld(t, shared, func(t *testing.T, w *world) {
			first := w.now
			a := w.begin()
			w.settle()
			w.now = w.join()
			first.die()
			w.work(one(poller))
			w.succeeded(a.Turn)
		})
	})
	t.Run("a turn whose worker died with it", func(t *testing.T) {
		inWorld(t, shared, func(t *testing.T, w *world) {
			first := w.now
			a := w.begin()
			if got := w.claims("wrk_dead"); got.Turn != a.Turn {
				t.Fatalf("claimed %+v", got)
			}
			w.now = w.join()
			first.die()
			w.work(one(poller))
			began := w.clock.now()
			w.succeeded(a.Turn)
			if took := w.clock.now().Sub(began); took < 28*time.Second || took > 40*time.Second {
				t.Errorf("it was taken over after %v; want the lease of 30 s", took)
			}
		})
	})
}

// TestOwnAmongOthers: a kernel that keeps to its own neither claims nor ticks nor starts what
// others have begun.
func TestOwnAmongOthers(t *testing.T) {
	inWorld(t, shared, func(t *testing.T, w *world) {
		first := w.now
		a := w.begin()
		w.settle()
		w.own = true
		w.now = w.join()
		first.die()
		if got := w.claims("wrk_1"); got.Turn != "" {
			t.Errorf("claimed another's turn: %+v", got)
		}
		b := w.begin()
		w.settle()
		if got := w.claims("wrk_1"); got.Turn != b.Turn {
			t.Errorf("claimed %+v; want its own turn", got)
		}
		if err := w.now.kernel.Resume(w.ctx, a.Turn); err != nil {
			t.Fatal(err)
		}
		if got := w.claims("wrk_2"); got.Turn != a.Turn {
			t.Errorf("claimed %+v; want the turn that was resumed here", got)
		}
		w.unended = true
	})
}

// TestClaimsAtOnce: many workers that ask two kernels at the same moment get a turn each.
func TestClaimsAtOnce(t *testing.T) {
	inWorld(t, shared, func(t *testing.T, w *world) {
		w.join()
		const turns = 12
		for range turns {
			w.begin()
		}
		got := make(chan string, 2*turns)
		for i := range 2 * turns {
			go func() {
				var a api.ClaimAnswer
				err := w.as(kernel.AgentCaller, agentName, api.OpClaim, api.ClaimRequest{Agent: agentName, Worker: string(rune('a' + i))}, &a)
				if err != nil {
					t.Error(err)
				}
				got <- a.Turn
			}()
		}
		taken := map[string]int{}
		for range 2 * turns {
			taken[<-got]++
		}
		if taken[""] != turns || len(taken) != turns+1 {
			t.Errorf("taken were %v; want %d turns, each once", taken, turns)
		}
		w.unended = true
	})
}

// TestWaitingFreesItsWorker: a turn that waits for a person holds up no other one. Of twenty that
// ask, all have asked soon, although the worker plans only eight at once; and each goes on when it is
// answered.
func TestWaitingFreesItsWorker(t *testing.T) {
	const turns = 20
	inWorld(t, func(w *world) { w.seats, w.keep = 8, 200*time.Millisecond }, func(t *testing.T, w *world) {
		w.work(one(burn))
		began := w.clock.now()
		var begun []api.EnqueueAnswer
		for range turns {
			begun = append(begun, w.begin())
		}
		w.until("all are to be asked about", func() bool { return len(w.questions()) == turns })
		if took := w.clock.now().Sub(began); took > 2*time.Second {
			t.Errorf("it took %v until all had asked", took)
		}
		for _, q := range w.questions() {
			w.say(q, "accept")
		}
		for _, a := range begun {
			w.succeeded(a.Turn)
		}
		w.effectsAre(turns)
	})
}
