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
