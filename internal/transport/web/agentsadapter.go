package web

import (
	"context"
	"iter"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/hub"
)

// AgentsFromHub serves the external agents of a hub.
func AgentsFromHub(h *hub.Hub) Agents { return agentsAdapter{hub: h} }

// agentsAdapter converts the hub's requests and answers to the server's, and its errors to refusals.
type agentsAdapter struct{ hub *hub.Hub }

func (o agentsAdapter) Offered(ctx context.Context, who Principal) ([]api.OfferedTool, error) {
	tools, err := o.hub.AsAgent(who).Offered(ctx)
	return tools, refusal(err)
}

func (o agentsAdapter) Open(ctx context.Context, who Principal, q api.OpenRequest) (api.OpenAnswer, error) {
	a, err := o.hub.AsAgent(who).Open(ctx, q)
	return a, unstarted(err, q.Key != "")
}

func (o agentsAdapter) Act(ctx context.Context, who Principal, q api.ActRequest) (api.ActionAnswer, error) {
	a, err := o.hub.AsAgent(who).Act(ctx, q)
	return a, refusal(err)
}

func (o agentsAdapter) Session(ctx context.Context, who Principal, id string) (api.Session, error) {
	row, err := o.hub.AsAgent(who).Session(ctx, id)
	return session(row), refusal(err)
}

func (o agentsAdapter) Invoke(ctx context.Context, who Principal, q api.InvokeRequest, args jsontext.Value, wait Wait) (api.AgentCall, error) {
	agent := o.waiting(who, wait)
	s, err := agent.Invoke(ctx, q, args, wait.For)
	return call(ctx, agent, s, err)
}

func (o agentsAdapter) Await(ctx context.Context, who Principal, session, id string, wait Wait) (api.AgentCall, error) {
	agent := o.waiting(who, wait)
	s, err := agent.Await(ctx, session, id, wait.For)
	return call(ctx, agent, s, err)
}

func (o agentsAdapter) waiting(who Principal, wait Wait) *hub.Agent {
	agent := o.hub.AsAgent(who)
	if wait.Leaves {
		agent = agent.WithdrawOnLeave()
	}
	return agent
}

func (o agentsAdapter) Watch(ctx context.Context, who Principal, session, id string) iter.Seq2[api.AgentCall, error] {
	return func(yield func(api.AgentCall, error) bool) {
		agent := o.hub.AsAgent(who)
		for s, err := range agent.Watch(ctx, session, id) {
			if !yield(call(ctx, agent, s, err)) {
				return
			}
		}
	}
}

func (o agentsAdapter) Received(ctx context.Context, who Principal, session, id string) {
	o.hub.AsAgent(who).Received(ctx, session, id)
}

func (o agentsAdapter) Report(ctx context.Context, who Principal, q api.AgentReportRequest) error {
	err := o.hub.AsAgent(who).Report(ctx, q)
	once := q.Key != "" || q.Progress > 0 // progress that was reported before is not reported again
	return uncertain(err, once, "it is told once", "it may have been told already, so to send it again may tell it twice")
}

func (o agentsAdapter) Close(ctx context.Context, who Principal, q api.CloseRequest) error {
	return refusal(o.hub.AsAgent(who).Close(ctx, q))
}

// call returns the status of a call, with its whole result.
func call(ctx context.Context, agent *hub.Agent, s api.CallStatus, err error) (api.AgentCall, error) {
	c := api.AgentCall{
		ID: s.Call, Tool: s.Tool, State: s.State, Question: s.Question, AnswerBy: s.AnswerBy, Status: s.Status, Code: s.Code,
		Message: s.Explain(), Stopping: s.Stopping, Joined: s.Joined,
	}
	if err == nil && s.Ended() {
		c.Result, err = agent.Result(ctx, s)
		if echoes(c.Result) {
			c.Result = nil
		}
	}
	return c, refusal(err)
}

// echoes reports whether a result only repeats the error for readers of cards (utp, tool.result). An agent already has
// its code and message.
func echoes(result jsontext.Value) bool {
	var members map[string]jsontext.Value
	if result.Kind() != '{' || json.Unmarshal(result, &members) != nil || members["error_code"] == nil {
		return false
	}
	for _, name := range []string{"error_code", "error_message", "error_detail", "error"} {
		delete(members, name)
	}
	return len(members) == 0
}
