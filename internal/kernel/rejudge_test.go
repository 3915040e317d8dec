package kernel_test

import (
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/earshot-dev/earshot/internal/kernel"
	"github.com/earshot-dev/earshot/internal/kernel/rulebook"
	"github.com/earshot-dev/earshot/internal/kernel/store"
	"github.com/earshot-dev/earshot/internal/kernel/turn"
	"github.com/earshot-dev/earshot/utp"
)

// lawbook is a policy that changes while a kernel works by it.
type lawbook struct {
	t     *testing.T
	rules atomic.Pointer[rulebook.Rules]
}

func (l *lawbook) Decide(agent string, t store.Tool) rulebook.Ruling {
	return l.rules.Load().Decide(agent, t)
}

func (l *lawbook) now(rules ...rulebook.Rule) {
	l.t.Helper()
	r, err := rulebook.NewRules(rules)
	if err != nil {
		l.t.Fatal(err)
	}
	l.rules.Store(r)
}

// inPlace runs a test in a world whose rules change.
func inPlace(t *testing.T, play func(*testing.T, *world, *lawbook), rules ...rulebook.Rule) {
	t.Helper()
	laws := &lawbook{t: t}
	laws.now(rules...)
	inWorld(t, func(w *world) { w.policy = laws }, func(t *testing.T, w *world) { play(t, w, laws) })
}

func ofTool(name string, d turn.Decision) rulebook.Rule { return rulebook.Rule{Tool: name, Decide: d} }

// forbidden waits until the latest call of a turn has ended because the rules forbid it, and
// demands that nothing was done, that nobody is asked, and that it is told.
func (w *world) forbidden(id, words string) {
	w.t.Helper()
	call := w.reaches(id, turn.Closed)
	if call.Outcome.Code != utp.CodeDeniedByPolicy || call.ReplacedBy != "" {
		w.t.Errorf("the call ended as %+v, and %q stands for it", call.Outcome, call.ReplacedBy)
	}
	if open := w.questions(); len(open) > 0 {
		w.t.Errorf("still asked: %+v", open)
	}
	w.over(id)
	w.effectsAre(0)
	if !strings.Contains(w.tale(), words) {
		w.t.Errorf("nobody is told that %s:\n%s", words, w.tale())
	}
}

// TestDenyAfterTheYes: what the rules forbid right after the yes does not leave, whether
// anybody watches them or not.
func TestDenyAfterTheYes(t *testing.T) {
	inPlace(t, func(t *testing.T, w *world, laws *lawbook) {
		w.work(one(burn))
		a := w.begin()
		w.accepts()
		laws.now(ofTool(burn, turn.Deny))
		w.forbidden(a.Turn, "Your yes to question 1 does not count.")
	})
}

// TestDenyBeforeTheStart: nor does it start when it has left.
func TestDenyBeforeTheStart(t *testing.T) {
	for _, name := range []string{burn, poller} {
		t.Run(name, func(t *testing.T) {
			inPlace(t, func(t *testing.T, w *world, laws *lawbook) {
				w.services[0].conn.cut.Store(true)
				w.work(one(name))
				a := w.begin()
				if name == burn {
					w.accepts()
				}
				w.reaches(a.Turn, turn.Dispatched)
				laws.now(ofTool(name, turn.Deny))
				w.services[0].conn.cut.Store(false)
				w.forbidden(a.Turn, "did not start: the policy has changed")
			})
		})
	}
}

// TestRejudge: where the rules are watched, what they forbid ends at once, asked, agreed to or
// sent, and its question is withdrawn. What runs goes on.
func TestRejudge(t *testing.T) {
	for _, tt := range []struct {
		name  string
		until func(w *world, id string)
		words string
	}{
		{"asked", func(w *world, _ string) { w.asked() }, "Question 1 is withdrawn."},
		{"accepted", func(w *world, id string) {
			w.accepts()
			w.reaches(id, turn.Accepted)
		}, "Your yes to question 1 does not count."},
		{"dispatched", func(w *world, id string) {
			w.services[0].conn.cut.Store(true)
			w.accepts()
			w.reaches(id, turn.Dispatched)
		}, "did not start: the policy has changed"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			inPlace(t, func(t *testing.T, w *world, laws *lawbook) {
				w.work(one(burn))
				a := w.begin()
				tt.until(w, a.Turn)
				laws.now(ofTool(burn, turn.Deny))
				if err := w.now.kernel.Rejudge(w.ctx); err != nil {
					t.Fatal(err)
				}
				w.settle()
				if c, _ := w.turn(a.Turn).Find(w.turn(a.Turn).Calls[0].ID); c.State != turn.Closed {
					t.Errorf("the call is %s", c.State)
				}
				w.forbidden(a.Turn, tt.words)
			})
		})
	}
	t.Run("started", func(t *testing.T) {
		inPlace(t, func(t *testing.T, w *world, laws *lawbook) {
			running := w.gate()
			w.effects.at("begun", running.pass)
			w.work(one(burn))
			a := w.begin()
			w.accepts()
			w.reaches(a.Turn, turn.Started)
			laws.now(ofTool(burn, turn.Deny))
			if err := w.now.kernel.Rejudge(w.ctx); err != nil {
				t.Fatal(err)
			}
			running.open()
			w.succeeded(a.Turn)
			w.effectsAre(1)
		})
	})
	t.Run("while the kernel is down", func(t *testing.T) {
		inPlace(t, func(_ *testing.T, w *world, laws *lawbook) {
			w.work(one(burn))
			a := w.begin()
			w.asked()
			laws.now(ofTool(burn, turn.Deny))
			w.restart()
			w.forbidden(a.Turn, "Question 1 is withdrawn.")
		})
	})
}

// TestStricterAfterTheYes: what was agreed to, or allowed, by a looser rule is asked for again.
func TestStricterAfterTheYes(t *testing.T) {
	t.Run("allowed, now asked", func(t *testing.T) {
		inPlace(t, func(t *testing.T, w *world, laws *lawbook) {
			w.services[0].conn.cut.Store(true)
			w.work(one(paint))
			a := w.begin()
			w.reaches(a.Turn, turn.Dispatched)
			laws.now(ofTool(paint, turn.Ask))
			w.services[0].conn.cut.Store(false)
			if err := w.now.kernel.Rejudge(w.ctx); err != nil {
				t.Fatal(err)
			}
			w.accepts()
			w.succeeded(a.Turn)
			w.effectsAre(1)
		}, ofTool(paint, turn.Allow))
	})
	t.Run("less time to start", func(t *testing.T) {
		inPlace(t, func(t *testing.T, w *world, laws *lawbook) {
			w.work(one(burn))
			a := w.begin()
			q := w.accepts()
			call := w.reaches(a.Turn, turn.Accepted)
			laws.now(rulebook.Rule{Tool: burn, Decide: turn.Ask, StartWithin: 20 * time.Second})
			next := w.staleThenAsked(a.Turn, call.ID, q, "policy")
			w.effectsAre(0)
			w.say(next, "accept")
			w.succeeded(a.Turn)
			w.effectsAre(1)
		})
	})
	t.Run("while it is asked", func(t *testing.T) {
		inPlace(t, func(t *testing.T, w *world, laws *lawbook) {
			w.work(one(burn))
			a := w.begin()
			q := w.asked()
			laws.now(rulebook.Rule{Tool: burn, Decide: turn.Ask, Undo: 20 * time.Second})
			if err := w.now.kernel.Rejudge(w.ctx); err != nil {
				t.Fatal(err)
			}
			if open := w.questions(); len(open) != 1 || open[0].Token != q.Token {
				t.Errorf("the question was %+v and is %+v", q, open)
			}
			w.say(q, "accept")
			w.pass(19 * time.Second)
			w.effectsAre(0)
			w.succeeded(a.Turn)
			w.effectsAre(1)
			if n := len(w.turn(a.Turn).Calls); n > 1 {
				t.Errorf("it was made %d times", n)
			}
		})
	})
}

// TestOtherRules: neither a rule about something else, nor the same one in another place, nor a
// looser one makes a yes stale; and the looser one does not run what is asked about.
func TestOtherRules(t *testing.T) {
	ask := rulebook.Rule{Tool: paint, Decide: turn.Ask, StartWithin: 50 * time.Second, Timeout: 10 * time.Minute}
	for name, rules := range map[string][]rulebook.Rule{
		"another tool":            {ask, ofTool("mail", turn.Deny)},
		"behind another tool":     {ofTool("mail", turn.Deny), ask},
		"another agent":           {{Agent: "scout", Tool: "*", Decide: turn.Deny}, ask},
		"by a prefix":             {{Tool: "p*", Decide: turn.Ask, StartWithin: 50 * time.Second}},
		"more time to start":      {{Tool: paint, Decide: turn.Ask, StartWithin: time.Minute}},
		"less time to answer":     {{Tool: paint, Decide: turn.Ask, StartWithin: 50 * time.Second, Timeout: time.Second}},
		"allowed":                 {ofTool(paint, turn.Allow)},
		"allowed, with less time": {{Tool: paint, Decide: turn.Allow, StartWithin: time.Second}},
	} {
		t.Run(name, func(t *testing.T) {
			inPlace(t, func(t *testing.T, w *world, laws *lawbook) {
				w.services[0].conn.cut.Store(true)
				w.work(one(paint))
				a := w.begin()
				q := w.asked()
				laws.now(rules...)
				if err := w.now.kernel.Rejudge(w.ctx); err != nil {
					t.Fatal(err)
				}
				w.pass(5 * time.Second)
				if call := w.last(a.Turn); call.State != turn.Asked || call.Question != q.Number {
					t.Fatalf("the call is %s, with question %d", call.State, call.Question)
				}
				w.say(q, "accept")
				w.reaches(a.Turn, turn.Dispatched)
				if err := w.now.kernel.Rejudge(w.ctx); err != nil {
					t.Fatal(err)
				}
				w.services[0].conn.cut.Store(false)
				w.succeeded(a.Turn)
				w.effectsAre(1)
				if n := w.cell(`SELECT count(*) FROM calls`); n != "1" {
					t.Errorf("it was made %s times", n)
				}
			}, ask)
		})
	}
}

// TestLooserIsAskedAgain: a call that was asked about and has to be made again is asked about
// again, although the rules would allow it by now.
func TestLooserIsAskedAgain(t *testing.T) {
	inPlace(t, func(t *testing.T, w *world, laws *lawbook) {
		w.services[0].conn.cut.Store(true)
		w.work(one(paint))
		a := w.begin()
		q := w.accepts()
		call := w.reaches(a.Turn, turn.Dispatched)
		laws.now(ofTool(paint, turn.Allow))
		w.pass(61 * time.Second) // too old
		next := w.staleThenAsked(a.Turn, call.ID, q, "age")
		w.services[0].conn.cut.Store(false)
		w.effectsAre(0)
		w.say(next, "accept")
		w.succeeded(a.Turn)
		w.effectsAre(1)
	}, ofTool(paint, turn.Ask))
}

// versioned is a policy of before rules were kept one by one: what was agreed to names the
// version of the whole file.
type versioned struct{ *rulebook.Rules }

func (v versioned) Decide(agent string, t store.Tool) rulebook.Ruling {
	r := v.Rules.Decide(agent, t)
	r.Rule = "0123456789abcdef"
	return r
}

// TestLedgerFromBefore: a yes in a ledger that knows the rules by the version of their file is
// good for what it was given for, and for nothing stricter.
func TestLedgerFromBefore(t *testing.T) {
	for name, tt := range map[string]struct {
		rules []rulebook.Rule
		runs  bool
		code  utp.Code
	}{
		"the same rules": {nil, true, ""},
		"looser ones":    {[]rulebook.Rule{{Tool: burn, Decide: turn.Ask, StartWithin: 5 * time.Minute}}, true, ""},
		"stricter ones":  {[]rulebook.Rule{{Tool: burn, Decide: turn.Ask, StartWithin: 20 * time.Second}}, false, utp.CodeConsentStale},
		"forbidden":      {[]rulebook.Rule{ofTool(burn, turn.Deny)}, false, utp.CodeDeniedByPolicy},
	} {
		t.Run(name, func(t *testing.T) {
			old, err := rulebook.NewRules(nil)
			if err != nil {
				t.Fatal(err)
			}
			inWorld(t, lasting(func(w *world) { w.policy = versioned{old} }), func(t *testing.T, w *world) {
				w.work(one(burn))
				a := w.begin()
				w.accepts()
				w.now.die()
				<-w.now.done
				w.policy, w.rules = nil, tt.rules
				w.restart()
				w.until("the first call to end", func() bool { return !w.turn(a.Turn).Calls[0].State.Open() })
				first := w.turn(a.Turn).Calls[0]
				if tt.runs {
					w.succeeded(a.Turn)
					w.effectsAre(1)
					return
				}
				if first.Outcome.Code != tt.code {
					t.Errorf("it ended as %+v; want %s", first.Outcome, tt.code)
				}
				w.effectsAre(0)
				if tt.code == utp.CodeConsentStale {
					w.say(w.asked(), "reject")
				}
				w.over(a.Turn)
				w.effectsAre(0)
			})
		})
	}
}

// TestRuleIsBound: the rule that applied is part of what was agreed to; another one in the
// ledger is not a yes.
func TestRuleIsBound(t *testing.T) {
	onDisk(t, func(w *world) { w.rules = []rulebook.Rule{ofTool(burn, turn.Ask)} }, func(t *testing.T, w *world) {
		w.work(one(burn))
		a := w.begin()
		q := w.accepts()
		w.pass(time.Second)
		call := w.last(a.Turn)
		if want := `{"decide":"ask","tool":"burn"}`; call.Policy != want {
			t.Errorf("the rule is %s; want %s", call.Policy, want)
		}
		w.tamper(`UPDATE turns SET doc = replace(doc, 'ask\",\"tool', 'allow\",\"tool')`)
		w.staleThenAsked(a.Turn, call.ID, q, "call")
		w.effectsAre(0)
		w.say(w.asked(), "reject")
		w.over(a.Turn)
	})
}

// TestNoteAll: what concerns everybody is told in every open turn, and in no other.
func TestNoteAll(t *testing.T) {
	inWorld(t, nil, func(t *testing.T, w *world) {
		w.work(one(burn))
		a := w.begin()
		w.asked()
		if err := w.now.kernel.NoteAll(w.ctx, kernel.NoteRulesBroken); err != nil {
			t.Fatal(err)
		}
		w.say(w.asked(), "reject")
		w.over(a.Turn)
		if err := w.now.kernel.NoteAll(w.ctx, kernel.NoteRulesMended); err != nil {
			t.Fatal(err)
		}
		told := w.query(w.now.path, `SELECT template FROM events WHERE template LIKE 'rules.%'`)
		if !slices.EqualFunc(told, []string{"rules.broken"}, func(row []string, want string) bool { return row[0] == want }) {
			t.Errorf("told: %v", told)
		}
	})
}
