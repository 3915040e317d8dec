package server

import (
	"context"
	"fmt"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/utp"
	"github.com/earshot-dev/earshot/worker"
)

// operatorAgent makes a single call for an operator. It is an agent like any other: its call passes the same gate,
// under the name operator.
func operatorAgent() worker.Agent {
	return worker.Agent{Name: api.OperatorAgent, Plan: func(_ context.Context, raw jsontext.Value) (worker.Planner, error) {
		p := new(singleCall)
		if err := json.Unmarshal(raw, &p.args, json.RejectUnknownMembers(true)); err != nil {
			return nil, fmt.Errorf("operator: the turn's arguments: %w", err)
		}
		return p, nil
	}}
}

// singleCall plans one call, and answers with its outcome.
type singleCall struct {
	args   api.OperatorArgs
	result *worker.Result
}

const singleKey = "call"

func (p *singleCall) Observe(r worker.Result) error {
	p.result = &r
	return nil
}

func (p *singleCall) Next() (worker.Decision, error) {
	if p.result == nil {
		return worker.Decision{Calls: []worker.Call{{Key: singleKey, Tool: p.args.Tool, Args: p.args.Args, To: 100}}}, nil
	}
	r := p.result
	a := &worker.Answer{Status: r.Status, Code: r.Code, Summary: "The call of " + p.args.Tool + " ended: " + string(r.Status) + "."}
	if r.Message != "" {
		a.Output = r.Message
	}
	if r.Code == utp.CodeConsentDeclined { // a declined call is a valid answer
		a.Status, a.Code = utp.StatusSuccess, ""
	}
	return worker.Decision{Answer: a}, nil
}
