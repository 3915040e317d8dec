package kernel_test

import (
	"testing"
	"time"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/kernel"
	"github.com/earshot-dev/earshot/internal/kernel/turn"
	"github.com/earshot-dev/earshot/utp"
)

// claims is a worker that takes a turn up and says no more.
func (w *world) claims(worker string) api.ClaimAnswer {
	w.t.Helper()
	var a api.ClaimAnswer
	err := w.as(kernel.AgentCaller, agentName, api.OpClaim, api.ClaimRequest{Agent: agentName, Worker: worker}, &a)
	if err != nil {
		w.t.Fatal(err)
	}
	return a
}

// TestClaimedInVain: a turn that is taken up again and again and gets no further ends,
// once, and says why.
func TestClaimedInVain(t *testing.T) {
	inWorld(t, nil, func(t *testing.T, w *world) {
		a := w.begin()
		for i := range 10 {
			if got := w.claims("wrk_1"); got.Turn != a.Turn || got.Epoch != i+1 {
				t.Fatalf("claim %d: %+v", i+1, got)
			}
		}
		for range 3 {
			if got := w.claims("wrk_1"); got.Turn != "" {
				t.Errorf("claimed once more: %+v", got)
			}
		}
		state := w.turn(a.Turn)
		if state.Status != turn.Ended || state.End.Status != utp.StatusFailed || state.End.Code != utp.CodeResumeRetryExhausted {
			t.Errorf("the turn is %s, %+v; want ended, failed, resume_retry_exhausted", state.Status, state.End)
		}
	})
}

// TestClaimedWhileWaiting: a turn that waits for a person needs no worker and is not given
// up, however often its kernel and the workers are started again meanwhile. Anyone who is there
// when it goes on takes it up.
func TestClaimedWhileWaiting(t *testing.T) {
	inWorld(t, func(w *world) { w.sole = true }, func(t *testing.T, w *world) {
		present := w.work(one(burn))
		a := w.begin()
		q := w.asked()
		for range 15 {
			present.kill()
			w.restart()
			present = w.work(one(burn))
			w.pass(2 * time.Second)
			if got := w.claims("wrk_hand"); got.Turn != "" {
				t.Fatalf("claimed while it waits: %+v", got)
			}
		}
		if state := w.turn(a.Turn); state.Epoch != 1 || state.Status != turn.Suspended {
			t.Fatalf("the turn is %s under epoch %d; want it to wait under the first", state.Status, state.Epoch)
		}
		w.serve(target, standardTools)
		w.say(q, "accept")
		w.succeeded(a.Turn)
		w.effectsAre(1)
	})
}

// TestClaimedAfterClockBack: a wall clock that was set back does not keep the turn of a dead
// worker from others: its lease is over by the other clock, also for a kernel that is started
// again meanwhile.
func TestClaimedAfterClockBack(t *testing.T) {
	for name, anew := range map[string]bool{"the same kernel": false, "a kernel started again": true} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, nil, func(t *testing.T, w *world) {
				a := w.begin()
				if got := w.claims("wrk_dead"); got.Turn != a.Turn {
					t.Fatalf("claimed %+v", got)
				}
				w.clock.step(-time.Hour)
				if anew {
					w.restart()
				}
				if got := w.claims("wrk_other"); got.Turn != "" {
					t.Errorf("claimed while its worker may be alive: %+v", got)
				}
				w.pass(31 * time.Second)
				if got := w.claims("wrk_other"); got.Turn != a.Turn {
					t.Errorf("claimed %+v half a minute later; want the turn", got)
				}
				w.unended = true
			})
		})
	}
}
