package kernel_test

import (
	"testing"
	"time"

	"github.com/earshot-dev/earshot/kernel/turn"
	"github.com/earshot-dev/earshot/utp"
)

// disturbances are what happens to the clocks of a machine, each of which ends a
// consent that waits for its start.
func disturbances() map[string]func(*world) {
	return map[string]func(*world){
		"set forward by an hour": func(w *world) { w.clock.step(time.Hour) },
		"set back by an hour":    func(w *world) { w.clock.step(-time.Hour) },
		"suspended for two days": func(w *world) { w.clock.suspend(48 * time.Hour) },
		"rebooted": func(w *world) {
			w.now.die()
			<-w.now.done
			w.clock.reboot()
			w.restart()
		},
	}
}

// TestCrashClockBeforeDispatch: between the accept and the dispatch the clock is set,
// or the lid closed, or the machine started anew: stale, and asked again.
func TestCrashClockBeforeDispatch(t *testing.T) {
	for name, disturb := range disturbances() {
		t.Run(name, func(t *testing.T) {
			inWorld(t, nil, func(t *testing.T, w *world) {
				first := w.work(one(burn))
				a := w.begin()
				q := w.accepts()
				w.pass(time.Second)
				call := w.reaches(a.Turn, turn.Accepted).ID
				first.kill() // its renewals would have the kernel look at the turn anyway
				disturb(w)
				began := time.Now()
				next := w.staleThenAsked(a.Turn, call, q, "age")
				if took := time.Since(began); took > 90*time.Second {
					t.Errorf("it took %v until the person was asked again", took)
				}
				w.effectsAre(0)
				w.work(one(burn))
				w.say(next, "accept")
				w.succeeded(a.Turn)
				w.effectsAre(1)
			})
		})
	}
}

// TestCrashClockBeforeStart: the same between the dispatch and the start.
func TestCrashClockBeforeStart(t *testing.T) {
	for name, disturb := range disturbances() {
		t.Run(name, func(t *testing.T) {
			inWorld(t, nil, func(t *testing.T, w *world) {
				w.services[0].conn.cut.Store(true)
				first := w.work(one(burn))
				a := w.begin()
				q := w.accepts()
				call := w.reaches(a.Turn, turn.Dispatched).ID
				first.kill()
				disturb(w)
				if name != "set back by an hour" { // there the first minute still counts
					w.services[0].conn.cut.Store(false)
				}
				began := time.Now()
				next := w.staleThenAsked(a.Turn, call, q, "age")
				if took := time.Since(began); took > 90*time.Second {
					t.Errorf("it took %v until the person was asked again", took)
				}
				w.services[0].conn.cut.Store(false)
				w.effectsAre(0)
				w.work(one(burn))
				w.say(next, "accept")
				w.succeeded(a.Turn)
				w.effectsAre(1)
			})
		})
	}
}

// TestCrashClockServiceAsksFirst: the service's start comes before the kernel has
// noticed that time has gone by. The start itself finds the consent too old.
func TestCrashClockServiceAsksFirst(t *testing.T) {
	inWorld(t, nil, func(t *testing.T, w *world) {
		w.bus.fault(func(m message) fate {
			if requestOf(utp.OpStart)(m) && time.Until(w.clock.now()) == 0 {
				w.clock.suspend(48 * time.Hour) // the lid is closed as the request is under way
			}
			return fate{}
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

// TestCrashClockWhileAsked: a question keeps its deadline by the wall clock; whatever
// the clock does, silence is never a yes.
func TestCrashClockWhileAsked(t *testing.T) {
	t.Run("set forward", func(t *testing.T) {
		inWorld(t, nil, func(t *testing.T, w *world) {
			w.work(one(burn))
			a := w.begin()
			w.asked()
			w.clock.step(time.Hour)
			state := w.over(a.Turn)
			if c := state.Calls[0]; c.Outcome.Code != utp.CodeConsentExpired {
				t.Errorf("the call ended as %s %+v", c.State, c.Outcome)
			}
			w.effectsAre(0)
		})
	})
	t.Run("set back", func(t *testing.T) {
		inWorld(t, nil, func(t *testing.T, w *world) {
			w.work(one(burn))
			a := w.begin()
			q := w.asked()
			w.clock.step(-time.Hour)
			w.pass(10 * time.Minute)
			w.say(q, "accept")
			w.succeeded(a.Turn)
			w.effectsAre(1)
		})
	})
	t.Run("rebooted", func(t *testing.T) {
		inWorld(t, nil, func(t *testing.T, w *world) {
			w.work(one(burn))
			a := w.begin()
			q := w.asked()
			disturbances()["rebooted"](w)
			if again := w.asked(); again != q {
				t.Errorf("the question is %+v after the reboot; it was %+v", again, q)
			}
			w.say(q, "accept")
			w.succeeded(a.Turn)
			w.effectsAre(1)
		})
	})
}

// TestCrashClockWhileLapsed: a service that is gone is given up in time, also when the
// wall clock is set back meanwhile.
func TestCrashClockWhileLapsed(t *testing.T) {
	inWorld(t, nil, func(t *testing.T, w *world) {
		w.effects.at("done", dies)
		w.work(one(shred))
		a := w.begin()
		q := w.accepts()
		w.reaches(a.Turn, turn.Lapsed)
		w.clock.step(-time.Hour)
		began := time.Now()
		q = w.askedAfter(q)
		if took := time.Since(began); took > 15*time.Second {
			t.Errorf("it took %v until the person was asked", took)
		}
		w.saysUnknown(a.Turn)
		w.say(q, "leave")
		w.over(a.Turn)
		w.effectsAre(1)
	})
}

// TestCrashClockWhileRunning: a service at work is taken for silent at worst; its
// result counts, and the effect happens once.
func TestCrashClockWhileRunning(t *testing.T) {
	for name, disturb := range disturbances() {
		for _, which := range []string{burn, shred, look} {
			t.Run(name+" "+which, func(t *testing.T) {
				inWorld(t, nil, func(t *testing.T, w *world) {
					working := w.gate()
					w.effects.at("done", working.pass)
					w.work(one(which))
					a := w.begin()
					if which != look {
						w.accepts()
					}
					w.reaches(a.Turn, turn.Started)
					disturb(w)
					w.pass(20 * time.Second)
					working.open()
					w.over(a.Turn)
					if which != look {
						w.effectsAre(1)
					}
				})
			})
		}
	}
}
