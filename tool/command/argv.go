package command

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"go.yaml.in/yaml/v3"
)

// argument is one element of a template: a literal, a placeholder, or an option that appears only if its placeholder is
// filled.
type argument struct {
	Literal string
	// Placeholder is the name of a property; "" for a literal.
	Placeholder string
	// Option precedes each value of the placeholder. For a boolean placeholder it stands alone.
	Option string
	// Join writes option and value as one argument, --name=value.
	Join bool
	// Dash allows a value to begin with a dash.
	Dash bool
}

var (
	wholePlaceholder = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^\{([A-Za-z_][A-Za-z0-9_]*)\}$`)
	})
	anyPlaceholder = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`\{([A-Za-z_][A-Za-z0-9_]*)\}`)
	})
)

// UnmarshalYAML reads an element in any of its forms.
func (a *argument) UnmarshalYAML(node *yaml.Node) error {
	if node.Kind == yaml.ScalarNode {
		if node.ShortTag() == "!!null" {
			return errors.New("a text; an empty argument is \"\"")
		}
		return a.parse(node.Value)
	}
	var form struct {
		Value  string `yaml:"value"`
		Option string `yaml:"option"`
		Join   bool   `yaml:"join"`
		Dash   bool   `yaml:"dash"`
	}
	if node.Kind != yaml.MappingNode || node.Decode(&form) != nil {
		return errors.New("a text, or value, option, join and dash")
	}
	for i := 0; i < len(node.Content); i += 2 {
		if !slices.Contains([]string{"value", "option", "join", "dash"}, node.Content[i].Value) {
			return errors.New("value, option, join and dash, and no " + node.Content[i].Value)
		}
	}
	if err := a.parse(form.Value); err != nil || a.Placeholder == "" {
		return errors.New("value to be a place such as {name}")
	}
	if form.Join && !strings.HasPrefix(form.Option, "--") {
		return errors.New("join only with an option such as --name")
	}
	a.Option, a.Join, a.Dash = form.Option, form.Join, form.Dash
	return nil
}

// parse reads a literal or a placeholder. A placeholder is a whole argument, because programs differ in how they split
// an argument that is assembled from parts.
func (a *argument) parse(text string) error {
	if match := wholePlaceholder().FindStringSubmatch(text); match != nil {
		a.Placeholder = match[1]
		return nil
	}
	a.Literal = text
	return nil
}

// template is a list of arguments, checked against the properties of a schema.
type template []argument

// scalarKinds are the types that a placeholder can have.
var scalarKinds = []string{"string", "integer", "number", "boolean"}

// check returns the index of the first invalid element, and why it is invalid; properties are the schemas by name.
func (t template) check(properties map[string]jsontext.Value) (int, error) {
	for i, a := range t {
		for _, text := range []string{a.Literal, a.Option} {
			if strings.ContainsRune(text, 0) {
				return i, errors.New("it holds a NUL")
			}
			if match := anyPlaceholder().FindStringSubmatch(text); len(match) > 1 && properties[match[1]] != nil {
				return i, fmt.Errorf("the place {%s} is a part of an argument; a place is a whole argument, or option with join", match[1])
			}
		}
		if a.Placeholder == "" {
			continue
		}
		schema, known := properties[a.Placeholder]
		if !known {
			return i, fmt.Errorf("the parameters have no property %s", a.Placeholder)
		}
		kind, item := kindsOf(schema)
		switch {
		case slices.Contains(scalarKinds, kind), kind == "array" && slices.Contains(scalarKinds, item) && item != "boolean":
		default:
			return i, fmt.Errorf("the property %s is not a string, number, integer, boolean, or array of those; say so with type", a.Placeholder)
		}
		if kind == "boolean" && a.Option == "" {
			return i, fmt.Errorf("the property %s is true or false; give it the option that stands for true", a.Placeholder)
		}
	}
	return 0, nil
}

// kindsOf returns the type of a schema, and that of its items.
func kindsOf(schema jsontext.Value) (kind, item string) {
	var s struct {
		Type  jsontext.Value `json:"type"`
		Items struct {
			Type jsontext.Value `json:"type"`
		} `json:"items"`
	}
	if json.Unmarshal(schema, &s) != nil {
		return "", ""
	}
	return text(s.Type), text(s.Items.Type)
}

// text returns the value of a JSON string, else "".
func text(v jsontext.Value) string {
	if v.Kind() != jsontext.KindString {
		return ""
	}
	raw, err := jsontext.AppendUnquote(nil, v)
	if err != nil {
		return ""
	}
	return string(raw)
}

// maxArgument is the longest argument that Linux accepts, in bytes; maxArguments limits all arguments together.
const (
	maxArgument  = 128<<10 - 1
	maxArguments = 1 << 20
)

// fill returns the arguments of one call. Args are the consented members.
func (t template) fill(args map[string]jsontext.Value) ([]string, error) {
	var out []string
	total, operands := 0, false // after a literal --, nothing is an option
	for _, a := range t {
		more, err := a.fill(args, operands)
		if err != nil {
			return nil, err
		}
		operands = operands || a.Placeholder == "" && a.Literal == "--"
		for _, arg := range more {
			total += len(arg) + 1
			if len(arg) > maxArgument || total > maxArguments {
				return nil, fmt.Errorf("the argument %s is too long: one has at most %d bytes, and all have %d", a.Placeholder, maxArgument, maxArguments)
			}
		}
		out = append(out, more...)
	}
	return out, nil
}

func (a argument) fill(args map[string]jsontext.Value, operands bool) ([]string, error) {
	if a.Placeholder == "" {
		return []string{a.Literal}, nil
	}
	raw, given := args[a.Placeholder]
	if !given || raw.Kind() == jsontext.KindNull {
		return nil, nil
	}
	values := []jsontext.Value{raw}
	if raw.Kind() == jsontext.KindBeginArray {
		if err := json.Unmarshal(raw, &values); err != nil {
			return nil, fmt.Errorf("the argument %s cannot be read: %w", a.Placeholder, err)
		}
	}
	var out []string
	for _, v := range values {
		switch v.Kind() {
		case jsontext.KindTrue:
			out = append(out, a.Option)
			continue
		case jsontext.KindFalse:
			continue
		default:
		}
		text, err := textOf(v)
		if err != nil {
			return nil, fmt.Errorf("the argument %s %w", a.Placeholder, err)
		}
		switch {
		case a.Join:
			out = append(out, a.Option+"="+text)
		case strings.HasPrefix(text, "-") && !operands && !a.Dash:
			return nil, fmt.Errorf("the argument %s begins with a dash, and would be read as an option", a.Placeholder)
		case a.Option != "":
			out = append(out, a.Option, text)
		default:
			out = append(out, text)
		}
	}
	return out, nil
}

// textOf returns a value as an argument: a string unchanged, a number with the digits that were consented to.
func textOf(v jsontext.Value) (string, error) {
	switch v.Kind() {
	case jsontext.KindNumber:
		return v.String(), nil
	case jsontext.KindString:
		raw, err := jsontext.AppendUnquote(nil, v)
		if err == nil && bytes.ContainsRune(raw, 0) {
			err = errors.New("holds a NUL")
		}
		return string(raw), err
	default:
		return "", errors.New("is neither text nor a number")
	}
}
