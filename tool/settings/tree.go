package settings

import (
	"errors"
	"math"
	"slices"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
	"go.yaml.in/yaml/v3"
)

// maxDepth limits the nesting of a file.
const maxDepth = 64

const (
	tagNull  = "!!null"
	tagMerge = "!!merge"
)

// plainTags are the types of values that a file may contain. Other tags name types of a programming language, or merge
// other parts of the file.
var plainTags = []string{"", tagNull, "!!str", "!!int", "!!float", "!!bool", "!!map", "!!seq", "!!timestamp"}

// checkTree refuses what would change the meaning of the written text: duplicate names, aliases, and types by name.
func checkTree(node *yaml.Node, path []any, depth int) error {
	wrong := func(found, value, expected string) error {
		return &Error{Line: node.Line, Field: pathText(path), Found: found + value, Value: value, Expected: expected}
	}
	switch {
	case depth > maxDepth:
		return wrong("it is nested too deep", "", "at most "+strconv.Itoa(maxDepth)+" levels")
	case node.Kind == yaml.AliasNode, node.Anchor != "":
		return wrong("it uses an anchor or an alias (& or *)", "", "the value itself, written out")
	case !slices.Contains(plainTags, node.ShortTag()):
		return wrong("it has the tag ", quote(node.Tag), "a plain value")
	case node.Kind == yaml.SequenceNode:
		for i, item := range node.Content {
			if err := checkTree(item, below(path, i), depth+1); err != nil {
				return err
			}
		}
	case node.Kind == yaml.MappingNode:
		return checkMapping(node, path, depth)
	}
	return nil
}

func checkMapping(node *yaml.Node, path []any, depth int) error {
	seen := map[string]int{}
	for i := 0; i+1 < len(node.Content); i += 2 {
		key := node.Content[i]
		at := below(path, key.Value)
		wrong := func(found, value, expected string) error {
			return &Error{Line: key.Line, Field: pathText(at), Found: found + value, Value: value, Expected: expected}
		}
		switch first, twice := seen[key.Value]; {
		case key.ShortTag() == tagMerge:
			return wrong("it merges what stands elsewhere (<<)", "", "the values themselves, written out")
		case key.Kind != yaml.ScalarNode, key.Anchor != "", key.ShortTag() == tagNull:
			return wrong("the name is not a plain word", "", "one")
		case twice:
			return wrong("it is there twice, first on line ", strconv.Itoa(first), "it once")
		}
		seen[key.Value] = key.Line
		if err := checkTree(node.Content[i+1], at, depth+1); err != nil {
			return err
		}
	}
	return nil
}

func below(path []any, step any) []any { return append(append([]any(nil), path...), step) }

// ParseJSON parses a YAML document as JSON, as strictly as [Parse]. Names that are numbers, such as the statuses of
// OpenAPI, become strings.
func ParseJSON(raw []byte) (jsontext.Value, error) {
	node, err := parse(raw)
	if err != nil {
		return nil, err
	}
	if err := checkTree(node, nil, 0); err != nil {
		return nil, err
	}
	return JSON(node)
}

// JSON returns the value of a node that was read with its section.
func JSON(node *yaml.Node) (jsontext.Value, error) {
	out, err := appendJSON(nil, node)
	if err != nil {
		return nil, &Error{Line: node.Line, Found: err.Error()}
	}
	return out, nil
}

func appendJSON(out []byte, node *yaml.Node) ([]byte, error) {
	var err error
	switch node.Kind {
	case yaml.MappingNode:
		out = append(out, '{')
		for i := 0; i+1 < len(node.Content); i += 2 {
			if i > 0 {
				out = append(out, ',')
			}
			if out, err = jsontext.AppendQuote(out, node.Content[i].Value); err != nil {
				return nil, err //nolint:wrapcheck // JSON names the place
			}
			if out, err = appendJSON(append(out, ':'), node.Content[i+1]); err != nil {
				return nil, err
			}
		}
		return append(out, '}'), nil
	case yaml.SequenceNode:
		out = append(out, '[')
		for i, item := range node.Content {
			if i > 0 {
				out = append(out, ',')
			}
			if out, err = appendJSON(out, item); err != nil {
				return nil, err
			}
		}
		return append(out, ']'), nil
	case yaml.ScalarNode:
		return appendScalar(out, node)
	default:
		return nil, errors.New("it is not a plain value")
	}
}

func appendScalar(out []byte, node *yaml.Node) ([]byte, error) {
	switch node.ShortTag() {
	case tagNull:
		return append(out, "null"...), nil
	case "!!bool":
		var v bool
		err := node.Decode(&v)
		return strconv.AppendBool(out, v), err
	case "!!int":
		var v int64
		if node.Decode(&v) == nil {
			return strconv.AppendInt(out, v, 10), nil
		}
	case "!!float":
		var v float64
		if err := node.Decode(&v); err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
			return nil, errors.New(quote(node.Value) + " is not a JSON number")
		}
		if literal := jsontext.Value(node.Value); literal.IsValid() {
			return append(out, literal...), nil
		}
		return strconv.AppendFloat(out, v, 'g', -1, 64), nil
	}
	if node.ShortTag() == "!!int" {
		return nil, errors.New(quote(node.Value) + " is too large a number")
	}
	return jsontext.AppendQuote(out, node.Value) //nolint:wrapcheck // JSON names the place
}
