package tidy

import (
	"context"
	stdjson "encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/utp"
	"github.com/earshot-dev/earshot/worker"
)

// Name is the agent's name.
const Name = "tidy"

// Agent returns the agent for a worker.
func Agent() worker.Agent {
	return worker.Agent{Name: Name, Plan: func(ctx context.Context, raw jsontext.Value) (worker.Planner, error) {
		var args Args
		if err := json.Unmarshal(raw, &args, json.RejectUnknownMembers(true)); err != nil {
			return nil, fmt.Errorf("tidy: the turn's arguments: %w", err)
		}
		return &plan{planner: New(args), out: worker.Output(ctx)}, nil
	}}
}

// plan adapts a [Planner] to the worker.
type plan struct {
	planner *Planner
	out     io.Writer // writes text for people
}

// Observe implements worker.Planner. The planner itself knows which call it waits for.
func (p *plan) Observe(r worker.Result) error {
	move := p.planner.Next()
	if len(move.Calls) != 1 || move.Calls[0].Key != r.Key {
		return fmt.Errorf("tidy: a result of %q came out of turn", r.Key)
	}
	p.planner.Observe(move.Calls[0], Result{
		Output: stdjson.RawMessage(r.Value), Code: string(codeOf(r)), Message: r.Message,
	})
	return nil
}

// codeOf returns "" if the result itself shows what happened: a success, or a partial one.
func codeOf(r worker.Result) utp.Code {
	if r.Status == utp.StatusSuccess || r.Status == utp.StatusPartial && r.Code == utp.CodeUnknownError {
		return ""
	}
	return r.Code
}

// Next implements worker.Planner.
func (p *plan) Next() (worker.Decision, error) {
	move := p.planner.Next()
	if move.Answer != nil {
		return worker.Decision{Answer: answer(*move.Answer)}, nil
	}
	_, _ = io.WriteString(p.out, move.Message) // the question contains the rest
	out := worker.Decision{}
	for _, c := range move.Calls {
		out.Calls = append(out.Calls, worker.Call{
			Key: c.Key, Tool: c.Tool, Args: c.Args, Comment: c.Comment, From: float64(c.From), To: float64(c.To),
		})
	}
	return out, nil
}

// answer ends the turn. It is not a failure if the person declined; it is one if something was accepted and not done.
func answer(a Answer) *worker.Answer {
	out := &worker.Answer{Output: strings.Join(a.Lines, "\n")}
	if len(a.Lines) > 0 {
		out.Summary = a.Lines[0]
	}
	switch a.Outcome {
	case Nothing, Done, Declined, Expired, Withdrawn:
		out.Status = utp.StatusSuccess
	case Partly, Stopped:
		out.Status = utp.StatusPartial
	case Denied:
		out.Status, out.Code = utp.StatusFailed, utp.CodeDeniedByPolicy
	case Stale:
		out.Status, out.Code = utp.StatusFailed, utp.CodeConsentStale
	case Unwritable:
		out.Status, out.Code = utp.StatusFailed, utp.CodeAuthFailed
	case Unknown:
		out.Status, out.Code = utp.StatusPartial, utp.CodeOutcomeUnknown
	case Failed:
		out.Status, out.Code = utp.StatusFailed, failureCode(a.Code)
	}
	return out
}

// failureCode returns the tool's own code if it is one of the protocol's.
func failureCode(code string) utp.Code {
	if c := utp.Code(code); c.Known() {
		return c
	}
	return utp.CodeInternalError
}
