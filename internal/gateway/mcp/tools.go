package mcp

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/utp"
)

// toolset is what the hosts of one agent are offered. A host on standard input and output has its own; those that
// connect by HTTP share one, because the tools are most of a host's memory here.
type toolset struct {
	server *sdk.Server
	dialer func(ctx context.Context, host string) (Agent, error)
	// of returns the gateway of a request.
	of     func(ctx context.Context) *Gateway
	logger *slog.Logger

	mu      sync.Mutex
	agent   Agent
	tools   map[string]string // Earshot's names, by the host's
	offered map[string]string // the offer under each name, to detect changes

	beside catalogue
}

func newToolset(o Options, of func(ctx context.Context) *Gateway) *toolset {
	m := &toolset{dialer: o.Dial, of: of, logger: o.Logger, tools: map[string]string{}, offered: map[string]string{}}
	m.server = sdk.NewServer(&sdk.Implementation{Name: "earshot", Title: "Earshot", Version: cmp.Or(o.Version, "0")}, &sdk.ServerOptions{
		Instructions: instructions,
		Capabilities: &sdk.ServerCapabilities{
			Tools: &sdk.ToolCapabilities{ListChanged: true}, Resources: &sdk.ResourceCapabilities{}, Prompts: &sdk.PromptCapabilities{},
		},
		Logger: o.Logger,
	})
	m.addBuiltins()
	m.server.AddReceivingMiddleware(m.prepared, m.besides)
	return m
}

// handler makes the request's gateway handle a tool.
func (m *toolset) handler(f func(g *Gateway, ctx context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error)) sdk.ToolHandler {
	return func(ctx context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		return f(m.of(ctx), ctx, r)
	}
}

// prepared refreshes the tools before the host requests them, or one of them.
func (m *toolset) prepared(next sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, method string, r sdk.Request) (sdk.Result, error) {
		var host *sdk.Implementation
		switch r := r.(type) {
		case *sdk.ListToolsRequest:
			host = r.ClientInfo()
		case *sdk.CallToolRequest:
			host = r.ClientInfo()
		default:
			return next(ctx, method, r)
		}
		if err := m.refresh(ctx, nameOf(host), method == "tools/list"); err != nil {
			return nil, err
		}
		return next(ctx, method, r)
	}
}

func nameOf(host *sdk.Implementation) string {
	if host == nil {
		return ""
	}
	return host.Name
}

// dial connects to Earshot, once.
func (m *toolset) dial(ctx context.Context, host string) (Agent, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.agent == nil {
		agent, err := m.dialer(ctx, host)
		if err != nil {
			return nil, err
		}
		m.agent = agent
	}
	return m.agent, nil
}

// known returns the connected agent; nil before that.
func (m *toolset) known() Agent {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.agent
}

// refresh updates the host's tools to those that Earshot offers: if always is set (the host requests the list) or
// nothing is known yet. The host is notified of changes.
func (m *toolset) refresh(ctx context.Context, host string, always bool) error {
	agent, err := m.dial(ctx, host)
	if err != nil {
		return err
	}
	m.mu.Lock()
	known := len(m.tools) > 0
	m.mu.Unlock()
	if known && !always {
		return nil
	}
	return m.update(ctx, agent)
}

// update updates the host's tools.
func (m *toolset) update(ctx context.Context, agent Agent) error {
	tools, err := agent.Tools(ctx)
	if err == nil {
		m.offer(tools)
	}
	return err
}

// offer offers the host these tools, and no others besides Earshot's own.
func (m *toolset) offer(tools []api.AgentTool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	there := map[string]bool{}
	for _, t := range tools {
		name := t.ModelName
		if slices.Contains(builtinNames, name) {
			continue // reserved for Earshot's own
		}
		there[name] = true
		tool, offer := toolFor(t)
		if m.offered[name] == offer {
			continue
		}
		if err := m.add(tool); err != nil {
			m.logger.Warn("a tool is not offered to the host", "tool", t.Name, "reason", err)
			continue
		}
		m.tools[name], m.offered[name] = t.Name, offer
	}
	for name := range m.tools {
		if !there[name] {
			m.server.RemoveTools(name)
			delete(m.tools, name)
			delete(m.offered, name)
		}
	}
}

// watch follows the tools of a host that knows some.
func (m *toolset) watch(ctx context.Context) {
	for rest(ctx, pollInterval) == nil {
		agent := m.known()
		if agent == nil {
			continue
		}
		if err := m.update(ctx, agent); err != nil {
			m.logger.Debug("the tools are not known", "reason", err)
		}
	}
}

// add offers a tool to the host. The library panics at a schema that the protocol does not allow.
func (m *toolset) add(tool *sdk.Tool) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("mcp: %v", r)
		}
	}()
	m.server.AddTool(tool, m.handler((*Gateway).call))
	return nil
}

// toolFor returns a tool as the host sees it, and a text of it for comparison.
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

// object reports whether a schema is one of an object, as the protocol requires.
func object(schema jsontext.Value) bool {
	var said struct {
		Type string `json:"type"`
	}
	return json.Unmarshal(schema, &said) == nil && said.Type == "object"
}

// toolNamed returns Earshot's name of the tool that the host calls.
func (m *toolset) toolNamed(name string) string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.tools[name]
}
