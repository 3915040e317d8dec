package kernel_test

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/kernel/rulebook"
	"github.com/earshot-dev/earshot/internal/kernel/turn"
	"github.com/earshot-dev/earshot/internal/testkit"
	"github.com/earshot-dev/earshot/tool"
	"github.com/earshot-dev/earshot/utp"
	"github.com/earshot-dev/earshot/worker"
)

// TestCrashServiceBeforeStart: the service dies before its start is committed. Any
// replica may start.
func TestCrashServiceBeforeStart(t *testing.T) {
	t.Run("before it asked", func(t *testing.T) {
		onDisk(t, nil, func(t *testing.T, w *world) {
			w.services[0].kill()
			w.work(one(burn))
			a := w.begin()
			w.accepts()
			w.reaches(a.Turn, turn.Dispatched)
			w.pass(2 * time.Second)
			w.effectsAre(0)
			w.serve(target, standardTools)
			w.succeeded(a.Turn)
			w.effectsAre(1)
		})
	})
	t.Run("its request was lost", func(t *testing.T) {
		onDisk(t, nil, func(t *testing.T, w *world) {
			w.bus.fault(func(m message) sendResult {
				lost := requestOf(api.OpStart)(m) && !w.services[0].conn.dead.Load()
				if lost {
					w.services[0].kill()
				}
				return sendResult{drop: lost}
			})
			w.work(one(burn))
			a := w.begin()
			w.accepts()
			w.reaches(a.Turn, turn.Dispatched)
			w.pass(time.Second)
			w.serve(target, standardTools)
			w.succeeded(a.Turn)
			w.effectsAre(1)
		})
	})
}

// TestCrashStartAnswerLost: the start is committed and its answer lost. The same owner
// asks again and gets it.
func TestCrashStartAnswerLost(t *testing.T) {
	for _, name := range []string{burn, poller} {
		t.Run(name, func(t *testing.T) {
			onDisk(t, nil, func(t *testing.T, w *world) {
				w.bus.lose(2, answerTo(api.OpStart))
				w.work(one(name))
				a := w.begin()
				if name == burn {
					w.accepts()
				}
				w.succeeded(a.Turn)
				if n := w.cell(`SELECT group_concat(fence) FROM grants`); n != "1" {
					t.Errorf("granted under the fences %s; want one grant", n)
				}
			})
		})
	}
}

// TestCrashStartAnswerLostForGood: the service dies before its answer comes. What may
// be repeated starts again under the next fence, all else is unknown.
func TestCrashStartAnswerLostForGood(t *testing.T) {
	for _, name := range []string{poller, put, paint, burn} {
		t.Run(name, func(t *testing.T) {
			onDisk(t, nil, func(t *testing.T, w *world) {
				w.bus.fault(func(m message) sendResult {
					lost := answerTo(api.OpStart)(m) && !w.services[0].conn.dead.Load()
					if lost {
						w.services[0].kill()
					}
					return sendResult{drop: lost}
				})
				w.work(one(name))
				a := w.begin()
				q := api.QuestionRow{}
				if name != poller {
					q = w.accepts()
				}
				w.reaches(a.Turn, turn.Started)
				w.serve(target, standardTools)
				if name == poller || name == put {
					w.succeeded(a.Turn)
					if n := w.cell(`SELECT group_concat(fence) FROM grants ORDER BY fence`); n != "1,2" {
						t.Errorf("granted under the fences %s; want 1,2", n)
					}
					return
				}
				q = w.askedAfter(q)
				w.saysUnknown(a.Turn)
				w.say(q, "leave")
				w.over(a.Turn)
				w.effectsAre(0)
			})
		})
	}
}

// saysUnknown checks that the latest call is unknown, on the wire too.
func (w *world) saysUnknown(turnID string) {
	w.t.Helper()
	c := w.last(turnID)
	if c.State != turn.Unknown || c.Outcome.Status != utp.StatusFailed || c.Outcome.Code != utp.CodeOutcomeUnknown {
		w.t.Errorf("the call is %s %+v; want unknown, failed, outcome_unknown", c.State, c.Outcome)
	}
}

// TestCrashServiceWhileRunning: the service dies after its start, before or after the
// effect. Nobody can tell, and the person is asked.
func TestCrashServiceWhileRunning(t *testing.T) {
	testkit.Slow(t)
	for _, point := range []string{"begun", "done"} {
		for _, answer := range []string{"leave", "nobody", "ask again"} {
			t.Run(point+" "+answer, func(t *testing.T) {
				onDisk(t, nil, func(t *testing.T, w *world) {
					w.effects.at(point, Once(dies))
					w.work(one(burn))
					a := w.begin()
					q := w.accepts()
					w.reaches(a.Turn, turn.Started)
					w.serve(target, standardTools) // it has no idea
					q = w.askedAfter(q)
					w.saysUnknown(a.Turn)
					effects := map[string]int{"begun": 0, "done": 1}[point]
					switch answer {
					case "leave":
						w.say(q, answer)
					case "ask again":
						w.say(q, answer)
						q = w.askedAfter(q) // the old owner may be alive
						w.say(q, answer)
						q = w.askedAfter(q)
						if c := w.last(a.Turn); c.State != turn.Asked || c.Replaces == "" || c.Question != q.Number {
							t.Errorf("the new call is %+v", c)
						}
						w.say(q, "accept")
						effects++
					}
					w.over(a.Turn)
					w.effectsAre(effects)
				})
			})
		}
	}
}

// Once runs a hook the first time only.
func Once(hook func(context.Context, *service, *tool.Call) error) func(context.Context, *service, *tool.Call) error {
	var ran atomic.Bool
	return func(ctx context.Context, s *service, c *tool.Call) error {
		if ran.Swap(true) {
			return nil
		}
		return hook(ctx, s, c)
	}
}

// TestCrashReconciled: the service dies after its start, and a replica can tell what
// happened.
func TestCrashReconciled(t *testing.T) {
	t.Run("done", func(t *testing.T) {
		onDisk(t, nil, func(t *testing.T, w *world) {
			w.effects.at("done", dies)
			w.work(one(shred))
			a := w.begin()
			w.accepts()
			w.reaches(a.Turn, turn.Started)
			w.serve(target, standardTools)
			state := w.succeeded(a.Turn)
			w.effectsAre(1)
			if state.Calls[0].Fence != 1 {
				t.Errorf("the call has the fence %d", state.Calls[0].Fence)
			}
			if content := w.cell(`SELECT content FROM cards WHERE type = 'tool.result'`); !strings.Contains(content, `"found":true`) {
				t.Errorf("the result is %s; want what was found", content)
			}
		})
	})
	t.Run("not begun, says a replica", func(t *testing.T) {
		onDisk(t, nil, func(t *testing.T, w *world) {
			w.effects.at("begun", Once(dies))
			w.work(one(shred))
			a := w.begin()
			q := w.accepts()
			w.reaches(a.Turn, turn.Started)
			w.serve(target, standardTools)
			q = w.askedAfter(q) // the owner may only be paused
			w.saysUnknown(a.Turn)
			w.say(q, "leave")
			w.over(a.Turn)
			w.effectsAre(0)
		})
	})
	t.Run("not begun and fresh", func(t *testing.T) {
		onDisk(t, lasting(func(w *world) { w.sole = true }), func(t *testing.T, w *world) {
			w.effects.at("begun", Once(dies))
			first := w.work(one(shred))
			a := w.begin()
			w.accepts()
			w.reaches(a.Turn, turn.Started)
			first.kill()
			w.restart()
			w.serve(target, standardTools)
			w.work(one(shred))
			state := w.succeeded(a.Turn)
			w.effectsAre(1)
			if state.Calls[0].Fence != 2 || w.cell(`SELECT count(*) FROM questions`) != "1" {
				t.Errorf("the call ended as %+v", state.Calls[0])
			}
		})
	})
	t.Run("not begun and stale", func(t *testing.T) {
		onDisk(t, func(w *world) {
			w.sole = true
			w.rules = []rulebook.Rule{{Tool: shred, Decide: turn.Ask, StartWithin: 20 * time.Second}}
		}, func(t *testing.T, w *world) {
			w.effects.at("begun", Once(dies))
			first := w.work(one(shred))
			a := w.begin()
			q := w.accepts()
			call := w.reaches(a.Turn, turn.Started).ID
			first.kill()
			w.now.die()
			w.pass(20 * time.Second)
			w.restart()
			w.serve(target, standardTools)
			w.work(one(shred))
			next := w.staleThenAsked(a.Turn, call, q, "age")
			w.say(next, "accept")
			w.succeeded(a.Turn)
			w.effectsAre(1)
		})
	})
	t.Run("unknown", func(t *testing.T) {
		onDisk(t, nil, func(t *testing.T, w *world) {
			w.effects.at("done", dies)
			w.effects.at("reconciled", func(context.Context, *service, *tool.Call) error { return errDead })
			w.work(one(shred))
			a := w.begin()
			q := w.accepts()
			w.reaches(a.Turn, turn.Started)
			w.serve(target, standardTools)
			q = w.askedAfter(q)
			w.saysUnknown(a.Turn)
			w.say(q, "leave")
			w.over(a.Turn)
			w.effectsAre(1)
		})
	})
	t.Run("nobody there to tell", func(t *testing.T) {
		onDisk(t, nil, func(t *testing.T, w *world) {
			w.effects.at("done", dies)
			w.work(one(shred))
			a := w.begin()
			q := w.accepts()
			q = w.askedAfter(q)
			w.saysUnknown(a.Turn)
			w.say(q, "leave")
			w.over(a.Turn)
			w.effectsAre(1)
		})
	})
}

// away takes the service off the bus once it has had its effect, and waits for the
// test to bring it back.
func away(w *world, name string) (back func()) {
	held := w.gate()
	w.effects.at("done", Once(func(ctx context.Context, s *service, c *tool.Call) error {
		s.conn.cut.Store(true)
		return held.pass(ctx, s, c)
	}))
	w.work(one(name))
	return func() {
		w.services[0].conn.cut.Store(false)
		held.open()
	}
}

// TestCrashLateFinish: a partitioned service comes back with its result while the
// person is being asked. The result wins.
func TestCrashLateFinish(t *testing.T) {
	for _, name := range []string{burn, shred} {
		t.Run(name, func(t *testing.T) {
			onDisk(t, nil, func(t *testing.T, w *world) {
				back := away(w, name)
				a := w.begin()
				q := w.askedAfter(w.accepts())
				w.saysUnknown(a.Turn)
				back()
				state := w.succeeded(a.Turn)
				w.effectsAre(1)
				if c := state.Calls[0]; c.State != turn.Finished || c.Outcome.Status != utp.StatusSuccess {
					t.Errorf("the call ended as %s %+v", c.State, c.Outcome)
				}
				if s := w.cell(`SELECT state FROM questions WHERE number = ?`, q.Number); s != "withdrawn" {
					t.Errorf("the question about the fate is %s; want withdrawn", s)
				}
				if _, err := w.reply(q, "ask again"); err == nil {
					t.Error("the withdrawn question took an answer")
				}
			})
		})
	}
}

// TestCrashLateResult: it comes back after the person has taken note. The result is
// kept, whole, and announced as critical, once; the answer to its finish may be lost.
func TestCrashLateResult(t *testing.T) {
	onDisk(t, nil, func(t *testing.T, w *world) {
		held := w.gate()
		w.effects.at("done", Once(func(ctx context.Context, s *service, c *tool.Call) error {
			s.conn.cut.Store(true)
			return held.pass(ctx, s, c)
		}))
		w.work(one(burn), one(shred))
		a := w.begin()
		q := w.askedAfter(w.accepts())
		first := w.last(a.Turn).ID
		w.say(q, "leave")
		q = w.askedAfter(q) // of the second step
		w.bus.lose(2, answerTo(api.OpFinish))
		w.services[0].conn.cut.Store(false)
		held.open()
		w.pass(30 * time.Second)
		late := w.query(w.now.path, `SELECT call_id, status, card FROM late_results`)
		if len(late) != 1 || late[0][0] != first || late[0][1] != "success" {
			t.Fatalf("late results: %v; want one, of %s", late, first)
		}
		if content := w.cell(`SELECT content FROM cards WHERE card_id = ?`, late[0][2]); !strings.Contains(content, `"did":"burn"`) {
			t.Errorf("what was kept of the late result: %s", content)
		}
		if n := w.cell(`SELECT count(*) FROM cards WHERE type = 'tool.late_result'`); n != "1" {
			t.Errorf("%s cards of late results; want one", n)
		}
		told := w.query(w.now.path, `SELECT json_extract(body, '$.urgency') FROM events WHERE body LIKE '%late_result%'`)
		if len(told) != 1 || told[0][0] != "critical" {
			t.Errorf("the late result was told as %v; want once, critical", told)
		}
		w.say(q, "reject")
		w.over(a.Turn)
		w.effectsAre(1)
	})
}

// TestCrashLateResultAfterTheEnd: even later. It is kept, and the session stays ended.
func TestCrashLateResultAfterTheEnd(t *testing.T) {
	onDisk(t, nil, func(t *testing.T, w *world) {
		back := away(w, burn)
		a := w.begin()
		q := w.askedAfter(w.accepts())
		w.say(q, "leave")
		w.over(a.Turn)
		w.bus.lose(1, answerTo(api.OpFinish))
		back()
		w.pass(30 * time.Second)
		if n := w.cell(`SELECT count(*) FROM late_results`); n != "1" {
			t.Errorf("%s late results are kept; want one", n)
		}
		w.effectsAre(1)
	})
}

// TestCrashUnknownInAnEarlierStep: a call whose fate stayed unknown does not keep the
// turn from going on to further steps.
func TestCrashUnknownInAnEarlierStep(t *testing.T) {
	onDisk(t, nil, func(t *testing.T, w *world) {
		w.effects.at("done", Once(dies))
		w.work(one(burn), one(poller), one(poller))
		a := w.begin()
		q := w.askedAfter(w.accepts())
		w.serve(target, standardTools)
		w.say(q, "leave")
		w.succeeded(a.Turn)
		if n := w.cell(`SELECT count(*) FROM results`); n != "3" {
			t.Errorf("%s results in the transcript; want three", n)
		}
	})
}

// TestCrashPausedService: a service sleeps between its start and the effect, and wakes
// when the consent is too old. It sees that itself.
func TestCrashPausedService(t *testing.T) {
	onDisk(t, nil, func(t *testing.T, w *world) {
		asleep := w.gate()
		w.effects.at("begun", Once(func(ctx context.Context, s *service, c *tool.Call) error {
			s.conn.cut.Store(true)
			defer s.conn.cut.Store(false)
			return asleep.pass(ctx, s, c)
		}))
		w.work(one(burn))
		a := w.begin()
		q := w.askedAfter(w.accepts())
		w.saysUnknown(a.Turn)
		w.pass(40 * time.Second)
		asleep.open()
		state := w.over(a.Turn)
		w.effectsAre(0)
		if c := state.Calls[0]; c.Outcome.Code != utp.CodeConsentStale {
			t.Errorf("the call ended as %s %+v; want its own word, consent_stale", c.State, c.Outcome)
		}
		if _, err := w.reply(q, "ask again"); err == nil {
			t.Error("the withdrawn question took an answer")
		}
	})
}

// TestCrashBeatsLost: neither a lost beat nor a lost answer costs the lease.
func TestCrashBeatsLost(t *testing.T) {
	for _, kind := range []string{isRequest, isAnswer} {
		t.Run(kind, func(t *testing.T) {
			onDisk(t, nil, func(t *testing.T, w *world) {
				n := 0
				w.bus.fault(func(m message) sendResult {
					if m.kind != kind || m.op != api.OpHeartbeat {
						return sendResult{}
					}
					n++
					return sendResult{drop: n%2 != 0}
				})
				busy := w.gate()
				w.effects.at("done", busy.pass)
				w.work(one(burn))
				a := w.begin()
				q := w.accepts()
				w.reaches(a.Turn, turn.Started)
				w.pass(5 * time.Minute)
				if rows := w.questions(); len(rows) != 0 {
					t.Errorf("the call's fate was asked about: %v after %v", rows, q)
				}
				busy.open()
				w.succeeded(a.Turn)
				w.effectsAre(1)
			})
		})
	}
}

// TestCrashPausedServiceInTime: it wakes while its call is still its own.
func TestCrashPausedServiceInTime(t *testing.T) {
	onDisk(t, nil, func(t *testing.T, w *world) {
		asleep := w.gate()
		w.effects.at("begun", asleep.pass)
		w.work(one(burn))
		a := w.begin()
		w.accepts()
		w.reaches(a.Turn, turn.Started)
		w.services[0].conn.cut.Store(true)
		w.pass(25 * time.Second)
		w.services[0].conn.cut.Store(false)
		asleep.open()
		w.succeeded(a.Turn)
		w.effectsAre(1)
	})
}

// TestCrashLapsedAndBack: a service that was away comes back between the lapse and the
// verdict. A beat makes the call its own again.
func TestCrashLapsedAndBack(t *testing.T) {
	onDisk(t, nil, func(t *testing.T, w *world) {
		back, busy := w.gate(), w.gate()
		w.effects.at("done", func(ctx context.Context, s *service, c *tool.Call) error {
			if err := back.pass(ctx, s, c); err != nil {
				return err
			}
			c.Progress(0.5)
			return busy.pass(ctx, s, c)
		})
		w.work(one(shred))
		a := w.begin()
		w.accepts()
		w.reaches(a.Turn, turn.Started)
		w.services[0].conn.cut.Store(true)
		w.reaches(a.Turn, turn.LeaseExpired)
		w.pass(6 * time.Second) // the beat that is under way comes to nothing
		w.services[0].conn.cut.Store(false)
		back.open()
		w.reaches(a.Turn, turn.Started)
		w.pass(time.Minute)
		busy.open()
		w.succeeded(a.Turn)
		w.effectsAre(1)
	})
}

// TestCrashWorker: a worker dies in the middle of a turn. The next one is fed the
// transcript and goes on; no call is repeated.
func TestCrashWorker(t *testing.T) {
	steps := [][]worker.Call{one(put), one(burn), one(paint)}
	for i, at := range []turn.CallState{turn.Asked, turn.Accepted, turn.Started, turn.Finished} {
		t.Run(fmt.Sprintf("%d %s", i, at), func(t *testing.T) {
			onDisk(t, func(w *world) {
				w.rules = []rulebook.Rule{{Tool: put, Decide: turn.Allow}, {Tool: paint, Decide: turn.Allow}}
			}, func(t *testing.T, w *world) {
				working := w.gate()
				w.effects.at("done", func(ctx context.Context, s *service, c *tool.Call) error {
					if c.Tool != burn {
						return nil
					}
					return working.pass(ctx, s, c)
				})
				first := w.work(steps...)
				a := w.begin()
				q := w.asked()
				if at != turn.Asked {
					w.say(q, "accept")
				}
				if at == turn.Finished {
					w.reaches(a.Turn, turn.Started)
					first.kill()
					working.open()
				}
				w.reaches(a.Turn, at)
				first.kill()
				w.pass(time.Second)
				w.work(steps...)
				if at == turn.Asked {
					w.pass(time.Minute)
					w.say(q, "accept")
				}
				if at != turn.Finished {
					w.reaches(a.Turn, turn.Started)
					working.open()
				}
				w.succeeded(a.Turn)
				w.effectsAre(3)
				if n := w.cell(`SELECT group_concat(tool) FROM (SELECT tool FROM results ORDER BY n)`); n != "put,burn,paint" {
					t.Errorf("the transcript is %s", n)
				}
				if n := w.cell(`SELECT count(*) FROM calls`); n != "3" {
					t.Errorf("%s calls were made; want three", n)
				}
			})
		})
	}
}
