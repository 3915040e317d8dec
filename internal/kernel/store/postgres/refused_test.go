package postgres_test

import (
	"errors"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/kernel"
	"github.com/earshot-dev/earshot/internal/rpc"
	"github.com/earshot-dev/earshot/utp"
)

// TestBadInput: an agent that cannot be, a cycle of agents, turns nested too deep, another project, a malformed batch, an agent
// that may not be asked and a tool that does not exist are refused with their codes. Nothing is begun for them, and the turn
// that asked goes on to its end.
func TestBadInput(t *testing.T) {
	t.Parallel()
	w := &town{t: t, effects: map[string]int{}, active: 1}
	w.open(nowhere(t))
	hub := peer{w, kernel.Caller{Kind: kernel.HubCaller, Name: "ada"}}
	agent := peer{w, kernel.Caller{Kind: kernel.AgentCaller, Name: "tidy"}}
	screen := peer{w, kernel.Caller{Kind: kernel.ExternalCaller, Name: "screen"}}
	ask := func(p peer, op string, q, a any) {
		t.Helper()
		if err := rpc.Ask(t.Context(), p, op, q, a); err != nil {
			t.Fatalf("%s: %v", op, err)
		}
	}
	begin := api.EnqueueRequest{Agent: "tidy", Args: jsontext.Value(`{}`), Owner: "ada"}
	var root api.EnqueueAnswer
	ask(hub, api.OpEnqueue, begin, &root)
	var claimed api.ClaimAnswer
	ask(agent, api.OpClaim, api.ClaimRequest{Agent: "tidy", Worker: "wrk_0"}, &claimed)
	at := claimed.WorkerRequest("wrk_0")
	unknown, deep, orphan := begin, begin, begin
	unknown.Agent, deep.Depth, orphan.Parent = "no agent", 20, "turn_of_nobody"
	for name, tt := range map[string]struct {
		who  peer
		op   string
		q    any
		code utp.Code
	}{
		"an agent that cannot be": {hub, api.OpEnqueue, unknown, utp.CodeBadRequest},
		"too deep":                {hub, api.OpEnqueue, deep, utp.CodeRecursionDepthExceeded},
		"no such parent":          {hub, api.OpEnqueue, orphan, utp.CodeNotFound},
		"a cycle":                 {agent, api.OpSpawn, api.SpawnRequest{Worker: &at, Agent: "tidy", Args: jsontext.Value(`{}`), Correlation: "c1"}, utp.CodeTooManyTurns},
		"one not to be asked":     {agent, api.OpSpawn, api.SpawnRequest{Worker: &at, Agent: "clerk", Args: jsontext.Value(`{}`), Correlation: "c2"}, utp.CodeAuthFailed},
		"another project": {screen, api.OpUIAction, utp.Message{
			Header: map[string][]string{utp.HeaderProjectID: {"another"}}, Payload: []byte(`{"action_id":"a","tool_name":"look","args":{}}`),
		}, utp.CodeBadRequest},
	} {
		refused, is := errors.AsType[*api.Fault](rpc.Ask(t.Context(), tt.who, tt.op, tt.q, nil))
		if !is || refused.Code != tt.code {
			t.Errorf("%s: %v; want %s", name, refused, tt.code)
		}
	}
	var calls []api.ToolCall
	want := map[string]utp.Code{}
	for _, c := range []struct {
		key, tool, args string
		code            utp.Code
	}{
		{"k1", "nothing", `{}`, utp.CodeUnknownTool},
		{"k2", "fork_join", `{"tasks":[]}`, utp.CodeBadRequest},
		{"k3", "fork_join", `{"tasks":[{"target_strategy":"new","target_ref":"tidy"}]}`, utp.CodeBadRequest},
		{"k4", "fork_join", `{"tasks":[{"target_strategy":"clone","target_ref":"tidy","instruction":"x"}]}`, utp.CodeBadRequest},
		{"k5", "ask_expert", `{"expert_profile":"clerk","question":"x"}`, utp.CodeAuthFailed},
	} {
		calls = append(calls, api.ToolCall{Key: c.key, Tool: c.tool, Args: api.Body{Inline: jsontext.Value(c.args)}})
		want[c.key] = c.code
	}
	ask(agent, api.OpCall, api.CallRequest{WorkerRequest: at, Step: 1, Calls: calls}, nil)
	var resumed api.ResumeAnswer
	ask(agent, api.OpResume, api.TranscriptRequest{WorkerRequest: at}, &resumed)
	if len(resumed.Results) != len(calls) {
		t.Fatalf("%d results; want %d", len(resumed.Results), len(calls))
	}
	for _, r := range resumed.Results {
		if r.Status != utp.StatusFailed || r.Code != want[r.Key] {
			t.Errorf("%s is %s, %s; want failed, %s", r.Key, r.Status, r.Code, want[r.Key])
		}
	}
	var sessions []api.SessionRow
	if ask(hub, api.OpSessions, api.SessionsRequest{}, &sessions); len(sessions) != 1 {
		t.Errorf("%d turns; want the one", len(sessions))
	}
	at.Epoch, at.Nonce = resumed.Epoch, resumed.Nonce
	ask(agent, api.OpDeliver, api.DeliverRequest{WorkerRequest: at, Status: utp.StatusSuccess, Summary: "done"}, nil)
}
