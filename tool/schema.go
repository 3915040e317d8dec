package tool

import (
	"encoding"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// TypeError says why no schema can be derived from a type, and where.
type TypeError struct {
	// Path is the place in the arguments, such as sets[].keep; "" is the whole.
	Path string
	// Type is the Go type at that place.
	Type string
	// Problem is what is wrong, and what to do.
	Problem string
}

func (e *TypeError) Error() string {
	where := "the arguments"
	if e.Path != "" {
		where = "the argument " + e.Path
	}
	return "tool: " + where + " of type " + e.Type + ": " + e.Problem
}

// Schemer is a type that supplies its own JSON Schema, which is necessary if it has its own decoder.
type Schemer interface {
	JSONSchema() jsontext.Value
}

// SchemaFor derives the JSON Schema 2020-12 of a struct of arguments, as [Func] does. It
// says what [Call.Decode] takes, and nothing more:
//
//   - objects are closed, and names are those of the json tags;
//   - a member is required unless it is a pointer, has omitzero or omitempty in its json
//     tag, or a default;
//   - the tags description, enum (divided by commas), format, pattern, default, minimum,
//     maximum, exclusiveMinimum, exclusiveMaximum, multipleOf, minLength, maxLength,
//     minItems, maxItems and uniqueItems are the keywords of those names; on a list, those
//     that fit no list are about its items;
//   - time.Time is a date-time, []byte is base64, a map has string keys, an interface
//     without methods takes any value, and a type that contains itself is referred to.
//
// The same type gives the same bytes in every run. The error is a [*TypeError].
func SchemaFor[T any]() (jsontext.Value, error) {
	s, err := shapeOf(reflect.TypeFor[T]())
	return s.schema, err
}

// shape is what a struct of arguments says about a tool.
type shape struct {
	schema   jsontext.Value
	defaults map[string]jsontext.Value
	envs     map[string]string
}

// node is a schema before it is encoded. Members are sorted when it is written.
type node map[string]any

const draft = "https://json-schema.org/draft/2020-12/schema"

func shapeOf(t reflect.Type) (shape, error) {
	d := deriver{root: t, recursive: map[reflect.Type]bool{}, names: map[reflect.Type]string{}, defs: node{}}
	if t.Kind() != reflect.Struct || t == timeType || hasOwnSchema(t) {
		return shape{}, &TypeError{Type: t.String(), Problem: "the arguments of a tool are a struct"}
	}
	d.findCycles(t, nil)
	object, err := d.object(t, "")
	if err != nil {
		return shape{}, err
	}
	object["$schema"] = draft
	if len(d.defs) > 0 {
		object["$defs"] = d.defs
	}
	raw, err := json.Marshal(object, json.Deterministic(true))
	if err != nil {
		return shape{}, &TypeError{Type: t.String(), Problem: err.Error()}
	}
	return shape{schema: raw, defaults: d.defaults, envs: d.envs}, nil
}

// deriver makes one schema.
type deriver struct {
	root      reflect.Type
	recursive map[reflect.Type]bool
	names     map[reflect.Type]string // of the recursive types, in defs
	defs      node
	defaults  map[string]jsontext.Value
	envs      map[string]string
}

var (
	timeType     = reflect.TypeFor[time.Time]()
	durationType = reflect.TypeFor[time.Duration]()
	secretType   = reflect.TypeFor[Secret]()
	valueType    = reflect.TypeFor[jsontext.Value]()
	schemerType  = reflect.TypeFor[Schemer]()
	textType     = reflect.TypeFor[encoding.TextUnmarshaler]()
)

func hasOwnSchema(t reflect.Type) bool {
	return t.Implements(schemerType) || reflect.PointerTo(t).Implements(schemerType)
}

// decodesItself reports whether a type has its own decoder, so that its fields do not reveal its JSON.
func decodesItself(t reflect.Type) bool {
	p := reflect.PointerTo(t)
	return p.Implements(reflect.TypeFor[json.Unmarshaler]()) || p.Implements(reflect.TypeFor[json.UnmarshalerFrom]())
}

// findCycles marks the types that contain themselves.
func (d *deriver) findCycles(t reflect.Type, above []reflect.Type) {
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Array, reflect.Map:
		if t.Name() != "" { // only a named type can contain itself
			if slices.Contains(above, t) {
				d.recursive[t] = true
				return
			}
			above = append(above, t)
		}
		d.findCycles(t.Elem(), above)
	case reflect.Struct:
		if t == timeType || hasOwnSchema(t) || decodesItself(t) {
			return
		}
		if slices.Contains(above, t) {
			d.recursive[t] = true
			return
		}
		for f := range t.Fields() {
			if f.IsExported() || f.Anonymous {
				d.findCycles(f.Type, append(above, t))
			}
		}
	default:
	}
}

// of is the schema of a type at a place.
func (d *deriver) of(t reflect.Type, path string) (node, error) {
	if t.Kind() == reflect.Pointer {
		return d.of(t.Elem(), path)
	}
	switch {
	case d.recursive[t]:
		return d.reference(t, path)
	case t == timeType:
		return node{keyType: "string", "format": "date-time"}, nil
	case t == durationType:
		return nil, d.refuse(t, path, "JSON has no durations; take a number of seconds, or a string")
	case t == valueType:
		return node{}, nil
	case hasOwnSchema(t):
		return d.schemaOf(t, path)
	case decodesItself(t):
		return nil, d.refuse(t, path, "it decodes itself; give it a method JSONSchema() jsontext.Value that says what it takes")
	case reflect.PointerTo(t).Implements(textType):
		return node{keyType: "string"}, nil
	}
	return d.plain(t, path)
}

const (
	keyType       = "type"
	keyProperties = "properties"
	keyItems      = "items"
)

// plain returns the schema of a type without its own.
func (d *deriver) plain(t reflect.Type, path string) (node, error) {
	switch t.Kind() {
	case reflect.Bool:
		return node{keyType: "boolean"}, nil
	case reflect.String:
		return node{keyType: "string"}, nil
	case reflect.Float32, reflect.Float64:
		return node{keyType: "number"}, nil
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		n := node{keyType: "integer"}
		if bits := t.Bits(); bits < 64 {
			n["minimum"], n["maximum"] = -(int64(1) << (bits - 1)), int64(1)<<(bits-1)-1
		}
		return n, nil
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		n := node{keyType: "integer", "minimum": 0}
		if bits := t.Bits(); bits < 64 {
			n["maximum"] = int64(1)<<bits - 1
		}
		return n, nil
	case reflect.Slice, reflect.Array:
		return d.list(t, path)
	case reflect.Map:
		return d.table(t, path)
	case reflect.Struct:
		return d.object(t, path)
	case reflect.Interface:
		if t.NumMethod() == 0 {
			return node{}, nil
		}
		return nil, d.refuse(t, path, "an interface with methods cannot be decoded; take a struct")
	default:
		return nil, d.refuse(t, path, "JSON has nothing like it")
	}
}

func (d *deriver) list(t reflect.Type, path string) (node, error) {
	if t.Elem().Kind() == reflect.Uint8 {
		n := node{keyType: "string", "contentEncoding": "base64"}
		if t.Kind() == reflect.Array {
			size := (t.Len() + 2) / 3 * 4 //nolint:mnd // Four characters for each three bytes.
			n["minLength"], n["maxLength"] = size, size
		}
		return n, nil
	}
	items, err := d.of(t.Elem(), path+"[]")
	if err != nil {
		return nil, err
	}
	n := node{keyType: "array", keyItems: items}
	if t.Kind() == reflect.Array {
		n["minItems"], n["maxItems"] = t.Len(), t.Len()
	}
	return n, nil
}

func (d *deriver) table(t reflect.Type, path string) (node, error) {
	if k := t.Key(); k.Kind() != reflect.String || decodesItself(k) || reflect.PointerTo(k).Implements(textType) {
		return nil, d.refuse(t, path, "the keys of a map are strings")
	}
	values, err := d.of(t.Elem(), path+".*")
	if err != nil {
		return nil, err
	}
	return node{keyType: "object", "additionalProperties": values}, nil
}

// schemaOf returns the schema that a type supplies.
func (d *deriver) schemaOf(t reflect.Type, path string) (node, error) {
	schemer, ok := reflect.TypeAssert[Schemer](reflect.New(t))
	if !ok {
		return nil, d.refuse(t, path, "its method JSONSchema cannot be called")
	}
	n := node{}
	if err := json.Unmarshal(schemer.JSONSchema(), (*map[string]any)(&n)); err != nil {
		return nil, d.refuse(t, path, "its JSONSchema is not a JSON object: "+err.Error())
	}
	return n, nil
}

// reference adds a recursive type to the definitions and refers to it.
func (d *deriver) reference(t reflect.Type, path string) (node, error) {
	if t == d.root {
		return node{"$ref": "#"}, nil
	}
	name, known := d.names[t]
	if !known {
		name = d.free(t.Name())
		d.names[t] = name
		d.defs[name] = nil // taken, and filled when it is known
		n, err := d.plain(t, path)
		if err != nil {
			return nil, err
		}
		d.defs[name] = n
	}
	return node{"$ref": "#/$defs/" + name}, nil
}

// free returns an unused name in defs.
func (d *deriver) free(name string) string {
	name = strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' {
			return r
		}
		return '_'
	}, name)
	for out, n := name, 2; ; n++ {
		if _, used := d.defs[out]; !used {
			return out
		}
		out = fmt.Sprintf("%s%d", name, n)
	}
}

func (d *deriver) refuse(t reflect.Type, path, problem string) error {
	return &TypeError{Path: strings.TrimPrefix(path, "."), Type: t.String(), Problem: problem}
}
