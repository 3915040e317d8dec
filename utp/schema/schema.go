// Package schema compiles the JSON Schema of a tool's arguments. The kernel validates every call with it. Tool authors
// use it too, so that a bad schema is reported when the program starts, with the same message.
package schema

import (
	"errors"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// Schema is a compiled schema. It may be used by several goroutines at once.
type Schema struct {
	root    *node
	dynamic bool
}

// Compile compiles a JSON Schema: 2020-12, or the older version from draft-04 on that its $schema names. It asserts formats.
// Objects are closed: an object schema that lists its properties, and does not mention additional ones, allows no others.
// References to anything outside the schema are refused. The error is a single line.
func Compile(parameters jsontext.Value) (*Schema, error) {
	document, err := Decode(parameters)
	if err != nil {
		return nil, wrong(err)
	}
	closeObjects(document)
	c := &compiler{}
	root, err := c.compile(document)
	if err != nil {
		return nil, wrong(err)
	}
	return &Schema{root: root, dynamic: c.dynamic}, nil
}

// Property returns the schema of a member that the schema lists by name. A member that it does not list has none.
func (s *Schema) Property(name string) (*Schema, bool) {
	if s.root.object == nil {
		return nil, false
	}
	n, listed := s.root.object.byName[name]
	if !listed {
		return nil, false
	}
	return &Schema{root: n, dynamic: s.dynamic}, true
}

// Validate validates a value in the form that [Decode] returns; numbers may also have the types of Go. It returns [ErrWork]
// if that takes too much work. [Why] and [Explain] explain every other error.
func (s *Schema) Validate(value any) error {
	e := &evaluation{left: fullWork * (baseWork + valueWork*values(value)), dynamic: s.dynamic}
	return bounded(func() error {
		if m := e.value(s.root, value, nil); m != nil {
			return m
		}
		return nil
	})
}

// ValidateJSON validates a value as [Schema.Validate] does. An error that is about the value is explained by [Why].
func (s *Schema) ValidateJSON(value jsontext.Value) error {
	decoded, err := Decode(value)
	if err != nil {
		return err
	}
	return s.Validate(decoded)
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
	m, is := errors.AsType[*mismatch](err)
	if !is {
		return nil, "", false
	}
	return m.where, reason(m), true
}

func wrong(err error) error {
	return fmt.Errorf("it is not JSON Schema: %s", strings.Join(strings.Fields(err.Error()), " "))
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
