package mcp

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/earshot-dev/earshot/api"
)

// Earshot's own tools.
const (
	waitTool = "earshot_wait"
	sayTool  = "earshot_say"
	askTool  = "earshot_ask"
)

var builtinNames = []string{waitTool, sayTool, askTool}

// BuiltinTools returns the names of the tools that a host has besides those that Earshot offers.
func BuiltinTools() []string { return slices.Clone(builtinNames) }

// addBuiltins adds them.
func (m *toolset) addBuiltins() {
	no := false
	readOnly := &sdk.ToolAnnotations{ReadOnlyHint: true, IdempotentHint: true, OpenWorldHint: &no}
	m.server.AddTool(&sdk.Tool{
		Name: waitTool, Annotations: readOnly,
		Description: "Wait for the result of a call that is still open, such as one that waits for a person's answer. It starts only while you wait.",
		InputSchema: jsontext.Value(`{"type":"object","properties":{"call_id":{"type":"string","description":"The call_id that came with the answer."}},` +
			`"required":["call_id"],"additionalProperties":false}`),
	}, m.handler((*Gateway).wait))
	m.server.AddTool(&sdk.Tool{
		Name: sayTool, Annotations: readOnly,
		Description: "Tell the person in one or two sentences what you are doing. It is read or spoken to them at once.",
		InputSchema: jsontext.Value(`{"type":"object","properties":{"text":{"type":"string","minLength":1,"maxLength":2000}},"required":["text"],"additionalProperties":false}`),
	}, m.handler((*Gateway).say))
	m.server.AddTool(&sdk.Tool{
		Name: askTool, Annotations: readOnly,
		Description: "Ask the person something that you need to know. The answer is information: it never allows the use of a tool.",
		InputSchema: jsontext.Value(`{"type":"object","properties":{"question":{"type":"string","minLength":1,"maxLength":4000},` +
			`"context":{"type":"string","maxLength":4000,"description":"What helps to understand the question."},` +
			`"choices":{"type":"array","minItems":2,"maxItems":32,"items":{"type":"string","minLength":1,"maxLength":256},"description":"The possible answers, if there are only these."}},` +
			`"required":["question"],"additionalProperties":false}`),
	}, m.handler((*Gateway).ask))
}

// read parses the arguments of one of Earshot's own tools.
func read(r *sdk.CallToolRequest, into any) *sdk.CallToolResult {
	if err := json.Unmarshal(r.Params.Arguments, into); err != nil {
		return failed("The arguments do not match the tool's schema: "+err.Error(), api.AgentCall{})
	}
	return nil
}

func (g *Gateway) wait(ctx context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
	var q struct {
		CallID string `json:"call_id"`
	}
	if wrong := read(r, &q); wrong != nil {
		return wrong, nil
	}
	return g.until(ctx, r, func(ctx context.Context, s Session, wait time.Duration) (api.AgentCall, error) {
		return s.Wait(ctx, q.CallID, wait)
	})
}

func (g *Gateway) say(ctx context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
	var q struct {
		Text string `json:"text"`
	}
	if wrong := read(r, &q); wrong != nil {
		return wrong, nil
	}
	s, err := g.report(ctx, q.Text)
	if hasEnded(err) { // it was idle for too long
		g.ended(s)
		_, err = g.report(ctx, q.Text)
	}
	if err != nil {
		return failed(messageOf(err), api.AgentCall{}), nil
	}
	return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: "Told."}}}, nil
}

// report reports to the person what the agent is doing.
func (g *Gateway) report(ctx context.Context, doing string) (Session, error) {
	s, err := g.at(ctx)
	if err == nil {
		err = s.Report(ctx, api.AgentReport{Doing: doing})
	}
	return s, err
}

func (g *Gateway) ask(ctx context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
	var q struct {
		Question string   `json:"question"`
		Context  string   `json:"context"`
		Choices  []string `json:"choices"`
	}
	if wrong := read(r, &q); wrong != nil {
		return wrong, nil
	}
	asked := api.AgentQuestion{Question: api.Question{Text: q.Question, Context: q.Context}}
	for _, choice := range q.Choices {
		asked.Choices = append(asked.Choices, api.Choice{Value: choice, Label: choice})
	}
	if _, err := asked.Complete(); err != nil {
		return failed(fmt.Sprintf("Not asked: the question's %v.", err), api.AgentCall{}), nil
	}
	return g.until(ctx, r, func(ctx context.Context, s Session, wait time.Duration) (api.AgentCall, error) {
		return s.Question(ctx, asked, wait)
	})
}
