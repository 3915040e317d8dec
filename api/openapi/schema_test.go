package openapi_test

import (
	"bytes"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/api"
)

// object is a JSON object whose members keep their order.
type object []member

type member struct {
	name  string
	value any
}

func (o object) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, m := range o {
		if i > 0 {
			b.WriteByte(',')
		}
		name, err := json.Marshal(m.name)
		if err != nil {
			return nil, err
		}
		value, err := json.Marshal(m.value)
		if err != nil {
			return nil, err
		}
		b.Write(name)
		b.WriteByte(':')
		b.Write(value)
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// field is a member of an object, as its type says.
type field struct {
	name, doc string
	kind      reflect.Type
	required  bool
	text      bool // a number that is written as a string
}

// schemas derives the JSON Schema of Go types as the product decodes and encodes them.
type schemas struct {
	t        *testing.T
	comments comments
	named    map[string]reflect.Type // the types that have a schema of their own
}

// use is the schema of a value of the type; that of a named type is a reference.
func (s *schemas) use(of reflect.Type) object {
	switch of {
	case reflect.TypeFor[time.Time]():
		return object{{"type", "string"}, {"format", "date-time"}}
	case reflect.TypeFor[jsontext.Value]():
		return object{}
	case reflect.TypeFor[api.Response]():
		return object{{"type", []string{"string", "boolean", "number"}}}
	case reflect.TypeFor[[]byte]():
		return object{{"type", "string"}, {"contentEncoding", "base64"}}
	case reflect.TypeFor[api.Empty]():
		return object{{"type", "object"}}
	}
	if of.Kind() == reflect.Pointer {
		return s.use(of.Elem())
	}
	if of.PkgPath() != "" {
		s.name(of)
		return object{{"$ref", "#/components/schemas/" + of.Name()}}
	}
	return s.form(of)
}

// name notes a type that has a schema of its own, and those that it leads to.
func (s *schemas) name(of reflect.Type) {
	s.t.Helper()
	if known, is := s.named[of.Name()]; is {
		if known != of {
			s.t.Fatalf("%v and %v have one name", known, of)
		}
		return
	}
	s.named[of.Name()] = of
	s.form(of)
}

// form is the schema of a type itself.
func (s *schemas) form(of reflect.Type) object {
	s.t.Helper()
	if of == reflect.TypeFor[api.AAEPMessage]() {
		return object{{"type", "object"}}
	}
	switch of.Kind() { //nolint:exhaustive // no type of the API is of the others
	case reflect.String:
		return object{{"type", "string"}}
	case reflect.Bool:
		return object{{"type", "boolean"}}
	case reflect.Float64:
		return object{{"type", "number"}}
	case reflect.Int, reflect.Int64:
		return object{{"type", "integer"}}
	case reflect.Slice:
		return object{{"type", "array"}, {"items", s.use(of.Elem())}}
	case reflect.Map:
		return object{{"type", "object"}, {"additionalProperties", s.use(of.Elem())}}
	case reflect.Struct:
		return s.structure(of)
	}
	s.t.Fatalf("%v has no schema yet", of)
	return nil
}

func (s *schemas) structure(of reflect.Type) object {
	properties, required := object{}, []string{}
	for _, f := range s.fields(of) {
		schema := s.use(f.kind)
		if f.text {
			schema = object{{"type", "string"}}
		}
		if f.doc != "" {
			schema = append(schema, member{"description", f.doc})
		}
		properties = append(properties, member{f.name, schema})
		if f.required {
			required = append(required, f.name)
		}
	}
	form := object{{"type", "object"}, {"properties", properties}}
	if len(required) > 0 {
		form = append(form, member{"required", required})
	}
	return form
}

// fields are the members of a struct, those of embedded ones in their place.
func (s *schemas) fields(of reflect.Type) []field {
	var all []field
	for f := range of.Fields() {
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case f.Anonymous && name == "":
			all = append(all, s.fields(f.Type)...)
		case name == "-" || !f.IsExported():
		default:
			given := strings.Split(options, ",")
			all = append(all, field{
				name: name, doc: s.comments.of(of, f.Name, name), kind: f.Type,
				required: !slices.Contains(given, "omitzero") && !slices.Contains(given, "omitempty"), text: slices.Contains(given, "string"),
			})
		}
	}
	return all
}

// names are those of the types, in alphabetical order.
func (s *schemas) names() []string { return slices.Sorted(maps.Keys(s.named)) }

// doc is what the sources say of a type, and which values it has where it is a text.
func (s *schemas) doc(of reflect.Type) string {
	text := s.comments.ofType(of)
	if values := s.comments.values[of.String()]; len(values) > 0 {
		text = strings.TrimSpace(text + fmt.Sprintf(" Among its values: %s.", strings.Join(values, ", ")))
	}
	return text
}

// components are the schemas of all types that have been used.
func (s *schemas) components() object {
	all := object{}
	for _, name := range s.names() {
		schema := s.form(s.named[name])
		if doc := s.doc(s.named[name]); doc != "" {
			schema = append(object{{"description", doc}}, schema...)
		}
		all = append(all, member{name, schema})
	}
	return all
}
