package kernel_test

import (
	"context"
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/kernel"
	"github.com/earshot-dev/earshot/internal/kernel/turn"
	"github.com/earshot-dev/earshot/utp"
	"github.com/earshot-dev/earshot/worker"
)

// clerk is the agent that others ask.
const clerk = "clerk"

// asks is a step of one call of a tool that has others do something.
func asks(tool string, args map[string]any) []worker.Call {
	return []worker.Call{{Key: "k1", Tool: tool, Args: args}}
}

// tasks are as many for the clerk.
func tasks(n int, more map[string]any) map[string]any {
	var all []map[string]any
	for i := range n {
		all = append(all, map[string]any{"target_strategy": "new", "target_ref": clerk, "instruction": fmt.Sprint("file part ", i)})
	}
	args := map[string]any{"tasks": all}
	maps.Copy(args, more)
	return args
}

// clerkClaims is a worker of the clerk that claims a turn; the zero value if there is none.
func (w *world) clerkClaims(name string) api.ClaimAnswer {
	w.t.Helper()
	var a api.ClaimAnswer
	if err := w.as(kernel.AgentCaller, clerk, api.OpClaim, api.ClaimRequest{Agent: clerk, Worker: name}, &a); err != nil {
		w.t.Fatal(err)
	}
	return a
}

// clerkEnds is a worker of the clerk that ends its turn.
func (w *world) clerkEnds(a api.ClaimAnswer, name string, status utp.Status, output string) {
	w.t.Helper()
	q := api.DeliverRequest{WorkerRequest: a.WorkerRequest(name), Status: status, Summary: "filed", Output: output}
	if status != utp.StatusSuccess {
		q.Code, q.Summary = utp.CodeInternalError, "the cabinet is locked"
	}
	if err := w.as(kernel.AgentCaller, clerk, api.OpDeliver, q, nil); err != nil {
		w.t.Fatal(err)
	}
}

// children are the turns within a turn, in the order in which they began.
func (w *world) children(parent string) []turn.State {
	w.t.Helper()
	var all []turn.State
	for _, row := range w.query(w.now.path, `SELECT turn_id FROM turns ORDER BY turn_id`) {
		if s := w.turn(row[0]); s.Parent == parent {
			all = append(all, s)
		}
	}
	return all
}

// delegationResult is the result of the one call of a turn.
func (w *world) delegationResult(id string) (r struct {
	Status  string `json:"status"`
	Agent   string `json:"agent_id"`
	Turn    string `json:"agent_turn_id"`
	Output  string `json:"output"`
	Summary string `json:"summary"`
	Results []struct {
		Index  int        `json:"task_index"`
		Status utp.Status `json:"status"`
		Output string     `json:"output"`
		Error  struct {
			Code utp.Code `json:"code"`
		} `json:"error"`
	} `json:"results"`
},
) {
	w.t.Helper()
	card := w.cell(`SELECT content FROM cards WHERE card_id = ?`, w.last(id).Outcome.Card)
	var content struct {
		Result jsontext.Value `json:"result"`
	}
	if err := json.Unmarshal([]byte(card), &content); err != nil {
		w.t.Fatal(err)
	}
	if err := json.Unmarshal(content.Result, &r); err != nil {
		w.t.Fatalf("%v: %s", err, card)
	}
	return r
}

func mayAskClerk(w *world) { w.starts = []string{clerk} }

// TestAskExpert: an agent asks another one, waits for it, and gets its answer. The child has the same owner, is one deeper,
// and says within which session it is.
func TestAskExpert(t *testing.T) {
	inWorld(t, mayAskClerk, func(t *testing.T, w *world) {
		w.work(asks("ask_expert", map[string]any{"expert_profile": clerk, "question": "Where is the invoice?"}))
		a := w.begin()
		c := w.reaches(a.Turn, turn.Started)
		claimed := w.clerkClaims("c1")
		child := w.turn(claimed.Turn)
		if string(claimed.Args) != `{"text":"Where is the invoice?"}` || child.Owner != person || child.Parent != a.Turn || child.Depth != 1 ||
			child.Within.Session != a.Session || child.Within.Spawner != agentName || child.Within.Call != c.ID || child.Correlation != c.ID+"/0" {
			t.Errorf("the child is %+v with %s", child, claimed.Args)
		}
		w.clerkEnds(claimed, "c1", utp.StatusSuccess, "In the second drawer.")
		w.succeeded(a.Turn)
		if r := w.delegationResult(a.Turn); r.Status != "success" || r.Output != "In the second drawer." || r.Summary != "filed" || r.Turn != claimed.Turn {
			t.Errorf("the result is %+v", r)
		}
	})
}

// TestDelegateAsync: an agent has another one do something and goes on. The child outlives its turn, and a stop of the turn
// while it is open reaches the child.
func TestDelegateAsync(t *testing.T) {
	for _, tool := range []string{"delegate_async", "launch_principal"} {
		args := map[string]any{"target_strategy": "new", "target_ref": clerk, "instruction": "file it"}
		if tool == "launch_principal" {
			args = map[string]any{"profile_name": clerk, "instruction": "file it"}
		}
		t.Run(tool, func(t *testing.T) {
			inWorld(t, mayAskClerk, func(t *testing.T, w *world) {
				w.work(asks(tool, args))
				a := w.begin()
				w.succeeded(a.Turn)
				r := w.delegationResult(a.Turn)
				claimed := w.clerkClaims("c1")
				if r.Status != "accepted" || r.Agent != clerk || r.Turn != claimed.Turn {
					t.Errorf("the result is %+v; want the turn %s", r, claimed.Turn)
				}
				w.clerkEnds(claimed, "c1", utp.StatusSuccess, "")
			})
		})
		t.Run(tool+", stopped", func(t *testing.T) {
			inWorld(t, mayAskClerk, func(t *testing.T, w *world) {
				w.work(asks(tool, args), one(burn))
				a := w.begin()
				w.asked() // the turn has gone on
				claimed := w.clerkClaims("c1")
				w.stops(a)
				w.over(a.Turn)
				if s := w.over(claimed.Turn); s.Stop == nil || s.Stop.By != person || s.End.Status != utp.StatusCanceled {
					t.Errorf("the child ended %+v", s.End)
				}
			})
		})
	}
}

// stops is the person stopping a session.
func (w *world) stops(a api.EnqueueAnswer) {
	w.t.Helper()
	if _, err := w.hub.Stop(w.ctx, api.ReplyRequest{Session: a.Session, By: person, Surface: "terminal", Reason: "enough"}); err != nil {
		w.t.Fatal(err)
	}
}

// TestForkJoin: several children, whose results stand in the order of their tasks however they end.
func TestForkJoin(t *testing.T) {
	for _, tt := range []struct {
		name   string
		more   map[string]any
		fails  int // the index of the one that fails; -1 is none
		ends   []int
		status utp.Status
		each   []utp.Status
	}{
		{"all succeed", nil, -1, []int{2, 0, 1}, utp.StatusSuccess, []utp.Status{"success", "success", "success"}},
		{"one fails", nil, 1, []int{1, 2, 0}, utp.StatusPartial, []utp.Status{"success", "failed", "success"}},
		{"the first failure ends it", map[string]any{"fail_fast": true}, 1, []int{2, 1}, utp.StatusPartial, []utp.Status{"canceled", "failed", "success"}},
		{"its time is over", map[string]any{"deadline_seconds": 60}, -1, []int{1}, utp.StatusTimeout, []utp.Status{"timeout", "success", "timeout"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			inWorld(t, mayAskClerk, func(t *testing.T, w *world) {
				w.work(asks("fork_join", tasks(3, tt.more)))
				a := w.begin()
				w.reaches(a.Turn, turn.Started)
				claimed := map[int]api.ClaimAnswer{}
				for i := range 3 {
					one := w.clerkClaims(fmt.Sprint("c", i))
					claimed[w.turn(one.Turn).Within.Index] = one
				}
				for _, i := range tt.ends {
					status := utp.StatusSuccess
					if i == tt.fails {
						status = utp.StatusFailed
					}
					w.clerkEnds(claimed[i], w.turn(claimed[i].Turn).Worker, status, fmt.Sprint("part ", i))
				}
				w.succeeded(a.Turn)
				if c := w.last(a.Turn); c.Outcome.Status != tt.status {
					t.Errorf("the call ended %+v; want %s", c.Outcome, tt.status)
				}
				r := w.delegationResult(a.Turn)
				for i, want := range tt.each {
					if got := r.Results[i]; got.Index != i || got.Status != want || got.Status == "success" && got.Output != fmt.Sprint("part ", i) {
						t.Errorf("result %d is %+v; want %s", i, got, want)
					}
				}
				for _, child := range w.children(a.Turn) {
					w.over(child.Turn) // none survives
				}
			})
		})
	}
}

// TestStopReachesChildren: a stop of a turn, and its deadline, end every turn below it, however deep, before it ends itself.
func TestStopReachesChildren(t *testing.T) {
	for _, cause := range []string{"stop", "deadline"} {
		t.Run(cause, func(t *testing.T) {
			inWorld(t, mayAskClerk, func(t *testing.T, w *world) {
				w.work(asks("fork_join", tasks(2, nil)))
				a, err := w.hub.Enqueue(w.ctx, api.EnqueueRequest{Agent: agentName, Args: jsontext.Value(`{}`), Deadline: 120})
				if err != nil {
					t.Fatal(err)
				}
				w.reaches(a.Turn, turn.Started)
				below := w.clerkClaims("c1")
				q := api.CallRequest{WorkerRequest: below.WorkerRequest("c1"), Step: 1, Calls: []api.ToolCall{{
					Key: "deeper", Tool: "ask_expert", Args: api.Body{Inline: jsontext.Value(`{"expert_profile":"clerk","question":"and you?"}`)},
				}}}
				if err := w.as(kernel.AgentCaller, clerk, api.OpCall, q, nil); err != nil {
					t.Fatal(err)
				}
				if n := w.cell(`SELECT count(*) FROM turns`); n != "4" {
					t.Fatalf("%s turns; want 4", n)
				}
				code := utp.CodeStopped
				if cause == "stop" {
					w.stops(a)
				} else {
					code = utp.CodeDeadlineExceeded
				}
				if s := w.over(a.Turn); s.End.Code != code {
					t.Errorf("it ended %+v", s.End)
				}
				if n := w.cell(`SELECT count(*) FROM turns WHERE status != 'ended'`); n != "0" {
					t.Errorf("%s turns have survived", n)
				}
			})
		})
	}
}

// TestChildRefused: a child that may not begin is a failed task with a code. Nothing is started, and the turn goes on.
func TestChildRefused(t *testing.T) {
	for _, tt := range []struct {
		name  string
		agent string
		setup func(*world)
		code  utp.Code
	}{
		{"an agent that may not be asked", "scout", func(*world) {}, utp.CodeAuthFailed},
		{"the operator", api.OperatorAgent, func(*world) {}, utp.CodeAuthFailed},
		{"an agent that is not active", clerk, func(w *world) { w.defines(inactive(clerk)) }, utp.CodeAgentInactive},
		{"no name of an agent", "two words", func(*world) {}, utp.CodeBadRequest},
		{"a definition that names another", clerk, func(w *world) { w.defines(api.AgentDefinition{Name: agentName, MayAsk: []string{"scout"}}) }, utp.CodeAuthFailed},
		{"a definition without the tool", clerk, func(w *world) { w.defines(api.AgentDefinition{Name: agentName, Tools: []string{"files.*"}}) }, utp.CodeAuthFailed},
	} {
		t.Run(tt.name, func(t *testing.T) {
			inWorld(t, mayAskClerk, func(t *testing.T, w *world) {
				tt.setup(w)
				w.work(asks("ask_expert", map[string]any{"expert_profile": tt.agent, "question": "who?"}))
				a := w.begin()
				w.succeeded(a.Turn)
				if o := w.last(a.Turn).Outcome; o.Status != utp.StatusFailed || o.Code != tt.code {
					t.Errorf("the call ended %+v; want %s", o, tt.code)
				}
				if n := w.cell(`SELECT count(*) FROM turns`); n != "1" {
					t.Errorf("%s turns; want 1", n)
				}
			})
		})
	}
}

// TestNoNewAgents (UTP, "Tools of the PMO"): an agent makes no agents. The call says what to do instead, and that is how
// work gets done side by side: by an agent that there is.
func TestNoNewAgents(t *testing.T) {
	for _, tt := range []struct {
		tool string
		args map[string]any
		code utp.Code
		says string
	}{
		{"provision_agent", map[string]any{"action": "create", "agent_id": "clerk2", "profile_name": clerk}, utp.CodeUnknownTool, "`earshot agents add`"},
		{"delegate_async", map[string]any{"target_strategy": "clone", "target_ref": clerk, "instruction": "file it"}, utp.CodeBadRequest, "target_strategy"},
	} {
		t.Run(tt.tool, func(t *testing.T) {
			inWorld(t, mayAskClerk, func(t *testing.T, w *world) {
				w.work(asks(tt.tool, tt.args), asks("fork_join", tasks(2, nil)))
				a := w.begin()
				w.until("the children are to begin", func() bool { return len(w.children(a.Turn)) == 2 })
				first, second := w.clerkClaims("c1"), w.clerkClaims("c2") // side by side
				if first.Turn == "" || second.Turn == "" {
					t.Fatalf("claimed %q and %q", first.Turn, second.Turn)
				}
				w.clerkEnds(first, "c1", utp.StatusSuccess, "")
				w.clerkEnds(second, "c2", utp.StatusSuccess, "")
				w.succeeded(a.Turn)
				results := w.cell(`SELECT group_concat(content) FROM cards WHERE type = 'tool.result'`)
				if !strings.Contains(results, string(tt.code)) || !strings.Contains(results, tt.says) {
					t.Errorf("the results are %s; want %s, with %q", results, tt.code, tt.says)
				}
				if n := w.cell(`SELECT count(*) FROM agents`); n != "0" {
					t.Errorf("%s agents are defined", n)
				}
			})
		})
	}
}

// TestChildTooDeep (UTP, "Depth"): a child that would be nested too deeply is a failed task, and its turn goes on.
func TestChildTooDeep(t *testing.T) {
	inWorld(t, mayAskClerk, func(t *testing.T, w *world) {
		w.work(asks("ask_expert", map[string]any{"expert_profile": clerk, "question": "who?"}))
		a, err := w.hub.Enqueue(w.ctx, api.EnqueueRequest{Agent: agentName, Args: jsontext.Value(`{}`), Depth: turn.MaxDepth - 1})
		if err != nil {
			t.Fatal(err)
		}
		w.succeeded(a.Turn)
		if o := w.last(a.Turn).Outcome; o.Code != utp.CodeRecursionDepthExceeded {
			t.Errorf("the call ended %+v", o)
		}
	})
}

// TestChildrenSurviveCrash: whenever the kernel dies, each child begins once, and its end reaches the call.
func TestChildrenSurviveCrash(t *testing.T) {
	inWorld(t, mayAskClerk, func(t *testing.T, w *world) {
		t.Attr("counts", "turns")
		a := w.begin()                          // before the worker, so that the answer has come when the kernel dies
		w.now.dieWhenReaching("invoked.logged") // the children are saved with the call
		w.work(asks("fork_join", tasks(4, nil)))
		w.dies()
		w.restart()
		w.reaches(a.Turn, turn.Started)
		for i := range 4 {
			name := fmt.Sprint("c", i)
			claimed := w.clerkClaims(name)
			if claimed.Turn == "" {
				t.Fatalf("child %d is not there", i)
			}
			w.clerkEnds(claimed, name, utp.StatusSuccess, "")
			if i == 1 {
				w.restart()
			}
		}
		w.succeeded(a.Turn)
		if n := len(w.children(a.Turn)); n != 4 {
			t.Errorf("%d children; want 4", n)
		}
		w.pass(time.Second)
	})
}

// TestConsentIsNotInherited: a yes to what a turn wants to do says nothing about the turns below it. What these want is
// asked under the name of their own agent, with the session that they work within, and a no there is only theirs.
func TestConsentIsNotInherited(t *testing.T) {
	inWorld(t, mayAskClerk, func(t *testing.T, w *world) {
		t.Attr("counts", "consents")
		w.work(one(burn), asks("ask_expert", map[string]any{"expert_profile": clerk, "question": "burn it as well"}))
		a := w.begin()
		own := w.accepts()
		w.until("the clerk's turn is to begin", func() bool { return len(w.children(a.Turn)) == 1 })
		w.effectsAre(1)
		claimed := w.clerkClaims("c1")
		q := api.CallRequest{WorkerRequest: claimed.WorkerRequest("c1"), Step: 1, Calls: []api.ToolCall{{
			Key: "k1", Tool: burn, Args: api.Body{Inline: jsontext.Value(`{"name":"x"}`)}, // word for word what was said yes to
		}}}
		if err := w.as(kernel.AgentCaller, clerk, api.OpCall, q, nil); err != nil {
			t.Fatal(err)
		}
		asked := w.asked()
		if asked.Number == own.Number || asked.Session != claimed.Session {
			t.Errorf("question %d is of %s; want another one than %d, of %s", asked.Number, asked.Session, own.Number, claimed.Session)
		}
		body := w.cell(`SELECT body FROM events WHERE session_id = ? AND seq = 1`, claimed.Session)
		for _, want := range []string{`"agent_id":"earshot.clerk"`, `"requested_by":"tidy"`, `"parent_session_id":"` + a.Session + `"`} {
			if !strings.Contains(body, want) {
				t.Errorf("the child has begun as %s; want %s", body, want)
			}
		}
		w.effectsAre(1)
		w.say(asked, "reject")
		w.clerkEnds(w.clerkResumes("c1"), "c1", utp.StatusSuccess, "I may not.")
		w.succeeded(a.Turn)
		w.effectsAre(1)
	})
}

// clerkResumes is the claim of a worker of the clerk after the results of its step.
func (w *world) clerkResumes(name string) api.ClaimAnswer {
	w.t.Helper()
	w.settle()
	return w.clerkClaims(name)
}

// TestWaitingGivesPlace: a turn that waits only for turns of other agents leaves its place to them. As many turns as the
// agent may have under way, each waiting for another one of the same agent, would stand still until their deadlines.
func TestWaitingGivesPlace(t *testing.T) {
	inWorld(t, func(w *world) { w.active, w.seats = 2, 8 }, func(t *testing.T, w *world) {
		w.workWithin(func(ctx context.Context) worker.Planner {
			if worker.TurnOf(ctx).Depth == 2 {
				return &planner{}
			}
			return &planner{steps: [][]worker.Call{asks("ask_expert", map[string]any{"expert_profile": agentName, "question": "and below?"})}}
		})
		first, second := w.begin(), w.begin()
		began := w.clock.now()
		w.succeeded(first.Turn)
		w.succeeded(second.Turn)
		if took := w.clock.now().Sub(began); took > time.Minute {
			t.Errorf("they took %v", took)
		}
		if n := w.cell(`SELECT count(*) FROM turns`); n != "6" {
			t.Errorf("%s turns; want 6", n)
		}
	})
}

// TestHandedToItself: a turn that hands a task to its own agent without waiting for it keeps its place. Where the turns above
// the task hold all of them it is a failed task, and nothing is started; where one of them waits for it, it begins.
func TestHandedToItself(t *testing.T) {
	self := map[string]map[string]any{
		"delegate_async":   {"target_strategy": "new", "target_ref": agentName, "instruction": "file it"},
		"launch_principal": {"profile_name": agentName, "instruction": "file it"},
	}
	for tool, args := range self {
		t.Run(tool, func(t *testing.T) {
			inWorld(t, func(w *world) { w.active = 1 }, func(t *testing.T, w *world) {
				w.work(asks(tool, args))
				a := w.begin()
				w.succeeded(a.Turn)
				o := w.last(a.Turn).Outcome
				if o.Status != utp.StatusFailed || o.Code != utp.CodeTooManyTurns || !strings.Contains(o.Message, "--max-active") {
					t.Errorf("the call ended %+v; want %s and what to do", o, utp.CodeTooManyTurns)
				}
				if n := w.cell(`SELECT count(*) FROM turns`); n != "1" {
					t.Errorf("%s turns; want 1", n)
				}
			})
		})
	}
	t.Run("a place is left", func(t *testing.T) {
		inWorld(t, func(w *world) { w.active = 2 }, func(t *testing.T, w *world) {
			w.workWithin(func(ctx context.Context) worker.Planner {
				if worker.TurnOf(ctx).Depth > 0 {
					return &planner{}
				}
				return &planner{steps: [][]worker.Call{asks("delegate_async", self["delegate_async"])}}
			})
			a := w.begin()
			w.succeeded(a.Turn)
			for _, child := range w.children(a.Turn) {
				w.succeeded(child.Turn)
			}
			if n := len(w.children(a.Turn)); n != 1 {
				t.Errorf("%d children; want 1", n)
			}
		})
	})
	t.Run("through one that is waited for", func(t *testing.T) {
		inWorld(t, func(w *world) { w.active, w.starts, w.unended = 1, []string{clerk, agentName}, true }, func(t *testing.T, w *world) {
			w.work(asks("ask_expert", map[string]any{"expert_profile": clerk, "question": "who?"}))
			a := w.begin()
			w.reaches(a.Turn, turn.Started)
			below := w.clerkClaims("c1")
			q := api.CallRequest{WorkerRequest: below.WorkerRequest("c1"), Step: 1, Calls: []api.ToolCall{{
				Key: "back", Tool: "delegate_async", Args: api.Body{Inline: jsontext.Value(`{"target_strategy":"new","target_ref":"` + agentName + `","instruction":"file it"}`)},
			}}}
			if err := w.as(kernel.AgentCaller, clerk, api.OpCall, q, nil); err != nil {
				t.Fatal(err)
			}
			if n := len(w.children(below.Turn)); n != 1 {
				t.Errorf("%d turns within the one that is waited for; want 1", n)
			}
		})
	})
}

// TestDamagedDelegation: where the arguments of a call that others do, or the answer of one of them, cannot be read any more, the
// other agent's turn still ends, and so does the call, with what can be read.
func TestDamagedDelegation(t *testing.T) {
	for name, damage := range map[string]string{
		"arguments cut short": `UPDATE cards SET content = '{"tool' WHERE type = 'tool.call'`,
		"arguments gone":      `DELETE FROM cards WHERE type = 'tool.call'`,
		"answer cut short":    `UPDATE cards SET content = '{"te' WHERE type = 'earshot.answer'`,
	} {
		t.Run(name, func(t *testing.T) {
			onDisk(t, mayAskClerk, func(t *testing.T, w *world) {
				w.work(asks("fork_join", tasks(2, nil)))
				a := w.begin()
				w.reaches(a.Turn, turn.Started)
				w.clerkEnds(w.clerkClaims("c1"), "c1", utp.StatusSuccess, "part one")
				last := w.clerkClaims("c2")
				w.tamper(damage)
				w.clerkEnds(last, "c2", utp.StatusSuccess, "part two")
				if s := w.turn(last.Turn); s.Status != turn.Ended || s.End.Status != utp.StatusSuccess {
					t.Errorf("the other agent's turn is %s %+v", s.Status, s.End)
				}
				w.over(a.Turn)
				r := w.delegationResult(a.Turn)
				if len(r.Results) != 2 || r.Results[1].Status != utp.StatusSuccess || r.Results[1].Output != "part two" {
					t.Fatalf("the result is %+v", r)
				}
				first := r.Results[0]
				if lost := name == "answer cut short"; lost != (first.Error.Code == utp.CodeStorageError) || lost == (first.Output == "part one") {
					t.Errorf("the first result is %+v", first)
				}
			})
		})
	}
}

// TestParts: who has a session open sees what it is a part of, and which sessions are parts of it, however deep and whether they
// have ended or not.
func TestParts(t *testing.T) {
	inWorld(t, mayAskClerk, func(t *testing.T, w *world) {
		w.work(asks("fork_join", tasks(2, nil)))
		a := w.begin()
		w.reaches(a.Turn, turn.Started)
		first, second := w.clerkClaims("c0"), w.clerkClaims("c1")
		if w.turn(first.Turn).Within.Index > w.turn(second.Turn).Within.Index {
			first, second = second, first
		}
		err := w.as(kernel.AgentCaller, clerk, api.OpCall, api.CallRequest{
			WorkerRequest: second.WorkerRequest(w.turn(second.Turn).Worker), Step: 1,
			Calls: []api.ToolCall{{Key: "k1", Tool: "ask_expert", Args: api.Body{Inline: jsontext.Value(`{"expert_profile":"clerk","question":"Where?"}`)}}},
		}, nil)
		if err != nil {
			t.Fatal(err)
		}
		third := w.clerkClaims("c2")
		w.clerkEnds(first, w.turn(first.Turn).Worker, utp.StatusSuccess, "")
		top := w.parts(a.Session)
		if len(top.Parts) != 2 || top.PartOf != nil || top.MoreParts {
			t.Fatalf("found %+v", top)
		}
		if one := top.Parts[0]; one.Turn != first.Turn || one.Agent != clerk || one.Name == "" || one.Request != "file part 0" || one.Status != string(turn.Ended) || one.Result != utp.StatusSuccess || one.Parts != nil {
			t.Errorf("the first part is %+v", one)
		}
		if two := top.Parts[1]; two.Turn != second.Turn || two.Result != "" || len(two.Parts) != 1 || two.Parts[0].Turn != third.Turn {
			t.Errorf("the second part is %+v", two)
		}
		if below := w.parts(w.turn(third.Turn).Session); below.PartOf == nil || below.PartOf.Turn != second.Turn || below.Parts != nil {
			t.Errorf("the third one is %+v", below)
		}
		w.stops(a)
		if two := w.parts(a.Session).Parts[1]; two.Result != utp.StatusCanceled {
			t.Errorf("after the stop it is %+v", two)
		}
	})
}

// parts is a session with its parts.
func (w *world) parts(session string) api.SessionRow {
	w.t.Helper()
	var rows []api.SessionRow
	if err := w.as(kernel.HubCaller, "", api.OpSessions, api.SessionsRequest{Session: session, Parts: true}, &rows); err != nil || len(rows) != 1 {
		w.t.Fatal(rows, err)
	}
	return rows[0]
}
