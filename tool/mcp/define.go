package mcp

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/earshot-dev/earshot/tool"
	"github.com/earshot-dev/earshot/tool/settings"
	"github.com/earshot-dev/earshot/utp"
	"github.com/earshot-dev/earshot/utp/schema"
)

// maxTools is how many tools of a server can be had, as many as one credential may register.
const maxTools = 200

// maxDescription is how much of a description is kept; the whole of it is in the digest.
const maxDescription = 4 << 10

// offered is a tool of the server as one of ours.
type offered struct {
	tool.Tool

	upstream string // the server's own name for it
	digest   string // of the definition
}

// list asks the server for its tools. Those that cannot be had are named with the reason.
func (s *Server) list(ctx context.Context, conn *connection) (tools []offered, leftOut []error, err error) {
	conn.stale.Store(false) // what changes from here on makes another listing
	var upstream []*mcp.Tool
	for t, err := range conn.session.Tools(ctx, nil) {
		if need, is := errors.AsType[*LoginError](err); is {
			return nil, nil, need
		}
		if err != nil {
			return nil, nil, fmt.Errorf("its tools cannot be listed: %s", conn.redactor.Text([]byte(err.Error())))
		}
		if len(upstream) == maxTools {
			leftOut = append(leftOut, fmt.Errorf("it has more than %d tools; the rest is left out", maxTools))
			break
		}
		upstream = append(upstream, t)
	}
	names := map[string]int{}
	for _, t := range upstream {
		names[s.nameOf(t.Name)]++
	}
	for _, t := range upstream {
		name := s.nameOf(t.Name)
		if names[name] > 1 {
			leftOut = append(leftOut, fmt.Errorf("the tool %.128q is left out: another one has that name here too, and it would not be known which one is meant", t.Name))
			continue
		}
		d, err := s.define(name, t, conn)
		var digest string
		if err == nil {
			digest, err = d.Digest()
		}
		if err != nil {
			leftOut = append(leftOut, fmt.Errorf("the tool %.128q is left out: %w", t.Name, err))
			continue
		}
		tools = append(tools, offered{
			Tool:     tool.Tool{Definition: d, Unclaimed: true, Run: s.runs(t.Name, digest)},
			upstream: t.Name, digest: digest,
		})
	}
	for _, m := range conn.methods() {
		if names[s.nameOf(m.tool)] > 0 {
			leftOut = append(leftOut, fmt.Errorf("its %s is left out: the server has a tool of the name %s itself", m.name, m.tool))
			continue
		}
		one, err := s.methodTool(m, conn)
		if err != nil {
			leftOut = append(leftOut, fmt.Errorf("its %s is left out: %w", m.name, err))
			continue
		}
		tools = append(tools, one)
	}
	return tools, leftOut, nil
}

// nameOf is our name for a tool of the server. What cannot stand in a name becomes _.
func (s *Server) nameOf(upstream string) string {
	name := s.name + "." + strings.Map(func(r rune) rune {
		if r < 0x80 && (utp.ValidToken(string(r)) || r == '.') {
			return r
		}
		return '_'
	}, upstream)
	return name
}

// define is the definition of a tool of the server.
func (s *Server) define(name string, t *mcp.Tool, conn *connection) (utp.Definition, error) {
	if t.Name == "" || !utp.ValidToolName(name) {
		return utp.Definition{}, fmt.Errorf("its name would be %.200q; a name has 1 to 128 of A-Z a-z 0-9 _ - and the dot", name)
	}
	parameters, err := openSchema(t.InputSchema)
	if err != nil {
		return utp.Definition{}, fmt.Errorf("its input schema: %w", err)
	}
	claims := Claims{Tool: t.Name, Title: t.Title}
	if a := t.Annotations; a != nil {
		claims.ReadOnly, claims.Idempotent, claims.Destructive, claims.OpenWorld = a.ReadOnlyHint, a.IdempotentHint, a.DestructiveHint, a.OpenWorldHint
		if claims.Title == "" {
			claims.Title = a.Title
		}
	}
	offer := settings.Offer{Target: s.name, Tool: name, Parameters: parameters, Description: description(t.Description, claims.Title)}
	if s.bound != nil {
		claims.Server, claims.Version = conn.calls, conn.version
		program := s.Program()
		offer.Program = &program
	}
	offer.Claims, offer.Meaning = claims, s.meaning(t)
	return offer.Definition()
}

func description(text, title string) string {
	text = strings.TrimSpace(tool.Readable(text))
	if text == "" {
		text = strings.TrimSpace(tool.Readable(title))
	}
	if text == "" {
		return "The server does not say what it does."
	}
	return settings.Clip(text, maxDescription)
}

// meaning is what a call does, for the digest: the server as it is configured, and everything that it says of the tool but
// pictures and what is not for people (_meta).
func (s *Server) meaning(t *mcp.Tool) any {
	return map[string]any{
		"server": s.configured(),
		"tool": map[string]any{
			"name": t.Name, "title": t.Title, "description": t.Description, "input": t.InputSchema, "output": t.OutputSchema, "annotations": t.Annotations,
		},
	}
}

// configured is the server as it is configured.
func (s *Server) configured() map[string]any {
	secrets := map[string]settings.Secret{}
	for _, name := range s.c.used() {
		secrets[name] = s.c.Secrets[name]
	}
	all := map[string]any{
		"command": s.c.Command, "folder": s.c.Folder, "environment": s.c.Environment, "inherit": s.c.Inherit,
		"url": s.c.URL, "headers": s.c.Headers, "secrets": secrets,
	}
	if len(s.c.Roots) > 0 { // left out otherwise: the reviews of servers without roots hold
		all["roots"] = s.c.Roots
	}
	return all
}

// openSchema is a tool's schema with what it takes written out. A schema of JSON that lists properties takes others too, unless
// it says that it does not; here it is the other way round, so what the server does not say is said.
func openSchema(of any) (jsontext.Value, error) {
	raw, err := json.Marshal(of, json.Deterministic(true))
	if err != nil {
		return nil, fmt.Errorf("it is not JSON: %w", err)
	}
	var node map[string]any
	if jsontext.Value(raw).Kind() != jsontext.KindBeginObject || json.Unmarshal(raw, &node) != nil {
		return nil, errors.New("it is not an object")
	}
	if kind, said := node["type"]; said && kind != "object" {
		return nil, fmt.Errorf("its type is %.40v; expected object", kind)
	}
	node["type"] = "object"
	open(node)
	if raw, err = json.Marshal(node, json.Deterministic(true)); err != nil {
		return nil, fmt.Errorf("it is not JSON: %w", err)
	}
	if _, err := schema.Compile(raw); err != nil {
		return nil, err
	}
	return raw, nil
}

// Keywords whose value is a schema, a list of schemas, or schemas by names.
var (
	holdsOne   = []string{"items", "additionalItems", "additionalProperties", "unevaluatedItems", "unevaluatedProperties", "contains", "propertyNames", "not", "if", "then", "else"}
	holdsList  = []string{"items", "prefixItems", "allOf", "anyOf", "oneOf"}
	holdsNamed = []string{"properties", "patternProperties", "$defs", "definitions", "dependentSchemas"}
	// speaks is said of other members.
	speaks = []string{"additionalProperties", "unevaluatedProperties", "allOf", "anyOf", "oneOf", "$ref"}
)

func open(node any) {
	s, is := node.(map[string]any)
	if !is {
		return
	}
	for key, value := range s {
		switch value := value.(type) {
		case map[string]any:
			if slices.Contains(holdsOne, key) {
				open(value)
			}
			if slices.Contains(holdsNamed, key) {
				for _, one := range value {
					open(one)
				}
			}
		case []any:
			if slices.Contains(holdsList, key) {
				for _, one := range value {
					open(one)
				}
			}
		}
	}
	_, lists := s["properties"].(map[string]any)
	if lists && !slices.ContainsFunc(speaks, func(key string) bool { _, said := s[key]; return said }) {
		s["additionalProperties"] = true
	}
}
