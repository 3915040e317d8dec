package mcp

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/earshot-dev/earshot/api"
)

// Resources and prompts of MCP servers behind Earshot are tools of Earshot (package tool/mcp), with these names after
// the server's. A host sees them as resources and prompts. Listing or reading one is a call of such a tool, and goes
// through the gate like any call.
const (
	listResources = ".list_resources"
	readResource  = ".read_resource"
	listPrompts   = ".list_prompts"
	getPrompt     = ".get_prompt"
)

// fresh is how long a list is cached.
const fresh = time.Minute

// catalogue caches the servers' latest lists of resources and prompts. It only covers lists that nobody has to approve:
// a host requests these lists by itself, and no person should be asked about that.
type catalogue struct {
	mu        sync.Mutex
	at        time.Time // zero before the first list
	resources []*sdk.Resource
	templates []*sdk.ResourceTemplate
	prompts   []*sdk.Prompt
	readers   map[string]string   // the tool that reads a resource, by its address
	prefixes  map[string]string   // the same, by the prefix of a template's addresses
	filled    map[string]promptOf // by the name that the host sees
}

type promptOf struct{ tool, name string }

// besides answers a host's requests for resources and prompts.
func (m *toolset) besides(next sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, method string, r sdk.Request) (sdk.Result, error) {
		switch r := r.(type) {
		case *sdk.ListResourcesRequest:
			err := m.list(ctx, nameOf(r.ClientInfo()))
			return &sdk.ListResourcesResult{Resources: locked(&m.beside, &m.beside.resources)}, err
		case *sdk.ListResourceTemplatesRequest:
			err := m.list(ctx, nameOf(r.ClientInfo()))
			return &sdk.ListResourceTemplatesResult{ResourceTemplates: locked(&m.beside, &m.beside.templates)}, err
		case *sdk.ListPromptsRequest:
			err := m.list(ctx, nameOf(r.ClientInfo()))
			return &sdk.ListPromptsResult{Prompts: locked(&m.beside, &m.beside.prompts)}, err
		case *sdk.ReadResourceRequest:
			return m.read(ctx, r)
		case *sdk.GetPromptRequest:
			return m.prompt(ctx, r)
		}
		return next(ctx, method, r)
	}
}

func locked[T any](c *catalogue, list *[]T) []T {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]T{}, *list...)
}

// list refreshes the catalogue if it has expired.
func (m *toolset) list(ctx context.Context, host string) error {
	m.beside.mu.Lock()
	defer m.beside.mu.Unlock()
	if !m.beside.at.IsZero() && time.Since(m.beside.at) < fresh {
		return nil
	}
	agent, err := m.dial(ctx, host)
	if err != nil {
		return err
	}
	tools, err := agent.Tools(ctx)
	if err != nil {
		return err
	}
	m.beside.clear()
	g := m.of(ctx)
	for _, t := range tools {
		server, what := behind(t.Name)
		if what != listResources && what != listPrompts || t.Asks {
			continue
		}
		result, err := g.now(ctx, api.AgentInvoke{Tool: t.Name, Args: jsontext.Value("{}")})
		if err == nil {
			err = m.beside.add(server, result)
		}
		if err != nil {
			m.logger.Info("what a server has beside tools is not known", "tool", t.Name, "reason", err)
		}
	}
	m.beside.at = time.Now()
	return nil
}

// behind splits the name of a tool that stands for a request of the protocol.
func behind(tool string) (server, what string) {
	for _, what := range []string{listResources, readResource, listPrompts, getPrompt} {
		if server, is := strings.CutSuffix(tool, what); is {
			return server, what
		}
	}
	return "", ""
}

func (c *catalogue) clear() {
	c.resources, c.templates, c.prompts = nil, nil, nil
	c.readers, c.prefixes, c.filled = map[string]string{}, map[string]string{}, map[string]promptOf{}
}

// add adds what a server has listed. If two servers list an address, the first one wins.
func (c *catalogue) add(server string, listed jsontext.Value) error {
	var said struct {
		Resources []*sdk.Resource         `json:"resources"`
		Templates []*sdk.ResourceTemplate `json:"resourceTemplates"` //nolint:tagliatelle // the protocol's name
		Prompts   []*sdk.Prompt           `json:"prompts"`
	}
	if err := json.Unmarshal(listed, &said); err != nil {
		return err //nolint:wrapcheck // the caller says what it is about
	}
	for _, r := range said.Resources {
		if c.readers[r.URI] == "" {
			c.readers[r.URI] = server + readResource
			c.resources = append(c.resources, r)
		}
	}
	for _, t := range said.Templates {
		begins, _, _ := strings.Cut(t.URITemplate, "{")
		if begins != "" && c.prefixes[begins] == "" {
			c.prefixes[begins] = server + readResource
			c.templates = append(c.templates, t)
		}
	}
	for _, p := range said.Prompts {
		name := server + "_" + p.Name
		if _, there := c.filled[name]; !there {
			c.filled[name] = promptOf{server + getPrompt, p.Name}
			named := *p
			named.Name = name
			c.prompts = append(c.prompts, &named)
		}
	}
	return nil
}

// reader returns the tool that reads a resource; "" if unknown.
func (c *catalogue) reader(uri string) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if tool := c.readers[uri]; tool != "" {
		return tool
	}
	longest := ""
	for begins := range c.prefixes {
		if strings.HasPrefix(uri, begins) && len(begins) > len(longest) {
			longest = begins
		}
	}
	return c.prefixes[longest]
}

// read reads a resource for a host.
func (m *toolset) read(ctx context.Context, r *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
	if err := m.list(ctx, nameOf(r.ClientInfo())); err != nil {
		return nil, err
	}
	tool := m.beside.reader(r.Params.URI)
	if tool == "" {
		return nil, sdk.ResourceNotFoundError(r.Params.URI) //nolint:wrapcheck // it is the protocol's own
	}
	args, err := json.Marshal(map[string]string{"uri": r.Params.URI})
	if err != nil {
		return nil, err //nolint:wrapcheck // it does not happen
	}
	var out sdk.ReadResourceResult
	call, err := m.request(ctx, &sdk.CallToolRequest{Session: r.Session, Params: &sdk.CallToolParamsRaw{Meta: r.Params.Meta}}, api.AgentInvoke{Tool: tool, Args: args}, &out)
	if err != nil {
		return nil, err
	}
	out.Meta = sdk.Meta{callMeta: call}
	return &out, nil
}

// prompt fills in a prompt for a host.
func (m *toolset) prompt(ctx context.Context, r *sdk.GetPromptRequest) (*sdk.GetPromptResult, error) {
	if err := m.list(ctx, nameOf(r.ClientInfo())); err != nil {
		return nil, err
	}
	m.beside.mu.Lock()
	of, there := m.beside.filled[r.Params.Name]
	m.beside.mu.Unlock()
	if !there {
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "there is no prompt " + r.Params.Name}
	}
	args, err := json.Marshal(map[string]any{"name": of.name, "arguments": r.Params.Arguments}, json.Deterministic(true)) // a repeat is recognized by its bytes
	if err != nil {
		return nil, err //nolint:wrapcheck // it does not happen
	}
	var out sdk.GetPromptResult
	call, err := m.request(ctx, &sdk.CallToolRequest{Session: r.Session, Params: &sdk.CallToolParamsRaw{Meta: r.Params.Meta}}, api.AgentInvoke{Tool: of.tool, Args: args}, &out)
	if err != nil {
		return nil, err
	}
	out.Meta = sdk.Meta{callMeta: call}
	return &out, nil
}

// request makes a call for a host, whose result is one of the protocol. If it is still open just before the host's
// timeout, it returns an error that says so: the same request again joins the call.
func (m *toolset) request(ctx context.Context, r *sdk.CallToolRequest, q api.AgentInvoke, into json.Unmarshaler) (call string, err error) {
	q.HostCall = hostCall(r.Params.Meta)
	answer, err := m.of(ctx).until(ctx, r, func(ctx context.Context, s Session, wait time.Duration) (api.AgentCall, error) {
		return s.Invoke(ctx, q, wait)
	})
	if err != nil {
		return "", err
	}
	result, call, err := resultIn(answer)
	if err != nil {
		return call, err
	}
	if err := into.UnmarshalJSON(result); err != nil {
		return call, fmt.Errorf("mcp: the result cannot be read: %w", err)
	}
	return call, nil
}

// now makes a call that nobody has to approve, and acknowledges its result.
func (g *Gateway) now(ctx context.Context, q api.AgentInvoke) (jsontext.Value, error) {
	r, err := g.until(ctx, &sdk.CallToolRequest{Params: &sdk.CallToolParamsRaw{}}, func(ctx context.Context, s Session, wait time.Duration) (api.AgentCall, error) {
		return s.Invoke(ctx, q, wait)
	})
	if err != nil {
		return nil, err
	}
	result, call, err := resultIn(r)
	if call != "" {
		g.received(ctx, call)
	}
	return result, err
}

// resultIn returns the value of a result, and the id of its call.
func resultIn(r *sdk.CallToolResult) (result jsontext.Value, call string, err error) {
	call, _ = r.Meta[callMeta].(string)
	value, is := r.StructuredContent.(jsontext.Value)
	if r.IsError || call == "" || !is {
		for _, part := range r.Content {
			if text, is := part.(*sdk.TextContent); is {
				return nil, call, errors.New(text.Text)
			}
		}
		return nil, call, errors.New("mcp: a call has ended without a result")
	}
	return value, call, nil
}
