package worker_test

import (
	"context"
	"fmt"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/worker"
)

// counter is an agent that counts the words of a text, once.
type counter struct {
	text string
	said *worker.Result
}

func (c *counter) Observe(r worker.Result) error {
	c.said = &r
	return nil
}

func (c *counter) Next() (worker.Decision, error) {
	if c.said == nil {
		return worker.Decision{Calls: []worker.Call{{Key: "count", Tool: "words.count", Args: map[string]string{"text": c.text}}}}, nil
	}
	return worker.Decision{Answer: &worker.Answer{Summary: "Counted: " + string(c.said.Value)}}, nil
}

// A planner is a fold over results: the same results give the same move, so that a
// crash costs nothing but time.
func Example() {
	agent := worker.Agent{Name: "counter", Plan: func(context.Context, jsontext.Value) (worker.Planner, error) {
		return &counter{text: "one two three"}, nil
	}}
	planner, err := agent.Plan(context.Background(), nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	first, _ := planner.Next()
	fmt.Println(first.Calls[0].Tool)
	_ = planner.Observe(worker.Result{Key: "count", Value: jsontext.Value(`{"words":3}`)})
	last, _ := planner.Next()
	fmt.Println(last.Answer.Summary)
	// Output:
	// words.count
	// Counted: {"words":3}
}

// ExampleTools is a planner that offers its tools to a model: with their schemas, under names that the model's API accepts.
func ExampleTools() {
	plan := func(ctx context.Context, _ worker.Transcript) (worker.Decision, error) {
		tools, err := worker.Tools(ctx, "finish") // finish is a function of the planner's own
		if err != nil {
			return worker.Decision{}, err
		}
		names := map[string]string{} // what the model calls a tool, to its name here
		for _, t := range tools {
			names[t.ModelName] = t.Name
			offer(t.ModelName, t.Description, t.Parameters)
		}
		called, arguments := ask() // the arguments are the model's JSON, and stay it
		return worker.Decision{Calls: []worker.Call{{Key: "1", Tool: names[called], Args: arguments}}}, nil
	}
	agent := worker.Agent{Name: "loop", Plan: worker.PlanFunc(plan)}
	fmt.Println(agent.Name)
	// Output: loop
}

// offer and ask stand for a model's API.
func offer(_, _ string, _ jsontext.Value) {}

func ask() (tool string, arguments []byte) { return "files_read", []byte(`{"path":"/a"}`) }
