package kernel_test

import (
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/kernel"
	"github.com/earshot-dev/earshot/internal/kernel/rulebook"
	"github.com/earshot-dev/earshot/internal/kernel/turn"
	"github.com/earshot-dev/earshot/internal/passkey"
	"github.com/earshot-dev/earshot/internal/rpc"
	"github.com/earshot-dev/earshot/utp"
	"github.com/earshot-dev/earshot/worker"
)

// calling is a step of one call with these arguments.
func calling(tool string, args map[string]any) []worker.Call {
	return []worker.Call{{Key: "k1", Tool: tool, Args: args, To: 100}}
}

// gives accepts a question with a standing permission.
func (w *world) gives(q api.QuestionRow, asked api.Standing) (api.ReplyAnswer, error) {
	return w.answer(api.ReplyRequest{Token: q.Token, Decision: "accept", By: person, Surface: "terminal", Standing: &asked})
}

// permits is gives that has to be taken.
func (w *world) permits(q api.QuestionRow, asked api.Standing) api.StandingPermission {
	w.t.Helper()
	a, err := w.gives(q, asked)
	if err != nil || a.Permission == nil {
		w.t.Fatalf("no permission: %+v, %v", a, err)
	}
	return *a.Permission
}

// inForce lists the permissions.
func (w *world) inForce() []api.StandingPermission {
	w.t.Helper()
	var a api.PermissionsAnswer
	if err := rpc.AskUntil(w.ctx, w.person, api.OpPermissions, api.PermissionsRequest{}, &a); err != nil {
		w.t.Fatal(err)
	}
	return a.Permissions
}

// revokes ends a permission.
func (w *world) revokes(number int) (v api.StandingPermission, err error) {
	err = rpc.AskUntil(w.ctx, w.person, api.OpRevoke, api.RevokeRequest{Number: number, By: person, Surface: "terminal"}, &v)
	return v, err
}

// registers registers a definition, or a changed one.
func (w *world) registers(d utp.Definition) {
	w.t.Helper()
	if err := w.as(kernel.ToolCaller, target, api.OpRegister, api.RegisterRequest{Definition: d}, nil); err != nil {
		w.t.Fatal(err)
	}
}

// heard demands that it was told, so many times.
func (w *world) heard(words string, times int) {
	w.t.Helper()
	if n := strings.Count(w.tale(), words); n != times {
		w.t.Errorf("%q is told %d times; want %d\n%s", words, n, times, w.tale())
	}
}

// TestStandingPermission: after one yes the agent is not asked about again within the bounds, as often as was said, and
// each use is told and has its entry in the chain.
func TestStandingPermission(t *testing.T) {
	t.Attr("counts", "consents")
	inWorld(t, nil, func(t *testing.T, w *world) {
		w.work(
			calling(paint, map[string]any{"name": "/a/x", "n": 3}), calling(paint, map[string]any{"name": "/a/y", "n": 20}),
			calling(paint, map[string]any{"name": "/a/z", "n": 1}), calling(paint, map[string]any{"name": "/a/q", "n": 1}),
		)
		a := w.begin()
		p := w.permits(w.asked(), api.Standing{Uses: 2, Bounds: []api.Bound{
			{Argument: "/name", Rule: api.BoundBegins, Value: jsontext.Value(`"/a/"`)}, {Argument: "/n", Rule: api.BoundMost, Value: jsontext.Value(`20`)},
		}})
		if p.Number != 1 || p.Tool != paint || p.Agent != agentName || p.Left != 2 || p.Session == "" || p.BoundsText == "" {
			t.Errorf("it is %+v", p)
		}
		w.accepts() // the fourth call: the two uses are gone
		w.succeeded(a.Turn)
		w.effectsAre(4)
		w.heard("Standing permission 1: for 1 hour, tidy may use paint in this session without asking, up to 2 times", 1)
		w.heard("Allowed by your standing permission 1", 2)
		w.heard("1 use is left.", 1)
		w.heard("That was the last use", 1)
		if left := w.inForce(); len(left) != 0 {
			t.Errorf("still in force: %+v", left)
		}
		if n := w.cell(`SELECT count(*) FROM audit WHERE doc LIKE '%"act":"permission"%'`); n != "3" {
			t.Errorf("%s entries in the chain; want that it was made, and two uses", n)
		}
		if n := w.cell(`SELECT count(*) FROM calls WHERE doc LIKE '%"permission":1%' AND doc LIKE '%"decision":"allow"%'`); n != "2" {
			t.Errorf("%s calls name the permission", n)
		}
	})
}

// TestNoStandingPermission: what is not given, and that then nothing is accepted.
func TestNoStandingPermission(t *testing.T) {
	for _, tt := range []struct {
		name, tool string
		asked      api.Standing
		word       string
		unreviewed bool
		words      string
	}{
		{name: "irreversible", tool: burn, words: "cannot be undone"},
		{name: "unreviewed", tool: "fresh", unreviewed: true, words: "no operator has reviewed"},
		{name: "not met", tool: paint, asked: api.Standing{Bounds: []api.Bound{{Argument: "/name", Rule: api.BoundBegins, Value: jsontext.Value(`"/b/"`)}}}, words: "does not meet it"},
		{name: "with a no", tool: paint, word: "reject", words: "with an accept only"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			inWorld(t, nil, func(t *testing.T, w *world) {
				if tt.unreviewed {
					w.registers(definition(tt.tool, utp.Reversible, `{}`))
				}
				w.work(one(tt.tool))
				a := w.begin()
				q := w.asked()
				if tt.word == "" {
					tt.word = "accept"
				}
				w.reads(q)
				_, err := w.answer(api.ReplyRequest{Token: q.Token, Decision: tt.word, By: person, Surface: "terminal", Standing: &tt.asked})
				wantFault(t, err, utp.CodeStandingRefused)
				if err == nil || !strings.Contains(err.Error(), tt.words) {
					t.Errorf("it says %v; want %q", err, tt.words)
				}
				if open := w.questions(); len(open) != 1 || open[0].Token != q.Token {
					t.Errorf("open is %+v", open)
				}
				w.effectsAre(0)
				w.say(q, "reject")
				w.succeeded(a.Turn)
				if all := w.inForce(); len(all) != 0 {
					t.Errorf("in force: %+v", all)
				}
			})
		})
	}
}

// TestNoStandingForTheAgent: who asks for a call gives no permission, and nor does anybody behind whom no person is
// known to be.
func TestNoStandingForTheAgent(t *testing.T) {
	absent := &attendance{}
	inWorld(t, func(w *world) { w.approvers = absent }, func(t *testing.T, w *world) {
		w.work(one(paint))
		a := w.begin()
		q := w.asked()
		r := api.ReplyRequest{Token: q.Token, Decision: "accept", By: agentName, Surface: "terminal", Standing: &api.Standing{}}
		_, err := w.answer(r)
		wantFault(t, err, utp.CodeAuthFailed)
		r.By = person
		absent.away.Store(true)
		_, err = w.answer(r)
		wantFault(t, err, utp.CodeAuthFailed)
		if all := w.inForce(); len(all) != 0 {
			t.Errorf("in force: %+v", all)
		}
		absent.away.Store(false)
		w.permits(q, api.Standing{})
		w.succeeded(a.Turn)
	})
}

// attendance lets everybody approve, and accept while somebody is there.
type attendance struct{ away, barred atomic.Bool }

func (a *attendance) MayApprove(string, string, string) bool { return !a.barred.Load() }
func (a *attendance) MayAccept(string) bool                  { return !a.away.Load() }

// TestStandingEnds: what ends a permission, so that the next call is asked about, and that it is told once.
func TestStandingEnds(t *testing.T) {
	for _, tt := range []struct {
		name  string
		end   func(*world, *attendance, api.StandingPermission)
		words string
	}{
		{"revoked", func(w *world, _ *attendance, p api.StandingPermission) {
			for range 2 { // a repeat changes nothing
				if v, err := w.revokes(p.Number); err != nil || v.Ended != "revoked" {
					w.t.Errorf("revoked as %+v, %v", v, err)
				}
			}
		}, "Standing permission 1 for paint is revoked by ada."},
		{"expired", func(w *world, _ *attendance, _ api.StandingPermission) { w.pass(time.Minute) }, "Standing permission 1 for paint has expired."},
		{"approver", func(_ *world, a *attendance, _ api.StandingPermission) { a.barred.Store(true) }, "the login that gave it no longer counts"},
		{"definition", func(w *world, _ *attendance, _ api.StandingPermission) {
			w.registers(definition(paint, utp.Reversible, `{"undo_seconds":5}`))
			w.review(map[string]utp.Class{paint: utp.Reversible})
		}, "Standing permission 1 has ended: the tool paint has changed."},
		{"unreviewed", func(w *world, _ *attendance, _ api.StandingPermission) {
			w.registers(definition(paint, utp.Reversible, `{"undo_seconds":5}`))
		}, "Standing permission 1 has ended: the tool paint has changed."},
	} {
		t.Run(tt.name, func(t *testing.T) {
			who := &attendance{}
			inWorld(t, func(w *world) { w.approvers = who }, func(t *testing.T, w *world) {
				held := w.gate()
				w.effects.at("done", held.pass)
				w.work(one(paint), one(paint), one(paint))
				a := w.begin()
				q := w.asked()
				p := w.permits(q, api.Standing{Seconds: 60})
				w.reaches(a.Turn, turn.Started)
				tt.end(w, who, p)
				held.open()
				again := w.askedAfter(q)
				who.barred.Store(false)
				w.reads(again)
				w.say(again, "accept")
				third := w.askedAfter(again)
				w.reads(third)
				w.say(third, "reject")
				w.succeeded(a.Turn)
				w.effectsAre(2)
				w.heard(tt.words, 1)
				w.heard("Allowed by your standing permission", 0)
			})
		})
	}
}

// TestStandingAtTheStart: a call that a permission has allowed does not start once that is over.
func TestStandingAtTheStart(t *testing.T) {
	for name, end := range map[string]func(*world, api.StandingPermission){
		"revoked": func(w *world, p api.StandingPermission) {
			if _, err := w.revokes(p.Number); err != nil {
				w.t.Error(err)
			}
		},
		"expired": func(w *world, _ api.StandingPermission) { w.pass(time.Minute) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Attr("counts", "starts")
			inWorld(t, func(w *world) {
				w.rules = []rulebook.Rule{{Tool: paint, Decide: turn.Ask, StartWithin: 5 * time.Minute}}
			}, func(t *testing.T, w *world) {
				thinks := w.gate()
				w.workAs(func() worker.Planner { return &slowly{planner{steps: [][]worker.Call{one(paint), one(paint)}}, thinks} })
				a := w.begin()
				q := w.asked()
				p := w.permits(q, api.Standing{Uses: 1, Seconds: 60})
				w.until("the first to be done", func() bool { return w.turn(a.Turn).Status == turn.Running })
				w.services[0].conn.cut.Store(true)
				thinks.open()
				w.until("the second to leave", func() bool { return w.last(a.Turn).Permission == p.Number })
				if c := w.last(a.Turn); c.State != turn.Dispatched {
					t.Fatalf("the call is %s", c.State)
				}
				end(w, p)
				w.services[0].conn.cut.Store(false)
				again := w.askedAfter(q)
				w.effectsAre(1)
				w.heard("The standing permission that allowed it no longer does.", 2) // when it did not start, and in the question
				w.say(again, "reject")
				w.succeeded(a.Turn)
				w.effectsAre(1)
			})
		})
	}
}

// slowly waits at a gate once the first call is done.
type slowly struct {
	planner

	gate gate
}

func (s *slowly) Next() (worker.Decision, error) {
	if len(s.seen) > 0 {
		<-s.gate.way
	}
	return s.planner.Next()
}

// TestStandingStays: a permission is there after a restart, and for the agent in another session, but not for more.
func TestStandingStays(t *testing.T) {
	inWorld(t, nil, func(t *testing.T, w *world) {
		w.work(one(paint))
		a := w.begin()
		w.permits(w.asked(), api.Standing{Scope: api.ScopeAgent, Uses: 1})
		w.succeeded(a.Turn)
		w.restart()
		b := w.begin()
		w.succeeded(b.Turn)
		w.effectsAre(2)
		c := w.begin()
		w.say(w.asked(), "reject")
		w.succeeded(c.Turn)
		w.effectsAre(2)
	})
}

// TestStandingOfASession: one for a session ends with it.
func TestStandingOfASession(t *testing.T) {
	inWorld(t, nil, func(t *testing.T, w *world) {
		w.work(one(paint))
		a := w.begin()
		w.permits(w.asked(), api.Standing{})
		w.succeeded(a.Turn)
		if all := w.inForce(); len(all) != 0 {
			t.Errorf("in force: %+v", all)
		}
		b := w.begin()
		w.say(w.asked(), "reject")
		w.succeeded(b.Turn)
		w.effectsAre(1)
	})
}

// TestStandingRestored: a restored ledger revives no permission, whether it was revoked or used since.
func TestStandingRestored(t *testing.T) {
	t.Attr("counts", "consents")
	for name, since := range map[string]func(*world){
		"revoked": func(w *world) {
			if _, err := w.revokes(1); err != nil {
				w.t.Error(err)
			}
		},
		"used": func(w *world) { w.succeeded(w.begin().Turn) },
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, nil, func(t *testing.T, w *world) {
				w.work(one(paint))
				a := w.begin()
				w.permits(w.asked(), api.Standing{Scope: api.ScopeAgent, Uses: 9})
				w.succeeded(a.Turn)
				old := w.copied()
				since(w)
				before := len(w.effects.all())
				w.goesBack(old, true)
				if all := w.inForce(); len(all) != 0 {
					t.Errorf("in force: %+v", all)
				}
				b := w.begin()
				w.say(w.asked(), "reject")
				w.succeeded(b.Turn)
				w.effectsAre(before)
				c := w.begin()
				if p := w.permits(w.asked(), api.Standing{}); p.Number < 3 {
					t.Errorf("the number %d may have been given out in the part that is lost", p.Number)
				}
				w.succeeded(c.Turn)
			})
		})
	}
}

// TestNoStandingBesideAPasskey: where an accept takes a passkey, later calls do not pass without one.
func TestNoStandingBesideAPasskey(t *testing.T) {
	inWorld(t, signing(passkey.All), func(t *testing.T, w *world) {
		w.work(calling(paint, map[string]any{"name": "/a/x"}))
		a := w.begin()
		phone := w.added(person, "phone", nil)
		q := w.asked()
		r := api.ReplyRequest{Token: q.Token, Decision: "accept", By: person, Surface: "page", Assertion: w.signs(phone, w.acceptChallenge(q))}
		r.Standing = &api.Standing{Uses: 2}
		_, err := w.answer(r)
		wantFault(t, err, utp.CodeStandingRefused)
		if got := w.inForce(); len(got) != 0 {
			t.Errorf("in force: %+v", got)
		}
		w.effectsAre(0)
		if err := w.acceptsBy(q, w.signs(phone, w.acceptChallenge(q))); err != nil {
			t.Fatal(err)
		}
		w.succeeded(a.Turn)
	})
}
