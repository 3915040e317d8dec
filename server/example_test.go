package server_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/client"
	"github.com/earshot-dev/earshot/server"
	"github.com/earshot-dev/earshot/tool"
	"github.com/earshot-dev/earshot/utp"
	"github.com/earshot-dev/earshot/worker"
)

// A program embeds a whole Earshot with one tool and one agent, starts a turn, and hears what it does.
func Example() {
	data, err := os.MkdirTemp("", "example")
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = os.RemoveAll(data) }()
	type text struct {
		Text string `json:"text"`
	}
	count := tool.Must(tool.Func(utp.Definition{Tool: "words.count", Description: "Count the words of a text.", Class: utp.Read},
		func(_ context.Context, _ *tool.Call, t text) (int, error) { return len(strings.Fields(t.Text)), nil }))
	counter := worker.Agent{Name: "counter", Plan: worker.PlanFunc(func(_ context.Context, t worker.Transcript) (worker.Decision, error) {
		if len(t.Results) == 0 {
			return worker.Decision{Calls: []worker.Call{{Key: "count", Tool: "words.count", Args: t.Args}}}, nil
		}
		return worker.Decision{Answer: &worker.Answer{Summary: "It has " + string(t.Results[0].Value) + " words."}}, nil
	})}

	ctx := context.Background()
	s, err := server.New(ctx, server.Options{
		Data: data, HTTP: "127.0.0.1:0",
		Agents:   []server.Agent{{Agent: counter}},
		Services: []server.Service{{Name: "words", Tools: []tool.Tool{count}}},
	})
	if err != nil {
		log.Fatal(err)
	}
	defer s.Close()

	c, err := client.Dial(ctx, client.Options{URL: s.URL(), Token: s.Token()})
	if err != nil {
		log.Fatal(err)
	}
	started, err := c.Start(ctx, api.TurnStart{Agent: "counter", Args: jsontext.Value(`{"text":"one two three"}`), Request: "Count the words."})
	if err != nil {
		log.Fatal(err)
	}
	for event, err := range c.ForSession(started.Session).Events(ctx) {
		if err != nil {
			log.Fatal(err)
		}
		switch p := event.Payload.(type) {
		case aaep.ToolInvoked:
			fmt.Println(p.SummaryNormal)
		case aaep.SessionCompleted:
			fmt.Println(p.SummaryNormal)
		}
	}
	// Output:
	// Using the tool words.count.
	// Finished. The agent says: “It has 3 words.”
}
