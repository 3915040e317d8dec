package agent_test

import (
	"context"
	"fmt"

	"github.com/earshot-dev/earshot/utp"
	"github.com/earshot-dev/earshot/worker"
	"github.com/earshot-dev/earshot/worker/agent"
)

// A whole agent: the main function of a program that has the words of a text counted.
//
//nolint:testableexamples // It would run until it is told to end; TestAgent runs the same.
func Example() {
	plan := func(ctx context.Context, t worker.Transcript) (worker.Decision, error) {
		counted, done := t.Find("count")
		switch {
		case !done:
			_, _ = fmt.Fprintln(worker.Output(ctx), "I have the words counted.")
			return worker.Decision{Calls: []worker.Call{{Key: "count", Tool: "words.count", Args: t.Args}}}, nil
		case counted.Status != utp.StatusSuccess:
			return worker.Decision{Answer: &worker.Answer{Status: counted.Status, Code: counted.Code, Summary: counted.Message}}, nil
		}
		return worker.Decision{Answer: &worker.Answer{Summary: "They are counted: " + string(counted.Value)}}, nil
	}
	agent.Main(worker.Agent{Name: "counter", Plan: worker.PlanFunc(plan)})
}
