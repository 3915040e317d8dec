package mcp

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/utp"
)

// refresh brings the tools that the host has up to those that Earshot offers: always where it asks for the list, else where
// nothing is known yet. The host is told of what has changed.
func (g *Gateway) refresh(ctx context.Context, host string, always bool) error {
	agent, err := g.dial(ctx, host)
	if err != nil {
		return err
	}
	g.mu.Lock()
	known := len(g.tools) > 0
	g.mu.Unlock()
	if known && !always {
		return nil
	}
	return g.update(ctx, agent)
}

// update brings the host's tools up to date.
func (g *Gateway) update(ctx context.Context, agent Agent) error {
	tools, err := agent.Tools(ctx)
	if err == nil {
		g.offer(tools)
	}
	return err
}

// offer has the host offered these tools, and no others beside Earshot's own.
func (g *Gateway) offer(tools []api.AgentTool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	there := map[string]bool{}
	for _, t := range tools {
		name := t.ModelName
		if slices.Contains(ownNames, name) {
			continue // Earshot's own have them
		}
		there[name] = true
		tool, offer := toolFor(t)
		if g.offered[name] == offer {
			continue
		}
		if err := g.add(tool); err != nil {
			g.o.Logger.Warn("a tool is not offered to the host", "tool", t.Name, "reason", err)
			continue
		}
		g.tools[name], g.offered[name] = t.Name, offer
	}
	for name := range g.tools {
		if !there[name] {
			g.server.RemoveTools(name)
			delete(g.tools, name)
			delete(g.offered, name)
		}
	}
}

// watch follows the tools of a host that knows some.
func (g *Gateway) watch(ctx context.Context) {
	for rest(ctx, look) == nil {
		g.mu.Lock()
		agent := g.agent
		g.mu.Unlock()
		if agent == nil {
			continue
		}
		if err := g.update(ctx, agent); err != nil {
			g.o.Logger.Debug("the tools are not known", "reason", err)
		}
	}
}

// add offers a tool to the host. The library panics at a schema that the protocol does not allow.
func (g *Gateway) add(tool *sdk.Tool) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("mcp: %v", r)
		}
	}()
	g.server.AddTool(tool, g.call)
	return nil
}

// toolFor is a tool as the host sees it, and a text that says the same, to compare.
func toolFor(t api.AgentTool) (*sdk.Tool, string) {
	description := t.Description
	if t.Asks {
		description = strings.TrimSpace(description + " A person is asked first.")
	}
	schema := t.Parameters
	if !object(schema) {
		schema = jsontext.Value(`{"type":"object"}`)
	}
	changes := t.Class == utp.Irreversible
	tool := &sdk.Tool{
		Name: t.ModelName, Title: t.Name, Description: description, InputSchema: schema,
		Annotations: &sdk.ToolAnnotations{
			ReadOnlyHint: t.Class == utp.Read, DestructiveHint: &changes, IdempotentHint: t.Class.Repeatable(),
		},
	}
	return tool, fmt.Sprint(t.Name, "\n", description, "\n", t.Class, "\n", string(schema))
}

// object reports whether a schema says that it is one of an object, as the protocol wants it.
func object(schema jsontext.Value) bool {
	var said struct {
		Type string `json:"type"`
	}
	return json.Unmarshal(schema, &said) == nil && said.Type == "object"
}

// toolNamed is Earshot's own name of what the host calls.
func (g *Gateway) toolNamed(name string) string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.tools[name]
}
