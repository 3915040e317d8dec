package mcp

import (
	"context"
	"fmt"
	"iter"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/earshot-dev/earshot/tool"
	"github.com/earshot-dev/earshot/tool/settings"
	"github.com/earshot-dev/earshot/utp"
)

// The resources and prompts of a server are tools here, too: reading one goes through the gate, with the class that an
// operator gives it.

// The names of these tools, after that of the server. Gateways use the same names.
const (
	ListResources = "list_resources"
	ReadResource  = "read_resource"
	ListPrompts   = "list_prompts"
	GetPrompt     = "get_prompt"
)

// maxListed limits the listed resources, templates or prompts of a server.
const maxListed = 1000

// method is a request of the protocol that becomes a tool.
type method struct {
	tool        string
	name        string // in the protocol
	description string
	parameters  string
	run         func(ctx context.Context, session *mcp.ClientSession, args jsontext.Value) (any, error)
}

// The JSON Schemas of their arguments.
const (
	noArguments = `{"type":"object","properties":{},"additionalProperties":false}`
	oneAddress  = `{"type":"object","properties":{"uri":{"type":"string","minLength":1,"maxLength":4096,` +
		`"description":"its address, as the list or a template of the server says it"}},"required":["uri"],"additionalProperties":false}`
	onePrompt = `{"type":"object","properties":{"name":{"type":"string","minLength":1,"maxLength":256},` +
		`"arguments":{"type":"object","additionalProperties":{"type":"string"}}},"required":["name"],"additionalProperties":false}`
)

// methods returns the methods that the server supports.
func (c *connection) methods() []method {
	var all []method
	r := c.session.InitializeResult()
	if r == nil || r.Capabilities == nil {
		return nil
	}
	if r.Capabilities.Resources != nil {
		all = append(all,
			method{ListResources, "resources/list", "List the resources that the server has, and the templates of their addresses.", noArguments, listResources},
			method{ReadResource, "resources/read", "Read one of the server's resources.", oneAddress, readResource},
		)
	}
	if r.Capabilities.Prompts != nil {
		all = append(all,
			method{ListPrompts, "prompts/list", "List the prompts that the server has.", noArguments, listPrompts},
			method{GetPrompt, "prompts/get", "Get one of the server's prompts, filled in.", onePrompt, getPrompt},
		)
	}
	return all
}

// methodTool offers a request of the protocol as a tool. The protocol defines its meaning, so that it only changes with
// the configuration and the program.
func (s *Server) methodTool(m method, conn *connection) (offered, error) {
	offer := settings.Offer{
		Target: s.name, Tool: s.nameOf(m.tool), Parameters: jsontext.Value(m.parameters), Description: m.description,
		Claims: Claims{Tool: m.name, Protocol: true, ReadOnly: true}, Meaning: map[string]any{"server": s.configured(), "method": m.name},
	}
	if s.bound != nil {
		offer.Claims = Claims{Tool: m.name, Protocol: true, ReadOnly: true, Server: conn.calls, Version: conn.version}
		program := s.Program()
		offer.Program = &program
	}
	d, err := offer.Definition()
	var digest string
	if err == nil {
		digest, err = d.Digest()
	}
	nothing := func(context.Context, *connection, *tool.Call) error { return nil } // the protocol defines what it does
	run := func(ctx context.Context, c *tool.Call) (tool.Result, error) {
		return s.begin(ctx, c, nothing, func(callCtx context.Context, conn *connection, _ *flight) (answer, error) {
			value, err := m.run(callCtx, conn.session, c.Args)
			return func() (tool.Result, error) { return kept(value, conn.redactor) }, err
		})
	}
	return offered{Tool: tool.Tool{Definition: d, Unclaimed: true, Run: run}, upstream: m.name, digest: digest}, err
}

// kept returns a server's answer as it is stored: without secrets, and readable.
func kept(value any, r *redactor) (tool.Result, error) {
	raw, err := json.Marshal(value)
	if err != nil {
		return tool.Result{}, fmt.Errorf("the server's answer cannot be read: %w", err)
	}
	return tool.Result{Value: jsontext.Value(readable(r.Text(raw)))}, nil
}

func listResources(ctx context.Context, session *mcp.ClientSession, _ jsontext.Value) (any, error) {
	resources, err := collected(session.Resources(ctx, nil))
	if err != nil {
		return nil, err
	}
	templates, err := collected(session.ResourceTemplates(ctx, nil))
	if wire, is := (failure{err: err}).answered(); is && wire != nil { // not every server with resources has these
		templates, err = []*mcp.ResourceTemplate{}, nil
	}
	return map[string]any{"resources": resources, "resourceTemplates": templates}, err
}

func readResource(ctx context.Context, session *mcp.ClientSession, args jsontext.Value) (any, error) {
	var q mcp.ReadResourceParams
	if err := json.Unmarshal(args, &q); err != nil {
		return nil, refuse(utp.CodeBadRequest, "the arguments do not fit: %v", err)
	}
	return session.ReadResource(ctx, &q) //nolint:wrapcheck // the call says what it is about
}

func listPrompts(ctx context.Context, session *mcp.ClientSession, _ jsontext.Value) (any, error) {
	prompts, err := collected(session.Prompts(ctx, nil))
	return map[string]any{"prompts": prompts}, err
}

func getPrompt(ctx context.Context, session *mcp.ClientSession, args jsontext.Value) (any, error) {
	var q mcp.GetPromptParams
	if err := json.Unmarshal(args, &q); err != nil {
		return nil, refuse(utp.CodeBadRequest, "the arguments do not fit: %v", err)
	}
	return session.GetPrompt(ctx, &q) //nolint:wrapcheck // the same
}

// collected returns the items of a list, up to [maxListed].
func collected[T any](all iter.Seq2[*T, error]) ([]*T, error) {
	list := []*T{}
	for one, err := range all {
		if err != nil {
			return nil, err
		}
		if list = append(list, one); len(list) == maxListed {
			break
		}
	}
	return list, nil
}
