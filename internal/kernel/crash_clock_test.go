package kernel_test

import (
	"testing"
	"time"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/kernel/store"
	"github.com/earshot-dev/earshot/internal/kernel/turn"
	"github.com/earshot-dev/earshot/internal/testkit"
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
// or the lid closed, or the machine started again: stale, and asked again.
func TestCrashClockBeforeDispatch(t *testing.T) {
	for name, disturb := range disturbances() {
		t.Run(name, func(t *testing.T) {
			onDisk(t, nil, func(t *testing.T, w *world) {
				first := w.work(one(burn))
				a := w.begin()
				q := w.accepts()
				w.pass(time.Second)
				call := w.reaches(a.Turn, turn.Accepted).ID
				first.kill() // its renewals would have the kernel look at the turn anyway
				disturb(w)
				began := time.Now()
				reason := turn.StaleAge
				if name == "rebooted" {
					reason = turn.StaleRestarted
				}
				next := w.staleThenAsked(a.Turn, call, q, reason)
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
			onDisk(t, nil, func(t *testing.T, w *world) {
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
	onDisk(t, nil, func(t *testing.T, w *world) {
		w.bus.fault(func(m message) sendResult {
			if requestOf(api.OpStart)(m) && time.Until(w.clock.now()) == 0 {
				w.clock.suspend(48 * time.Hour) // the lid is closed as the request is under way
			}
			return sendResult{}
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

// TestCrashClockWhileAsked: a question keeps its deadline by both clocks, the stricter one,
// and after a reboot by the wall clock; whatever the clocks do, silence is never a yes.
func TestCrashClockWhileAsked(t *testing.T) {
	t.Run("set forward", func(t *testing.T) {
		onDisk(t, nil, func(t *testing.T, w *world) {
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
		onDisk(t, nil, func(t *testing.T, w *world) {
			w.work(one(burn))
			a := w.begin()
			q := w.asked()
			w.clock.step(-time.Hour)
			w.pass(4 * time.Minute)
			w.say(q, "accept")
			w.succeeded(a.Turn)
			w.effectsAre(1)
		})
	})
	t.Run("set back, no more time", func(t *testing.T) {
		onDisk(t, nil, func(t *testing.T, w *world) {
			w.work(one(burn))
			a := w.begin()
			q := w.asked()
			w.clock.step(-time.Hour)
			w.pass(5 * time.Minute)
			_, err := w.reply(q, "accept")
			wantFault(t, err, utp.CodeDone)
			if state := w.over(a.Turn); state.Calls[0].Outcome.Code != utp.CodeConsentExpired {
				t.Errorf("the call ended as %+v", state.Calls[0].Outcome)
			}
			w.effectsAre(0)
		})
	})
	t.Run("set back, then extended", func(t *testing.T) {
		onDisk(t, nil, func(t *testing.T, w *world) {
			w.work(one(burn))
			a := w.begin()
			q := w.asked()
			w.clock.step(-time.Hour)
			w.pass(4 * time.Minute)
			if _, err := w.hub.Extend(w.ctx, api.ReplyRequest{Token: q.Token, By: person, Surface: "terminal"}); err != nil {
				t.Fatal(err)
			}
			w.pass(4 * time.Minute)
			w.say(w.asked(), "accept")
			w.succeeded(a.Turn)
			w.effectsAre(1)
		})
	})
	t.Run("rebooted", func(t *testing.T) {
		onDisk(t, nil, func(t *testing.T, w *world) {
			w.work(one(burn))
			a := w.begin()
			q := w.asked()
			disturbances()["rebooted"](w)
			if again := w.asked(); again.Token != q.Token {
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
	onDisk(t, nil, func(t *testing.T, w *world) {
		w.effects.at("done", dies)
		w.work(one(shred))
		a := w.begin()
		q := w.accepts()
		w.reaches(a.Turn, turn.LeaseExpired)
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
	testkit.Slow(t)
	for name, disturb := range disturbances() {
		for _, which := range []string{burn, shred, poller} {
			t.Run(name+" "+which, func(t *testing.T) {
				onDisk(t, nil, func(t *testing.T, w *world) {
					working := w.gate()
					w.effects.at("done", working.pass)
					w.work(one(which))
					a := w.begin()
					if which != poller {
						w.accepts()
					}
					w.reaches(a.Turn, turn.Started)
					disturb(w)
					w.pass(20 * time.Second)
					working.open()
					w.over(a.Turn)
					if which != poller {
						w.effectsAre(1)
					}
				})
			})
		}
	}
}

// TestCrashClockSetForwardAndBack: a clock that was wrong by an hour for a while, and was set
// right, holds up nothing of what was written meanwhile: a service that is gone is given up in
// its time, and so is a worker.
func TestCrashClockSetForwardAndBack(t *testing.T) {
	for name, after := range map[string]func(*world){
		"the same kernel":             func(*world) {},
		"the kernel is started again": func(w *world) { w.restart() },
		"another, which resumes none": func(w *world) { first := w.now; w.now = w.join(); first.die() },
	} {
		t.Run(name, func(t *testing.T) {
			onDisk(t, shared, func(t *testing.T, w *world) {
				w.effects.at("done", dies)
				mine := w.work(one(shred))
				w.clock.step(time.Hour)
				a := w.begin()
				q := w.accepts()
				w.reaches(a.Turn, turn.Started)
				mine.kill() // its renewals would have the kernel look at the turn anyway
				held := w.begin()
				if got := w.claims("wrk_dead"); got.Turn != held.Turn {
					t.Fatalf("claimed %+v", got)
				}
				w.settle()
				w.clock.step(-time.Hour)
				after(w)
				began := time.Now()
				q = w.askedAfter(q)
				if took := time.Since(began); took > 45*time.Second {
					t.Errorf("it took %v until the person was asked; want the lease, and the time for the service to tell", took)
				}
				w.saysUnknown(a.Turn)
				if got := w.claims("wrk_other"); got.Turn != held.Turn {
					t.Errorf("claimed %+v; want the turn whose worker is gone", got)
				}
				w.say(q, "leave")
				w.effectsAre(1)
				w.unended = true
			})
		})
	}
}

// TestLeadKeptByTwo: two kernels that save at the same time, neither of which sees the other's
// count, keep how far the clock was ahead once and not twice: else everything would look due.
func TestLeadKeptByTwo(t *testing.T) {
	onDisk(t, nil, func(t *testing.T, w *world) {
		first, other := w.now, w.join()
		for _, p := range []*process{first, other} {
			p.blind.Store(true)
		}
		w.clock.step(time.Hour)
		for range 4 { // they answer in turns
			w.begin()
		}
		want := w.clock.now().Sub(turn.Epoch) - w.clock.elapsed()
		var kept int64
		err := w.now.store.View(t.Context(), func(tx store.Tx) (err error) {
			kept, err = tx.Count("lead "+w.clock.boot(), 0)
			return err
		})
		if off := time.Duration(kept)*time.Millisecond - want; err != nil || off.Abs() > time.Second {
			t.Errorf("kept: %v more than the clock is ahead, %v", off, err)
		}
		w.unended = true
	})
}
