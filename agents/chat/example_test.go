package chat_test

import (
	"context"
	"fmt"
	"os"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/agents/chat"
	"github.com/earshot-dev/earshot/agents/chat/llm"
	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/fakemodel"
	"github.com/earshot-dev/earshot/internal/instance"
)

// A process with the agent and a model on this machine, which is a scripted one here.
func Example() {
	server, end, err := fakemodel.Listen(fakemodel.Say("Nothing is to be done. All is well."))
	if err != nil {
		panic(err)
	}
	defer end()
	client, err := llm.NewClient(llm.Options{Wire: llm.OpenAI, Endpoint: server.URL})
	if err != nil {
		panic(err)
	}
	data, err := os.MkdirTemp("", "example")
	if err != nil {
		panic(err)
	}
	defer func() { _ = os.RemoveAll(data) }()
	ctx := context.Background()
	i, err := instance.Open(ctx, instance.Options{Data: data, Agents: []string{chat.Name}})
	if err != nil {
		panic(err)
	}
	defer i.Close()
	if err := i.Work(ctx, chat.Agent(chat.Options{Model: client, Name: "qwen3", Limits: chat.Limits{Steps: 10}})); err != nil {
		panic(err)
	}
	turn, err := i.Hub.Enqueue(ctx, api.EnqueueRequest{
		Agent: chat.Name, Args: jsontext.Value(`{"text":"Is there anything to do?"}`), Owner: instance.LocalUser(),
	})
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
			fmt.Println(p.OutputSummary)
		}
	}
	// Output:
	// Nothing is to be done.
}
