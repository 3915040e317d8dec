// Package schema compiles the JSON Schema of a tool's arguments. The kernel validates every call with it. Tool authors
// use it too, so that a bad schema is reported when the program starts, with the same message.
package schema

import (
	"bytes"
	"errors"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

// Compile compiles a JSON Schema (2020-12). It asserts formats. Objects are closed: an object schema that lists its
// properties, and does not mention additional ones, allows no others. References to anything outside the schema are
// refused. The error is a single line.
func Compile(parameters jsontext.Value) (*Schema, error) {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(parameters))
	if err != nil {
		return nil, wrong(err)
	}
	closeObjects(doc)
	compiler := jsonschema.NewCompiler()
	compiler.AssertFormat()
	compiler.UseLoader(nothingOutside{})
	w := &work{}
	compiler.RegisterVocabulary(w.vocabulary())
	compiler.AssertVocabs()
	if err := compiler.AddResource(schemaURL, doc); err != nil {
		return nil, wrong(err)
	}
	compiled, err := compiler.Compile(schemaURL)
	if err != nil {
		return nil, wrong(err)
	}
	return &Schema{Schema: compiled, work: w}, nil
}

// ValidateJSON validates a value as [Schema.Validate] does. An error that is about the value is explained by [Why].
func (s *Schema) ValidateJSON(value jsontext.Value) error {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(value))
	if err != nil {
		return err //nolint:wrapcheck // it says where the JSON breaks off
	}
	return s.Validate(doc)
}

// Why returns the deepest first cause for which a value does not fit, as one line: where, and what. It returns false if the
// error is about something else.
func Why(err error) (string, bool) {
	where, line, is := Explain(err)
	if !is || len(where) == 0 {
		return line, is
	}
	return "/" + strings.Join(where, "/") + ": " + line, true
}

// Explain is [Why] in two parts: the names of the members, and the positions in lists, that lead to the value that does not
// fit, and what is wrong with it. There are none where it is the whole value.
func Explain(err error) (where []string, what string, is bool) {
	e, is := errors.AsType[*jsonschema.ValidationError](err)
	if !is {
		return nil, "", false
	}
	for len(e.Causes) > 0 {
		e = e.Causes[0]
	}
	if text := reason(e.ErrorKind); text != "" {
		return e.InstanceLocation, text, true
	}
	line := e.Error()
	if _, after, found := strings.Cut(line, "\n"); found {
		line = after
	}
	line = strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(line), "-"))
	if where, what, found := strings.Cut(line, "': "); found && strings.HasPrefix(where, "at '") {
		line = what
	}
	return e.InstanceLocation, line, true
}

// schemaURL is the internal name of the schema while it is compiled; messages never show it.
const schemaURL = "urn:earshot:parameters"

func wrong(err error) error {
	// The library's message contains the name of the metaschema that it generates for [work].
	text := strings.NewReplacer(schemaURL, "", "urn:mem:metaschema", "https://json-schema.org/draft/2020-12/schema#").Replace(err.Error())
	return errors.New("it is not JSON Schema: " + strings.Join(strings.Fields(text), " "))
}

// nothingOutside prevents a schema from reading files or the network.
type nothingOutside struct{}

func (nothingOutside) Load(url string) (any, error) {
	return nil, errors.New("a schema may not refer to " + url + "; put what it needs into it")
}

// closeObjects adds additionalProperties:false to every object schema that lists properties and does not mention
// additional ones.
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
		if _, present := node[key]; present {
			return true
		}
	}
	return false
}
