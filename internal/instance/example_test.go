package instance_test

import (
	"context"
	"fmt"
	"os"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/instance"
	"github.com/earshot-dev/earshot/worker"
)

// One process, with an agent that only answers; nobody else comes in.
func Example() {
	data, err := os.MkdirTemp("", "example")
	if err != nil {
		panic(err)
	}
	defer func() { _ = os.RemoveAll(data) }()
	ctx := context.Background()
	i, err := instance.Open(ctx, instance.Options{Data: data, Agents: []string{"echo"}})
	if err != nil {
		panic(err)
	}
	defer i.Close()
	err = i.Work(ctx, worker.Agent{Name: "echo", Plan: worker.PlanFunc(func(_ context.Context, t worker.Transcript) (worker.Decision, error) {
		return worker.Decision{Answer: &worker.Answer{Summary: "It was " + string(t.Args) + "."}}, nil
	})})
	if err != nil {
		panic(err)
	}
	turn, err := i.Hub.Enqueue(ctx, api.EnqueueRequest{Agent: "echo", Args: jsontext.Value(`{"word":"hello"}`), Owner: instance.LocalUser()})
	if err != nil {
		panic(err)
	}
	for row, err := range i.Hub.Follow(ctx, turn.Session, 0) {
		if err != nil {
			panic(err)
		}
		event, err := aaep.DecodeEvent(row.Body)
		if err != nil {
			panic(err)
		}
		if p, is := event.Payload.(aaep.SessionCompleted); is {
			fmt.Println(p.SummaryNormal)
		}
	}
	// Output:
	// Finished. The agent says: “It was {"word":"hello"}.”
}
