package narrate

import (
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// every stands for each element of an array or member of an object in a path.
const every = "*"

// schemaNode is the part of a JSON Schema that determines the possible members, and examples of them.
type schemaNode struct {
	Properties map[string]jsontext.Value `json:"properties"`
	Patterns   map[string]jsontext.Value `json:"patternProperties"`
	Additional jsontext.Value            `json:"additionalProperties"`
	Items      jsontext.Value            `json:"items"`
	Prefix     []jsontext.Value          `json:"prefixItems"`
	AllOf      []jsontext.Value          `json:"allOf"`
	AnyOf      []jsontext.Value          `json:"anyOf"`
	OneOf      []jsontext.Value          `json:"oneOf"`
	Then       jsontext.Value            `json:"then"`
	Else       jsontext.Value            `json:"else"`
	Ref        string                    `json:"$ref"`
	Type       jsontext.Value            `json:"type"`
	// Sources of an example.
	Examples []jsontext.Value `json:"examples"`
	Default  jsontext.Value   `json:"default"`
	Const    jsontext.Value   `json:"const"`
	Enum     []jsontext.Value `json:"enum"`
	Minimum  float64          `json:"minimum"`

	root jsontext.Value
	any  bool // everything is possible
	none bool // nothing is possible
}

// parseSchema parses a schema. One that cannot be parsed allows everything.
func parseSchema(raw jsontext.Value) schemaNode {
	if len(raw) == 0 {
		return schemaNode{any: true}
	}
	return schemaAt(raw, raw)
}

func schemaAt(raw, root jsontext.Value) schemaNode {
	switch strings.TrimSpace(string(raw)) {
	case "":
		return schemaNode{none: true}
	case "true":
		return schemaNode{any: true}
	case "false":
		return schemaNode{none: true}
	}
	n := schemaNode{root: root}
	if json.Unmarshal(raw, &n) != nil {
		return schemaNode{any: true}
	}
	n.any = n.Properties == nil && n.Patterns == nil && n.Additional == nil && n.Items == nil && n.Prefix == nil &&
		n.AllOf == nil && n.AnyOf == nil && n.OneOf == nil && n.Then == nil && n.Else == nil && n.Ref == "" &&
		(n.Type == nil || strings.Contains(string(n.Type), "object") || strings.Contains(string(n.Type), "array"))
	return n
}

// maxSchemaSteps limits how many schemas are visited for one path: a schema may be recursive.
const maxSchemaSteps = 1000

// leadsTo reports whether a path leads to something that the schema allows.
func (n schemaNode) leadsTo(path []string) bool {
	steps := maxSchemaSteps
	return len(path) > 0 && n.has(path, &steps)
}

func (n schemaNode) has(path []string, steps *int) bool {
	if *steps--; *steps < 0 {
		return true // too deep to decide
	}
	switch {
	case n.none:
		return false
	case len(path) == 0, n.any:
		return true
	}
	return slices.ContainsFunc(n.below(path[0]), func(next schemaNode) bool { return next.has(path[1:], steps) }) ||
		slices.ContainsFunc(n.alternatives(), func(next schemaNode) bool { return next.has(path, steps) })
}

// below returns the schemas that a path segment can lead to.
func (n schemaNode) below(segment string) []schemaNode {
	var raw []jsontext.Value
	_, err := strconv.Atoi(segment)
	switch named, is := n.Properties[segment]; {
	case is:
		raw = append(raw, named)
	case segment == every:
		for _, member := range n.Properties {
			raw = append(raw, member)
		}
		fallthrough
	case err == nil:
		raw = append(append(raw, n.Items), n.Prefix...)
	}
	raw = append(raw, n.Additional)
	for _, member := range n.Patterns {
		raw = append(raw, member)
	}
	return n.each(raw)
}

// alternatives returns the schemas that apply to the same value.
func (n schemaNode) alternatives() []schemaNode {
	all := n.each(slices.Concat(n.AllOf, n.AnyOf, n.OneOf, []jsontext.Value{n.Then, n.Else}))
	switch local, is := strings.CutPrefix(n.Ref, "#"); {
	case n.Ref == "":
	case n.Ref == "#":
		all = append(all, schemaAt(n.root, n.root))
	case is && strings.HasPrefix(local, "/"):
		all = append(all, schemaAt(pointed(n.root, segments(local)), n.root))
	default:
		all = append(all, schemaNode{any: true}) // it is in another document
	}
	return all
}

func (n schemaNode) each(raw []jsontext.Value) []schemaNode {
	nodes := make([]schemaNode, 0, len(raw))
	for _, r := range raw {
		if len(r) > 0 {
			nodes = append(nodes, schemaAt(r, n.root))
		}
	}
	return nodes
}

// pointed returns the value at a JSON pointer; nil if there is none.
func pointed(raw jsontext.Value, path []string) jsontext.Value {
	for _, segment := range path {
		var members map[string]jsontext.Value
		if json.Unmarshal(raw, &members) != nil {
			return nil
		}
		raw = members[segment]
	}
	return raw
}
