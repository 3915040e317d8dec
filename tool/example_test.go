package tool_test

import (
	"context"
	"strings"

	"github.com/earshot-dev/earshot/tool"
	"github.com/earshot-dev/earshot/utp"
)

// A service that counts words. Its Conn comes from the bus.
func Example() {
	var conn tool.Conn // bus.Server.Connect or bus.Dial, with the credential of tool/words

	words := tool.Tool{
		Definition: utp.Definition{
			Tool: "words.count", Description: "Count the words of a text.",
			Target: "cg.v1r4.{project_id}.{channel_id}.cmd.tool.words.count", AfterExecution: utp.Suspend,
			Class: utp.Read, Risk: utp.RiskLow,
			Parameters: []byte(`{"type":"object","properties":{"text":{"type":"string"}},"required":["text"]}`),
		},
		Run: func(_ context.Context, c *tool.Call) (tool.Result, error) {
			var args struct {
				Text string `json:"text"`
			}
			if err := c.Decode(&args); err != nil {
				return tool.Result{}, err
			}
			return tool.Result{Value: map[string]int{"words": len(strings.Fields(args.Text))}}, nil
		},
	}
	serve := func(ctx context.Context) error {
		s, err := tool.New(tool.Options{Conn: conn, Tools: []tool.Tool{words}})
		if err != nil {
			return err
		}
		return s.Run(ctx) // until ctx ends; running calls finish first
	}
	_ = serve
	// Output:
}
