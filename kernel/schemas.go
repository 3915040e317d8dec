package kernel

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/earshot-dev/earshot/utp"
)

// schemas compiles and keeps the parameter schemas of tools, by definition digest.
type schemas struct {
	mu    sync.Mutex
	known map[string]*jsonschema.Schema
}

const schemasKept = 256

// compiled returns the schema of a definition. It is closed: an object that does not
// say what further members it takes, takes none.
func (s *schemas) compiled(d utp.Definition) (*jsonschema.Schema, error) {
	digest, err := d.Digest()
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if schema, found := s.known[digest]; found {
		return schema, nil
	}
	parameters := d.Parameters
	if len(parameters) == 0 {
		parameters = jsontext.Value(`{"type":"object"}`)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(parameters))
	if err != nil {
		return nil, fmt.Errorf("parameters of %s: %w", d.Tool, err)
	}
	closeObjects(doc)
	compiler := jsonschema.NewCompiler()
	compiler.AssertFormat()
	compiler.UseLoader(noLoader{})
	const at = "urn:earshot:parameters"
	if err := compiler.AddResource(at, doc); err != nil {
		return nil, fmt.Errorf("parameters of %s: %w", d.Tool, err)
	}
	schema, err := compiler.Compile(at)
	if err != nil {
		return nil, fmt.Errorf("parameters of %s: %w", d.Tool, err)
	}
	if s.known == nil || len(s.known) >= schemasKept {
		s.known = map[string]*jsonschema.Schema{}
	}
	s.known[digest] = schema
	return schema, nil
}

// noLoader keeps a tool's schema from reading files or the network.
type noLoader struct{}

func (noLoader) Load(url string) (any, error) {
	return nil, errors.New("a schema may not refer to " + url + "; put what it needs into it")
}

// closeObjects adds additionalProperties:false to every object schema that lists
// properties and says nothing of others.
func closeObjects(node any) {
	switch node := node.(type) {
	case map[string]any:
		if _, lists := node["properties"].(map[string]any); lists && !speaksOfOthers(node) {
			node["additionalProperties"] = false
		}
		for key, child := range node {
			if key != "enum" && key != "const" && key != "default" && key != "examples" {
				closeObjects(child)
			}
		}
	case []any:
		for _, child := range node {
			closeObjects(child)
		}
	}
}

func speaksOfOthers(node map[string]any) bool {
	for _, key := range []string{"additionalProperties", "unevaluatedProperties", "allOf", "anyOf", "oneOf", "$ref"} {
		if _, said := node[key]; said {
			return true
		}
	}
	return false
}

// validate says what is wrong with the arguments, or "".
func (s *schemas) validate(d utp.Definition, args jsontext.Value) (string, error) {
	schema, err := s.compiled(d)
	if err != nil {
		return "", err
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(args))
	if err != nil {
		return "the arguments are no JSON: " + err.Error(), nil //nolint:nilerr // It is the call's fault, not ours.
	}
	err = schema.Validate(doc)
	if wrong, is := errors.AsType[*jsonschema.ValidationError](err); is {
		return "the arguments do not fit the tool: " + firstCause(wrong), nil
	}
	if err != nil {
		return "", fmt.Errorf("parameters of %s: %w", d.Tool, err)
	}
	return "", nil
}

// firstCause is the deepest first cause, as one line: where, and what.
func firstCause(e *jsonschema.ValidationError) string {
	for len(e.Causes) > 0 {
		e = e.Causes[0]
	}
	line := e.Error()
	if _, after, found := strings.Cut(line, "\n"); found {
		line = after
	}
	return "/" + strings.Join(e.InstanceLocation, "/") + ": " + strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(line), "-"))
}
