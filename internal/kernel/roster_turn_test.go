package kernel_test

import (
	"context"
	"strconv"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/kernel"
	"github.com/earshot-dev/earshot/internal/kernel/rulebook"
	"github.com/earshot-dev/earshot/internal/kernel/turn"
	"github.com/earshot-dev/earshot/internal/rpc"
	"github.com/earshot-dev/earshot/utp"
	"github.com/earshot-dev/earshot/worker"
)

// TestInactive (UTP, conflicts B-3): no turn of an agent that is not active begins, and what its turns ask for is not done.
func TestInactive(t *testing.T) {
	inWorld(t, nil, func(t *testing.T, w *world) {
		w.work(one(burn))
		a := w.begin()
		w.accepts()
		w.defines(inactive(agentName))
		w.over(a.Turn)
		if o := w.last(a.Turn).Outcome; o.Code != utp.CodeDeniedByPolicy || len(w.effects.all()) > 0 {
			t.Errorf("the call ended %+v, with the effects %v", o, w.effects.all())
		}
		_, err := w.hub.Enqueue(w.ctx, api.EnqueueRequest{Agent: agentName, Args: jsontext.Value(`{}`)})
		wantFault(t, err, utp.CodeAgentInactive)
		w.defines(inactive(programName))
		err = rpc.Ask(w.ctx, w.person, api.OpOpen, api.OpenRequest{Agent: programName, Owner: person}, nil)
		wantFault(t, err, utp.CodeAgentInactive)
		if n := w.cell(`SELECT count(*) FROM turns`); n != "1" {
			t.Errorf("%s turns; want 1", n)
		}
		w.defines(api.AgentDefinition{Name: agentName})
		b := w.begin()
		w.accepts()
		w.succeeded(b.Turn)
	})
}

// TestDisplayName: people are shown the name that the definition gives the agent; its id stays.
func TestDisplayName(t *testing.T) {
	inWorld(t, nil, func(t *testing.T, w *world) {
		w.defines(api.AgentDefinition{Name: agentName, DisplayName: "The clerk"})
		w.work()
		a := w.begin()
		w.succeeded(a.Turn)
		body := w.cell(`SELECT body FROM events WHERE seq = 1`)
		if !strings.Contains(body, `"agent_id":"earshot.tidy"`) || !strings.Contains(body, `"agent_name":"The clerk"`) {
			t.Errorf("it has begun as %s", body)
		}
		if name := w.turn(a.Turn).Name; name != "The clerk, tidy up" {
			t.Errorf("its session is called %q", name)
		}
	})
}

// TestDefinedFields: where the request names none, the answer needs the fields of its agent's definition. To end with
// submit_result is to end with an answer that has fields.
func TestDefinedFields(t *testing.T) {
	title := worker.Answer{Fields: []worker.Field{{Name: "title", Value: "T"}}}
	for _, tt := range []struct {
		name    string
		defined api.AgentDefinition
		asked   []string
		answer  worker.Answer
		code    utp.Code
	}{
		{"as defined", api.AgentDefinition{ResultFields: []string{"title"}}, nil, title, ""},
		{"not as defined", api.AgentDefinition{ResultFields: []string{"pages"}}, nil, title, utp.CodeInternalError},
		{"the request names others", api.AgentDefinition{ResultFields: []string{"pages"}}, []string{"title"}, title, ""},
		{"it submits", api.AgentDefinition{MustEndWith: []string{utp.SubmitResult}}, nil, title, ""},
		{"it submits nothing", api.AgentDefinition{MustEndWith: []string{utp.SubmitResult}}, nil, worker.Answer{Output: "Done."}, utp.CodeMustEndWith},
		{"it submits in place of another call", api.AgentDefinition{MustEndWith: []string{poller}}, nil, title, utp.CodeMustEndWith},
		{"any call is not an answer", api.AgentDefinition{MustEndWith: []string{"*"}}, nil, title, utp.CodeMustEndWith},
		{"it submits or calls", api.AgentDefinition{MustEndWith: []string{poller, utp.SubmitResult}}, nil, title, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			inWorld(t, nil, func(t *testing.T, w *world) {
				tt.defined.Name = agentName
				w.defines(tt.defined)
				w.loop(func(context.Context, worker.Transcript) (worker.Decision, error) {
					return worker.Decision{Answer: &tt.answer}, nil
				})
				a := w.withBoxes(person, api.Boxes{}, tt.asked...)
				s := w.over(a.Turn)
				if good := tt.code == ""; good != s.End.Completes() || (tt.code == utp.CodeMustEndWith) != (s.End.Code == utp.CodeMustEndWith) {
					t.Errorf("it ended %+v", s.End)
				}
			})
		})
	}
}

// TestDefinedArguments: a turn whose arguments do not fit the schema of its agent's definition does not begin, no matter who asks for it; one
// whose arguments fit does.
func TestDefinedArguments(t *testing.T) {
	for name, tt := range map[string]struct{ args, why string }{
		"they fit":       {`{"to":"Ada","n":3}`, ""},
		"one is missing": {`{"n":3}`, `"to" is missing`},
		"one is wrong":   {`{"to":"Ada","n":"three"}`, "/n: found text, expected a whole number"},
		"one is unknown": {`{"to":"Ada","cc":"Eve"}`, `found "cc", which is not one of its members`},
		"none":           {`{}`, `"to" is missing`},
		"a list":         {`[]`, "found a list, expected an object"},
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(w *world) { w.unended = true }, func(t *testing.T, w *world) {
				root := w.begin()
				at := w.claims("wrk_1").WorkerRequest("wrk_1")
				w.defines(api.AgentDefinition{
					Name: agentName, Parameters: jsontext.Value(`{"type":"object","properties":{"to":{"type":"string"},"n":{"type":"integer"}},"required":["to"]}`),
				})
				_, enqueued := w.hub.Enqueue(w.ctx, api.EnqueueRequest{Agent: agentName, Args: jsontext.Value(tt.args), Owner: w.turn(root.Turn).Owner})
				spawned := w.as(kernel.AgentCaller, agentName, api.OpSpawn, api.SpawnRequest{
					Worker: &at, Agent: agentName, Args: jsontext.Value(tt.args), Correlation: "child",
				}, nil)
				want := "3"
				for _, err := range []error{enqueued, spawned} {
					if tt.why == "" && err != nil {
						t.Errorf("refused: %v", err)
					}
					if tt.why != "" {
						want = "1"
						wantFault(t, err, utp.CodeBadRequest)
						if !strings.Contains(err.Error(), tt.why) || !strings.Contains(err.Error(), "nothing was started") {
							t.Errorf("it says %v; want %q", err, tt.why)
						}
					}
				}
				if n := w.cell(`SELECT count(*) FROM turns`); n != want {
					t.Errorf("%s turns; want %s", n, want)
				}
			})
		})
	}
}

// TestProgramArguments: where no definition says which arguments an agent takes, a turn has to have those that the program of the agent
// says; a definition comes first.
func TestProgramArguments(t *testing.T) {
	inWorld(t, func(w *world) {
		w.unended, w.takes = true, jsontext.Value(`{"type":"object","required":["to"]}`)
	}, func(_ *testing.T, w *world) {
		begins := func(args string) error {
			_, err := w.hub.Enqueue(w.ctx, api.EnqueueRequest{Agent: agentName, Args: jsontext.Value(args), Owner: person})
			return err
		}
		if err := begins(`{"to":"Ada"}`); err != nil {
			w.t.Error(err)
		}
		err := begins(`{}`)
		wantFault(w.t, err, utp.CodeBadRequest)
		if !strings.Contains(err.Error(), `"to" is missing; nothing was started`) {
			w.t.Errorf("it says %v", err)
		}
		w.defines(api.AgentDefinition{Name: agentName, DisplayName: "The clerk"})
		wantFault(w.t, begins(`{}`), utp.CodeBadRequest)
		w.defines(api.AgentDefinition{Name: agentName, Parameters: jsontext.Value(`{"type":"object","required":["from"]}`)})
		if err := begins(`{"from":"Ada"}`); err != nil {
			w.t.Error(err)
		}
		wantFault(w.t, begins(`{"to":"Ada"}`), utp.CodeBadRequest)
	})
}

// TestMayAsk: an agent starts turns of those that its definition names, and of no others, whatever the server's setting says.
// Without such a list, the setting decides.
func TestMayAsk(t *testing.T) {
	for _, tt := range []struct {
		name   string
		list   []string
		starts []string
		agent  string
		may    bool
	}{
		{"the setting allows it", nil, []string{"clerk"}, "clerk", true},
		{"the setting does not", nil, nil, "clerk", false},
		{"itself", nil, nil, agentName, true},
		{"the definition allows it", []string{"cl*"}, nil, "clerk", true},
		{"the definition allows another", []string{"scout"}, []string{"clerk"}, "clerk", false},
		{"no agent", []string{}, []string{"clerk"}, "clerk", false},
		{"not itself", []string{"clerk"}, nil, agentName, false},
		{"never the operator", []string{"*"}, []string{api.OperatorAgent}, api.OperatorAgent, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			inWorld(t, func(w *world) { w.unended, w.starts = true, tt.starts }, func(t *testing.T, w *world) {
				w.defines(api.AgentDefinition{Name: agentName, MayAsk: tt.list})
				root := w.begin()
				at := w.claims("wrk_1").WorkerRequest("wrk_1")
				err := w.as(kernel.AgentCaller, agentName, api.OpSpawn, api.SpawnRequest{
					Worker: &at, Agent: tt.agent, Args: jsontext.Value(`{}`), Correlation: "child",
				}, nil)
				if tt.may != (err == nil) {
					t.Errorf("the agent: %v, want %v", err, tt.may)
				}
				if !tt.may {
					wantFault(t, err, utp.CodeAuthFailed)
				}
				_, err = w.hub.Enqueue(w.ctx, api.EnqueueRequest{Agent: tt.agent, Args: jsontext.Value(`{}`), Parent: root.Turn, Owner: w.turn(root.Turn).Owner})
				if refused := tt.list != nil && !tt.may && tt.agent != api.OperatorAgent; refused != (err != nil) {
					t.Errorf("the owner within its turn: %v, want refused %v", err, refused)
				}
			})
		})
	}
}

// TestMaxOpen: an agent has as many open turns as its definition allows, sessions of programs among them; others go on.
func TestMaxOpen(t *testing.T) {
	inWorld(t, func(w *world) { w.unended = true }, func(t *testing.T, w *world) {
		w.defines(api.AgentDefinition{Name: programName, MaxOpen: 2})
		open := func() (a api.OpenAnswer, err error) {
			err = rpc.Ask(w.ctx, w.person, api.OpOpen, api.OpenRequest{Agent: programName, Owner: person}, &a)
			return a, err
		}
		first, err := open()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := open(); err != nil {
			t.Fatal(err)
		}
		_, err = open()
		wantFault(t, err, utp.CodeTooManyTurns)
		if n := w.cell(`SELECT count(*) FROM turns`); n != "2" {
			t.Errorf("%s turns are in the ledger", n)
		}
		w.begin() // of another agent
		if _, err := w.hub.Stop(w.ctx, api.ReplyRequest{Session: first.Session, By: person}); err != nil {
			t.Fatal(err)
		}
		if _, err := open(); err != nil {
			t.Errorf("after one has ended: %v", err)
		}
	})
}

// TestMaxSteps: a turn takes as many steps as its agent may. The next one is not made, and the turn fails.
func TestMaxSteps(t *testing.T) {
	for most, good := range map[int]bool{0: true, 1: false, 2: true, 3: true} {
		t.Run(strconv.Itoa(most), func(t *testing.T) {
			inWorld(t, nil, func(t *testing.T, w *world) {
				w.defines(api.AgentDefinition{Name: agentName, MaxSteps: most})
				w.work(one(poller), one(poller))
				a := w.begin()
				s := w.over(a.Turn)
				if done := s.Step; good != (s.End.Status == utp.StatusSuccess) || good != (done == 2) {
					t.Errorf("%d steps: it ended %+v after %d", most, s.End, done)
				}
				if !good && (s.End.Code != utp.CodeTooManySteps || s.Step != most || w.told("it took as many steps as it may") == 0) {
					t.Errorf("%d steps: it ended %+v after step %d", most, s.End, s.Step)
				}
			})
		})
	}
}

func freely(names ...string) []rulebook.Rule {
	var rules []rulebook.Rule
	for _, name := range names {
		rules = append(rules, ofTool(name, turn.Allow))
	}
	return rules
}

// TestMustEndWith: a turn succeeds only if its last call is one that its agent has to end with, and succeeded.
func TestMustEndWith(t *testing.T) {
	two := append(one(poller), one(paint)...)
	two[1].Key = "k2"
	for _, tt := range []struct {
		name  string
		must  []string
		steps [][]worker.Call
		good  bool
	}{
		{"nothing is said", nil, nil, true},
		{"an empty list", []string{}, nil, true},
		{"it is the last", []string{poller}, [][]worker.Call{one(put), one(poller)}, true},
		{"by the beginning of its name", []string{"lo*"}, [][]worker.Call{one(poller)}, true},
		{"another is the last", []string{poller}, [][]worker.Call{one(poller), one(put)}, false},
		{"no call at all", []string{poller}, nil, false},
		{"one of those of the last step", []string{poller}, [][]worker.Call{two}, true},
		{"it failed", []string{unknown}, [][]worker.Call{one(unknown)}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			inWorld(t, func(w *world) { w.rules = freely(put, paint) }, func(t *testing.T, w *world) {
				w.defines(api.AgentDefinition{Name: agentName, MustEndWith: tt.must})
				w.work(tt.steps...)
				s := w.over(w.begin().Turn)
				if tt.good != (s.End.Code != utp.CodeMustEndWith) || tt.good != s.End.Completes() {
					t.Errorf("it ended %+v", s.End)
				}
				if !tt.good && w.told("it ended without the call that it has to end with") == 0 {
					t.Errorf("nobody is told:\n%s", w.tale())
				}
			})
		})
	}
}

// TestMustEndWithOutside: so it is for an external program that ends its session.
func TestMustEndWithOutside(t *testing.T) {
	for last, good := range map[string]bool{poller: true, put: false} {
		t.Run(last, func(t *testing.T) {
			inWorld(t, func(w *world) { w.rules = freely(put) }, func(t *testing.T, w *world) {
				w.defines(api.AgentDefinition{Name: programName, MustEndWith: []string{poller}})
				p := w.program()
				for i, name := range []string{put, poller, last} {
					p.ends(p.asked(name, named(strconv.Itoa(i))).Call)
				}
				p.closes()
				if s := w.over(p.turn); good != s.End.Completes() {
					t.Errorf("after %s it ended %+v", last, s.End)
				}
			})
		})
	}
}

// TestMustEndWithTerminates: a call that ends the turn by itself is held to it, too.
func TestMustEndWithTerminates(t *testing.T) {
	for must, code := range map[string]utp.Code{"last": "", poller: utp.CodeMustEndWith} {
		t.Run(must, func(t *testing.T) {
			inWorld(t, func(w *world) { w.rules = freely("last") }, func(t *testing.T, w *world) {
				d := definition("last", utp.Read, `{}`)
				d.AfterExecution = utp.Terminate
				w.post(d, nil)
				w.defines(api.AgentDefinition{Name: agentName, MustEndWith: []string{must}})
				w.work(one("last"))
				if s := w.over(w.begin().Turn); s.Status != turn.Ended || s.End.Code != code {
					t.Errorf("held to %s it ended %+v", must, s.End)
				}
			})
		})
	}
}
