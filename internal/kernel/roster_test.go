package kernel_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/kernel"
	"github.com/earshot-dev/earshot/internal/kernel/turn"
	"github.com/earshot-dev/earshot/internal/rpc"
	"github.com/earshot-dev/earshot/utp"
)

// notAmong is what people are told of a call that the definition of the agent leaves out.
const notAmong = "was not run: this agent may not use it; an operator can allow it."

// defines records the definition of an agent, in place of the one that is there.
func (w *world) defines(d api.AgentDefinition) {
	w.t.Helper()
	before := ""
	if known, err := operate[api.AgentsAnswer](w, api.OpAgents, api.AgentsRequest{Name: d.Name}); err == nil {
		before = known.Agents[0].Digest
	}
	if _, err := operate[api.AgentDetail](w, api.OpDefineAgent, api.DefineAgentRequest{Definition: d, Before: before, By: "ann"}); err != nil {
		w.t.Fatal(err)
	}
}

func inactive(name string) api.AgentDefinition {
	never := false
	return api.AgentDefinition{Name: name, Active: &never}
}

// offeredTo lists the tools that an agent is offered.
func (w *world) offeredTo(kind, name string) []string {
	w.t.Helper()
	q := api.OfferedRequest{Agent: name}
	conn := w.person
	if kind == kernel.AgentCaller {
		q.Agent, conn = "", w.bus.connect(kind, name)
	}
	var a api.OfferedAnswer
	if err := rpc.Ask(w.ctx, conn, api.OpOffered, q, &a); err != nil {
		w.t.Fatal(err)
	}
	var names []string
	for _, one := range a.Tools {
		names = append(names, one.Tool)
	}
	return names
}

// TestDefinedTools (UTP, conflicts B-2): what the definition of an agent leaves out is neither offered nor made when it is
// asked for, whoever planned it: it fails, nobody is asked, and nothing happens.
func TestDefinedTools(t *testing.T) {
	for _, tt := range []struct {
		name    string
		defined api.AgentDefinition
		made    bool
		offered []string
	}{
		{"of another agent", api.AgentDefinition{Name: "clerk", Tools: []string{}}, true, []string{burn, poller, paint, put, shred}},
		{"every tool", api.AgentDefinition{Name: agentName}, true, []string{burn, poller, paint, put, shred}},
		{"by name", api.AgentDefinition{Name: agentName, Tools: []string{put, burn}}, true, []string{burn, put}},
		{"by the beginning of names", api.AgentDefinition{Name: agentName, Tools: []string{"bu*"}}, true, []string{burn}},
		{"another tool", api.AgentDefinition{Name: agentName, Tools: []string{put, "burning"}}, false, []string{put}},
		{"no tool", api.AgentDefinition{Name: agentName, Tools: []string{}}, false, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			inWorld(t, nil, func(t *testing.T, w *world) {
				w.defines(tt.defined)
				if got := w.offeredTo(kernel.AgentCaller, agentName); !slices.Equal(got, tt.offered) {
					t.Errorf("a worker is offered %v, want %v", got, tt.offered)
				}
				if got := w.offeredTo(kernel.HubCaller, agentName); !slices.Equal(got, tt.offered) {
					t.Errorf("a program is offered %v, want %v", got, tt.offered)
				}
				w.work(one(burn))
				a := w.begin()
				if tt.made {
					w.accepts()
				}
				w.over(a.Turn)
				c := w.last(a.Turn)
				switch o := c.Outcome; {
				case tt.made && o.Status != utp.StatusSuccess, !tt.made && (o.Code != utp.CodeAuthFailed || c.State != turn.Closed):
					t.Errorf("the call ended %s: %+v", c.State, o)
				}
				want := 0
				if tt.made {
					want = 1
				}
				if n := len(w.effects.all()); n != want {
					t.Errorf("it happened %d times, want %d", n, want)
				}
				if !tt.made && w.told(notAmong) == 0 {
					t.Errorf("nobody is told why:\n%s", w.tale())
				}
			})
		})
	}
}

// TestDefinedMeanwhile: a stricter definition counts at once, also for a call that was asked about or accepted under a
// looser one.
func TestDefinedMeanwhile(t *testing.T) {
	for name, accepted := range map[string]bool{"while it is asked": false, "after the yes": true} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, nil, func(t *testing.T, w *world) {
				w.work(one(burn))
				a := w.begin()
				if accepted {
					w.accepts()
				} else {
					w.asked()
				}
				w.defines(api.AgentDefinition{Name: agentName, Tools: []string{put}})
				w.over(a.Turn)
				if o := w.last(a.Turn).Outcome; o.Code != utp.CodeDeniedByPolicy || len(w.effects.all()) > 0 {
					t.Errorf("the call ended %+v, with the effects %v", o, w.effects.all())
				}
			})
		})
	}
}

// TestDefinitionsAreChained: each change of a definition has an entry that names who made it, and what is refused has none.
func TestDefinitionsAreChained(t *testing.T) {
	inWorld(t, nil, func(t *testing.T, w *world) {
		define := func(q api.DefineAgentRequest) error {
			_, err := operate[api.AgentDetail](w, api.OpDefineAgent, q)
			return err
		}
		clerk := api.AgentDefinition{Name: "clerk", Tools: []string{"files.*"}, MayAsk: []string{}, MaxSteps: 4}
		w.defines(clerk)
		wantFault(t, define(api.DefineAgentRequest{Definition: clerk, Before: "another"}), utp.CodeConflict)
		wantFault(t, define(api.DefineAgentRequest{Definition: api.AgentDefinition{Name: "a b"}}), utp.CodeBadRequest)
		wantFault(t, define(api.DefineAgentRequest{Definition: api.AgentDefinition{Name: api.OperatorAgent}}), utp.CodeBadRequest)
		wantFault(t, define(api.DefineAgentRequest{Definition: api.AgentDefinition{Name: "clerk", Tools: []string{"fi*les"}}}), utp.CodeBadRequest)
		for _, wrong := range []int{-1, 201} {
			wantFault(t, define(api.DefineAgentRequest{Definition: api.AgentDefinition{Name: "clerk", MaxOpen: wrong}}), utp.CodeBadRequest)
		}
		clerk.Tools = nil
		w.defines(clerk)
		known, err := operate[api.AgentsAnswer](w, api.OpAgents, api.AgentsRequest{Name: "clerk"})
		if err != nil {
			t.Fatal(err)
		}
		remove := api.RemoveAgentRequest{Name: "clerk", By: "cid"}
		for _, remove.Before = range []string{"", "another"} { // nobody removes what they have not looked at
			_, err := operate[struct{}](w, api.OpRemoveAgent, remove)
			wantFault(t, err, utp.CodeConflict)
		}
		remove.Before = known.Agents[0].Digest
		if _, err := operate[struct{}](w, api.OpRemoveAgent, remove); err != nil {
			t.Fatal(err)
		}
		_, err = operate[struct{}](w, api.OpRemoveAgent, remove)
		wantFault(t, err, utp.CodeNotFound)
		for _, member := range []string{"tools", "may_ask", "must_end_with", "result_fields"} { // nobody can tell what it allows
			_, err := operate[api.AgentDetail](w, api.OpDefineAgent, jsontext.Value(`{"definition":{"name":"clerk","`+member+`":null}}`))
			wantFault(t, err, utp.CodeBadRequest)
			if !strings.Contains(err.Error(), "a list is null; expected a list of names, [] for none") {
				t.Errorf("%s: %v", member, err)
			}
		}
		var got []string
		for _, e := range w.chain() {
			if e.Act != nil && e.Act.Act == api.ActAgent {
				got = append(got, e.Act.Subject+" by "+e.Act.By+": "+e.Act.Detail)
			}
		}
		want := []string{
			"clerk by ann: uses files.*; asks no agent; takes 4 steps at most",
			"clerk by ann: uses every tool that the policy lets it use; asks no agent; takes 4 steps at most",
			"clerk by cid: ended",
		}
		if !slices.Equal(got, want) {
			t.Errorf("the chain has %q, want %q", got, want)
		}
	})
}
