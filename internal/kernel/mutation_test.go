package kernel_test

import (
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/api/audit"
	"github.com/earshot-dev/earshot/internal/kernel/rulebook"
	"github.com/earshot-dev/earshot/internal/kernel/turn"
	"github.com/earshot-dev/earshot/internal/testkit"
	"github.com/earshot-dev/earshot/tool"
	"github.com/earshot-dev/earshot/utp"
)

// mail is a tool that takes a secret from the operator's environment.
const mail = "mail"

// withSecret gives the world a key, a secret, and a tool that takes it.
func withSecret(w *world) {
	w.key = []byte("0123456789abcdef0123456789abcdef")
	w.env["MAIL_PASSWORD"] = "hunter2-hunter2"
	w.secrets = []string{"hunter2-hunter2", "swordfish-swordfish"}
}

func mailTool(s *service) []tool.Tool {
	d := definition(mail, utp.Irreversible, `{"args":{"envs":{"password":"MAIL_PASSWORD"},"fixed":{"from":"me"}}}`)
	d.Parameters = jsontext.Value(`{"type":"object","properties":{"name":{"type":"string"},"from":{"type":"string"},` +
		`"password":{"type":"string","minLength":3,"x-secret":true}},"required":["name","password"]}`)
	d.Target = strings.Replace(d.Target, "tool."+target, "tool.post", 1)
	return []tool.Tool{s.tool(d)}
}

// mutation changes something that a consent is bound to.
type mutation struct {
	tool   string // burn if empty
	reason string
	// change happens while the kernel runs, or while it is down.
	change func(w *world, call turn.Call)
	down   bool
	// mend makes the work possible again, after the new question was asked.
	mend func(w *world)
	// flaws are what the audit finds afterwards.
	flaws []audit.Flaw
}

func mutations() map[string]mutation {
	return map[string]mutation{
		"arguments": {reason: "arguments", flaws: []audit.Flaw{audit.Arguments}, change: func(w *world, c turn.Call) {
			w.tamper(`UPDATE cards SET content = replace(content, '"x"', '"everything"') WHERE card_id = ?`, c.Card)
		}},
		"a number among the arguments": {reason: "arguments", flaws: []audit.Flaw{audit.Arguments}, change: func(w *world, c turn.Call) {
			w.tamper(`UPDATE cards SET content = replace(content, '"n":7', '"n":8') WHERE card_id = ?`, c.Card)
		}},
		"definition": {reason: "definition", change: func(w *world, _ turn.Call) {
			d := definition(burn, utp.Irreversible, `{}`)
			d.Parameters = jsontext.Value(strings.Replace(parameters, `"n":{`, `"much":{"type":"boolean"},"n":{`, 1))
			if err := w.now.kernel.Registry().Register(w.ctx, target, d); err != nil {
				w.t.Fatal(err)
			}
		}},
		"definition gone": {reason: "definition", flaws: []audit.Flaw{audit.Standing}, change: func(w *world, _ turn.Call) {
			w.tamper(`UPDATE tools SET tool_name = 'burnt' WHERE tool_name = ?`, burn)
		}, mend: func(w *world) {
			w.tamper(`UPDATE tools SET tool_name = ?  WHERE tool_name = 'burnt'`, burn)
		}},
		"class": {tool: paint, reason: "definition", flaws: []audit.Flaw{audit.Standing}, down: true, change: func(w *world, _ turn.Call) {
			w.tamper(`UPDATE tools SET class = 'irreversible' WHERE tool_name = ?`, paint)
		}},
		"risk": {tool: paint, reason: "definition", flaws: []audit.Flaw{audit.Standing}, down: true, change: func(w *world, _ turn.Call) {
			w.tamper(`UPDATE tools SET risk = 'high' WHERE tool_name = ?`, paint)
		}},
		"policy": {reason: "policy", down: true, change: func(w *world, _ turn.Call) {
			w.rules = []rulebook.Rule{{Tool: burn, Decide: turn.Ask, StartWithin: 30 * time.Second}}
		}},
		"environment": {tool: mail, reason: "env", change: func(w *world, _ turn.Call) {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.env["MAIL_PASSWORD"] = "swordfish-swordfish"
		}},
		"project": {reason: "project", down: true, change: func(w *world, _ turn.Call) {
			w.project = "elsewhere"
		}, mend: func(w *world) {
			w.project = "home"
			w.restart()
		}},
		"call id": {reason: "call", change: func(w *world, c turn.Call) {
			w.tamper(`UPDATE turns SET doc = replace(doc, ?, ?)`, c.ID, c.ID[:len(c.ID)-4]+"beef")
		}},
	}
}

// TestMutationBeforeDispatch changes what was consented to between the accept and the
// dispatch: nothing leaves, and the person is asked again about what would run now.
func TestMutationBeforeDispatch(t *testing.T) {
	testkit.Slow(t)
	for name, m := range mutations() {
		t.Run(name, func(t *testing.T) {
			onDisk(t, lasting(withSecret), func(t *testing.T, w *world) {
				a, q, call := w.mutant(m, func() {})
				if m.down {
					w.now.die()
					<-w.now.done
				}
				call, _ = w.turn(a.Turn).Find(call.ID)
				if call.State != turn.Accepted {
					t.Fatalf("the call is %s; the change comes too late", call.State)
				}
				m.change(w, call)
				if m.down {
					w.restart()
				}
				w.flaws = m.flaws
				w.mutated(m, a, q, call, 0)
			})
		})
	}
}

// TestMutationBeforeStart does the same between the dispatch and the start.
func TestMutationBeforeStart(t *testing.T) {
	for name, m := range mutations() {
		t.Run(name, func(t *testing.T) {
			onDisk(t, lasting(withSecret), func(t *testing.T, w *world) {
				a, q, _ := w.mutant(m, func() {
					for _, s := range w.services {
						s.conn.cut.Store(true)
					}
				})
				call := w.reaches(a.Turn, turn.Dispatched)
				w.pass(time.Second)
				if m.down {
					w.now.die()
					<-w.now.done
				}
				m.change(w, call)
				if m.down {
					w.restart()
				}
				for _, s := range w.services {
					s.conn.cut.Store(false)
				}
				w.flaws = m.flaws
				w.mutated(m, a, q, call, 1)
			})
		})
	}
}

// mutant plays up to the accept of the mutation's tool; before comes right before it.
func (w *world) mutant(m mutation, before func()) (api.EnqueueAnswer, api.QuestionRow, turn.Call) {
	w.t.Helper()
	w.serve("post", mailTool)
	w.review(map[string]utp.Class{mail: utp.Irreversible})
	name := burn
	if m.tool != "" {
		name = m.tool
	}
	step := one(name)
	if name != mail {
		step[0].Args = map[string]any{"name": "x", "n": 7}
	}
	w.work(step)
	a := w.begin()
	q := w.asked()
	before()
	_, err := w.reply(q, "accept")
	if err != nil && !w.now.dead.Load() {
		w.t.Fatal(err)
	}
	w.settle()
	return a, q, w.last(a.Turn)
}

// mutated checks the typed end and the new question, and that the work can be done
// after all.
func (w *world) mutated(m mutation, a api.EnqueueAnswer, q api.QuestionRow, call turn.Call, invoked int) {
	w.t.Helper()
	if m.mend != nil && m.reason == "definition" {
		w.until("the call is to be over", func() bool { return w.turn(a.Turn).Status == turn.Ended })
		state := w.turn(a.Turn)
		if c := state.Calls[len(state.Calls)-1]; c.Outcome.Code != utp.CodeUnknownTool {
			w.t.Errorf("the new call ended as %s %+v; want unknown_tool", c.State, c.Outcome)
		}
		w.effectsAre(0)
		return
	}
	id := call.ID
	if m.reason == "call" {
		id = id[:len(id)-4] + "beef"
	}
	next := w.staleThenAsked(a.Turn, id, q, m.reason)
	w.effectsAre(0)
	if n := len(w.query(w.now.path, `SELECT seq FROM events WHERE type = 'aaep:agent.tool.invoked'`)); n != invoked {
		w.t.Errorf("%d invocations were told; want %d", n, invoked)
	}
	if m.mend != nil {
		m.mend(w)
	}
	w.say(next, "accept")
	w.succeeded(a.Turn)
	w.effectsAre(1)
}

// TestMutationOfTheConsent: a consent that is gone, or used, lets nothing leave.
func TestMutationOfTheConsent(t *testing.T) {
	testkit.Slow(t)
	for name, tt := range map[string]struct {
		change string
		flaws  []audit.Flaw
	}{
		"gone":            {`DELETE FROM consents`, []audit.Flaw{audit.Unagreed}},
		"used":            {`UPDATE consents SET consumed_at = 1`, nil},
		"for another":     {`UPDATE consents SET digest = 'd' || digest`, []audit.Flaw{audit.Unagreed}},
		"of another call": {`UPDATE calls SET call_id = 'tc_other'; UPDATE consents SET call_id = 'tc_other'`, []audit.Flaw{audit.Unagreed, audit.Unreceipted}},
	} {
		t.Run(name, func(t *testing.T) {
			onDisk(t, nil, func(t *testing.T, w *world) {
				w.work(one(burn))
				a := w.begin()
				q := w.accepts()
				w.pass(time.Second)
				call := w.last(a.Turn).ID
				w.tamper(`PRAGMA foreign_keys = 0; ` + tt.change)
				w.flaws = tt.flaws
				next := w.staleThenAsked(a.Turn, call, q, "age")
				w.effectsAre(0)
				w.say(next, "reject")
				w.over(a.Turn)
				w.effectsAre(0)
			})
		})
	}
}

// TestMutationNoLongerFits: arguments that were changed into something that the tool
// does not take are not a question any more.
func TestMutationNoLongerFits(t *testing.T) {
	onDisk(t, nil, func(t *testing.T, w *world) {
		w.work(one(burn))
		a := w.begin()
		w.accepts()
		w.pass(time.Second)
		w.tamper(`UPDATE cards SET content = replace(content, '"x"', '12') WHERE type = 'tool.call'`)
		w.flaws = []audit.Flaw{audit.Arguments}
		state := w.over(a.Turn)
		w.effectsAre(0)
		if c := state.Calls[len(state.Calls)-1]; c.Outcome.Code != utp.CodeBadRequest {
			t.Errorf("the new call ended as %s %+v", c.State, c.Outcome)
		}
	})
}

// TestMutationOfLargeArguments: the bytes of a blob are looked at as well.
func TestMutationOfLargeArguments(t *testing.T) {
	onDisk(t, nil, func(t *testing.T, w *world) {
		step := one(burn)
		step[0].Args = map[string]any{"name": "x", "text": strings.Repeat("a", 1<<20)}
		w.work(step)
		a := w.begin()
		q := w.asked()
		w.reads(q)
		w.say(q, "accept")
		w.pass(time.Second)
		call := w.last(a.Turn).ID
		w.tamper(`UPDATE blob_chunks SET data = CAST(replace(CAST(data AS TEXT), 'aaaa', 'aaab') AS BLOB)`)
		w.flaws = []audit.Flaw{audit.Arguments}
		w.staleThenAsked(a.Turn, call, q, "arguments")
		w.say(w.asked(), "reject")
		w.over(a.Turn)
		w.effectsAre(0)
	})
}

// TestMutationAllowed: what policy allows is looked at again as well, and what never
// fits again does not go round for ever.
func TestMutationAllowed(t *testing.T) {
	t.Run("definition", func(t *testing.T) {
		inWorld(t, nil, func(t *testing.T, w *world) {
			w.services[0].conn.cut.Store(true)
			w.work(one(poller))
			a := w.begin()
			w.reaches(a.Turn, turn.Dispatched)
			d := definition(poller, utp.Irreversible, `{}`)
			if err := w.now.kernel.Registry().Register(w.ctx, target, d); err != nil {
				t.Fatal(err)
			}
			w.services[0].conn.cut.Store(false)
			q := w.asked() // nobody has looked at it yet: it counts as irreversible
			w.say(q, "reject")
			w.over(a.Turn)
		})
	})
	t.Run("project", func(t *testing.T) {
		inWorld(t, nil, func(t *testing.T, w *world) {
			w.services[0].conn.cut.Store(true)
			w.work(one(poller))
			a := w.begin()
			w.reaches(a.Turn, turn.Dispatched)
			w.project = "elsewhere"
			w.restart()
			w.services[0].conn.cut.Store(false)
			state := w.over(a.Turn)
			if c := state.Calls[len(state.Calls)-1]; c.Outcome.Code != utp.CodeConsentStale {
				t.Errorf("the call ended as %s %+v", c.State, c.Outcome)
			}
			if len(state.Calls) > 2 {
				t.Errorf("%d calls were made of one", len(state.Calls))
			}
		})
	})
}

// TestMutationAge: the age at which a consent is stale, by default, by rule, by tool.
func TestMutationAge(t *testing.T) {
	tests := []struct {
		name  string
		rules []rulebook.Rule
		wait  time.Duration // between the end of the undo time and the restart
		stale bool
	}{
		{"default, in time", nil, 59 * time.Second, false},
		{"default, too late", nil, 61 * time.Second, true},
		{"longer by rule, in time", []rulebook.Rule{{Tool: "*", Decide: turn.Ask, StartWithin: 5 * time.Minute}}, 299 * time.Second, false},
		{"longer by rule, too late", []rulebook.Rule{{Tool: "*", Decide: turn.Ask, StartWithin: 5 * time.Minute}}, 301 * time.Second, true},
		{"shorter by rule, too late", []rulebook.Rule{{Tool: "bu*", Decide: turn.Ask, StartWithin: 10 * time.Second}}, 11 * time.Second, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			inWorld(t, lasting(func(w *world) { w.rules = tt.rules }), func(t *testing.T, w *world) {
				w.work(one(burn))
				a := w.begin()
				q := w.asked()
				w.now.dieWhenReaching("dispatch.committing")
				w.say(q, "accept")
				w.dies()
				call := w.last(a.Turn).ID
				<-time.After(tt.wait)
				w.restart()
				if tt.stale {
					q = w.staleThenAsked(a.Turn, call, q, "age")
					w.say(q, "accept")
				}
				w.succeeded(a.Turn)
				w.effectsAre(1)
				want := map[bool]string{true: "2"}[tt.stale]
				if want == "" {
					want = "1"
				}
				if n := w.cell(`SELECT count(*) FROM questions`); n != want {
					t.Errorf("%s questions were asked; want %s", n, want)
				}
			})
		})
	}
}
