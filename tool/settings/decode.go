package settings

import (
	"cmp"
	"errors"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
)

// Decode decodes the section into a struct whose fields have yaml tags. A name that the struct does not have is
// refused, and so is an empty value. The error is an [*Error].
func (s Section) Decode(into any) error {
	if err := check(s.node, reflect.TypeOf(into).Elem(), s.path); err != nil {
		return err
	}
	err := s.node.Decode(into)
	if wrong, is := errors.AsType[*yaml.TypeError](err); is {
		return syntaxError(errors.New(wrong.Errors[0]))
	}
	if err != nil {
		return s.Fault(nil, err.Error(), "", "")
	}
	return nil
}

var (
	nodeType     = reflect.TypeFor[yaml.Node]()
	durationType = reflect.TypeFor[time.Duration]()
	customType   = reflect.TypeFor[yaml.Unmarshaler]()
)

// check compares a node with the type that it will fill.
func check(node *yaml.Node, t reflect.Type, path []any) error {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	wrong := func(expected string) error {
		return &Error{Line: node.Line, Field: pathText(path), Found: "it is " + kindOf(node), Value: valueOf(node), Expected: expected}
	}
	switch {
	case t == nodeType:
		return nil
	case reflect.PointerTo(t).Implements(customType):
		return leaf(node, t, path)
	case node.Kind == yaml.ScalarNode && node.Tag == tagNull:
		return wrong("a value, or no such line")
	case t.Kind() == reflect.Struct:
		if node.Kind != yaml.MappingNode {
			return wrong("names and values")
		}
		return checkStruct(node, t, path)
	case t.Kind() == reflect.Map:
		if node.Kind != yaml.MappingNode {
			return wrong("names and values")
		}
		for i := 0; i+1 < len(node.Content); i += 2 {
			if err := check(node.Content[i+1], t.Elem(), below(path, node.Content[i].Value)); err != nil {
				return err
			}
		}
		return nil
	case t.Kind() == reflect.Slice:
		if node.Kind != yaml.SequenceNode {
			return wrong("a list")
		}
		for i, item := range node.Content {
			if err := check(item, t.Elem(), below(path, i)); err != nil {
				return err
			}
		}
		return nil
	default:
		return leaf(node, t, path)
	}
}

func checkStruct(node *yaml.Node, t reflect.Type, path []any) error {
	var names []string
	types := map[string]reflect.Type{}
	for _, f := range reflect.VisibleFields(t) { // with those of a struct that is inline
		if name, _, _ := strings.Cut(f.Tag.Get("yaml"), ","); name != "" && name != "-" {
			names = append(names, name)
			types[name] = f.Type
		}
	}
	for i := 0; i+1 < len(node.Content); i += 2 {
		key := node.Content[i]
		below := below(path, key.Value)
		field, known := types[key.Value]
		if !known {
			return unknown(key.Line, below, names)
		}
		if err := check(node.Content[i+1], field, below); err != nil {
			return err
		}
	}
	return nil
}

// unknown is the error for an unknown name at the end of a path.
func unknown(line int, path []any, known []string) *Error {
	name, _ := path[len(path)-1].(string)
	hint := cmp.Or(Suggest(name, known, ""), "the names here are: "+strings.Join(known, ", "))
	return &Error{Line: line, Field: pathText(path), Found: "unknown name", Hint: hint}
}

// leaf checks a single value.
func leaf(node *yaml.Node, t reflect.Type, path []any) error {
	wrong := func(expected string) error {
		return &Error{Line: node.Line, Field: pathText(path), Found: "it is " + kindOf(node), Value: valueOf(node), Expected: expected}
	}
	custom := reflect.PointerTo(t).Implements(customType)
	switch {
	case custom:
	case node.Kind != yaml.ScalarNode:
		return wrong(expectedOf(t))
	case t == durationType:
		if d, err := time.ParseDuration(node.Value); err != nil || d < 0 {
			return wrong(expectedOf(t))
		}
		return nil
	case t.Kind() == reflect.String && !slices.Contains([]string{"!!str", "!!timestamp"}, node.ShortTag()):
		return wrong("a text; put it into quotes")
	}
	err := node.Decode(reflect.New(t).Interface())
	if err != nil && custom {
		return wrong(err.Error())
	}
	if err != nil {
		return wrong(expectedOf(t))
	}
	return nil
}

func expectedOf(t reflect.Type) string {
	switch {
	case t == durationType:
		return "a time such as 30s or 2m"
	case t.Kind() == reflect.Bool:
		return "true or false"
	case t.Kind() == reflect.Int, t.Kind() == reflect.Int64:
		return "a whole number"
	default:
		return "one value"
	}
}

// Size is a number of bytes, written as 65536, 64KiB or 1MiB.
type Size int64

// UnmarshalYAML reads a size; the error says what was expected.
func (s *Size) UnmarshalYAML(node *yaml.Node) error {
	number, unit := node.Value, int64(1)
	for suffix, factor := range map[string]int64{"KiB": 1 << 10, "MiB": 1 << 20} {
		if text, is := strings.CutSuffix(node.Value, suffix); is {
			number, unit = strings.TrimSpace(text), factor
		}
	}
	n, err := strconv.ParseInt(number, 10, 32)
	if node.Kind != yaml.ScalarNode || err != nil || n < 0 {
		return errSize
	}
	*s = Size(n * unit)
	return nil
}

type sizeError struct{}

func (sizeError) Error() string { return "a size such as 4096, 64KiB or 1MiB" }

var errSize = sizeError{}
