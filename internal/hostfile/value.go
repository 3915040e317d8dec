package hostfile

import (
	"fmt"
	"maps"
	"math"
	"slices"
)

// Object is a table of a file, in the order in which it is written. Values are texts, numbers (int), truth values, lists ([]any) and objects.
type Object []Member

// Member is one of an [Object].
type Member struct {
	Name  string
	Value any
}

// first are the members that are written first, in this order; the others follow by their names.
var first = []string{"matcher", "name", "type", "command", "cmd", "args", "env", "envs", "url", "uri", "httpUrl", "headers"}

// ObjectOf puts a table that was read into an order in which people write such entries.
func ObjectOf(table map[string]any) Object {
	names := slices.Sorted(maps.Keys(table))
	rank := func(name string) int {
		if i := slices.Index(first, name); i >= 0 {
			return i
		}
		return len(first)
	}
	slices.SortStableFunc(names, func(a, b string) int { return rank(a) - rank(b) })
	out := make(Object, 0, len(names))
	for _, name := range names {
		out = append(out, Member{name, ordered(table[name])})
	}
	return out
}

func ordered(value any) any {
	switch value := value.(type) {
	case map[string]any:
		return ObjectOf(value)
	case []any:
		out := make([]any, len(value))
		for i := range value {
			out[i] = ordered(value[i])
		}
		return out
	case float64:
		if value == math.Trunc(value) && math.Abs(value) < 1<<53 {
			return int(value)
		}
	}
	return value
}

// Table is an object as it would be read again, whatever the format.
func (o Object) Table() map[string]any {
	out := make(map[string]any, len(o))
	for _, m := range o {
		out[m.Name] = normal(m.Value)
	}
	return out
}

// normal makes values of all formats comparable: a number is a number.
func normal(value any) any {
	switch value := value.(type) {
	case Object:
		return value.Table()
	case map[string]any:
		out := make(map[string]any, len(value))
		for name, one := range value {
			out[name] = normal(one)
		}
		return out
	case map[any]any: // of YAML
		out := make(map[string]any, len(value))
		for name, one := range value {
			out[fmt.Sprintf("%T %v", name, name)] = normal(one)
		}
		return out
	case []any:
		out := make([]any, len(value))
		for i := range value {
			out[i] = normal(value[i])
		}
		return out
	case []string:
		out := make([]any, len(value))
		for i := range value {
			out[i] = value[i]
		}
		return out
	case int:
		return float64(value)
	case int64:
		return float64(value)
	case uint64:
		return float64(value)
	case float64:
		if math.IsNaN(value) {
			return "not a number" // which is not equal to itself
		}
	}
	return value
}
