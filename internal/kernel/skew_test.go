package kernel_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/earshot-dev/earshot/internal/kernel/turn"
	"github.com/earshot-dev/earshot/tool"
	"github.com/earshot-dev/earshot/utp"
	"github.com/earshot-dev/earshot/worker"
)

// apart puts the services on a machine of their own, whose time of day is the bubble's. By so much
// it is ahead of the kernel's.
func apart(ahead time.Duration) func(*world) {
	return func(w *world) {
		w.away = &clock{began: time.Now(), mono: 48 * time.Hour}
		w.clock.step(-ahead)
	}
}

// TestServiceOfAnotherTime: what time of day a service has, or a kernel, does not matter to a
// consent: the call runs once, and the person is asked once (call protocol, step E).
func TestServiceOfAnotherTime(t *testing.T) {
	t.Attr("counts", "effects, questions")
	for name, ahead := range map[string]time.Duration{"5 minutes ahead": 5 * time.Minute, "5 minutes behind": -5 * time.Minute, "a day ahead": 24 * time.Hour} {
		for _, which := range []string{burn, put} {
			t.Run(name+", "+which, func(t *testing.T) {
				inWorld(t, apart(ahead), func(t *testing.T, w *world) {
					w.work(one(which))
					a := w.begin()
					w.accepts()
					state := w.succeeded(a.Turn)
					if len(state.Calls) != 1 {
						t.Errorf("it took %d calls; want one", len(state.Calls))
					}
					w.effectsAre(1)
				})
			})
		}
	}
}

// TestServiceSlept: a service whose machine sleeps between the grant and the effect does nothing,
// although none of its process's own clocks has moved; the person is asked once more, and told why.
func TestServiceSlept(t *testing.T) {
	t.Attr("counts", "effects, questions")
	inWorld(t, apart(0), func(t *testing.T, w *world) {
		var once sync.Once
		w.effects.at("begun", func(context.Context, *service, *tool.Call) error {
			once.Do(func() { w.away.suspend(time.Minute) })
			return nil
		})
		w.work(one(burn))
		a := w.begin()
		q := w.accepts()
		call := w.last(a.Turn).ID
		next := w.staleThenAsked(a.Turn, call, q, "age")
		w.effectsAre(0)
		w.say(next, "accept")
		w.succeeded(a.Turn)
		w.effectsAre(1)
	})
}

// TestStaleForEver: a call whose every start comes to nothing is asked about five times, and then
// fails with a reason that the agent gets; nothing was done, and nobody is asked again.
func TestStaleForEver(t *testing.T) {
	t.Attr("counts", "effects, questions")
	inWorld(t, apart(0), func(t *testing.T, w *world) {
		w.effects.at("begun", func(context.Context, *service, *tool.Call) error {
			w.away.suspend(time.Minute)
			return nil
		})
		plan := &planner{steps: [][]worker.Call{one(burn)}}
		w.workAs(func() worker.Planner { return plan })
		a := w.begin()
		q := w.accepts()
		for range turn.MaxStale - 1 {
			q = w.askedAfter(q)
			w.say(q, "accept")
		}
		state := w.over(a.Turn)
		c := state.Calls[len(state.Calls)-1]
		if len(state.Calls) != turn.MaxStale || c.Outcome.Code != utp.CodeConsentRetryExhausted || c.Outcome.Status != utp.StatusFailed {
			t.Errorf("%d calls, the last ended as %+v", len(state.Calls), c.Outcome)
		}
		if got := plan.seen; len(got) != 1 || got[0].Code != utp.CodeConsentRetryExhausted || got[0].Status != utp.StatusFailed {
			t.Errorf("the agent got %+v", got)
		}
		w.effectsAre(0)
	})
}
