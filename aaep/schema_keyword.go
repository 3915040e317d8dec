package aaep

import (
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// schema is one JSON Schema, or a part of one; its keywords are written in this order.
// An empty keyword is not written: for each of them, that means the same.
type schema struct {
	Schema                string           `json:"$schema,omitzero"`
	ID                    string           `json:"$id,omitzero"`
	Comment               string           `json:"$comment,omitzero"`
	Title                 string           `json:"title,omitzero"`
	Description           string           `json:"description,omitzero"`
	Ref                   string           `json:"$ref,omitzero"`
	Type                  any              `json:"type,omitzero"` // a word, or several
	Const                 any              `json:"const,omitzero"`
	Enum                  []any            `json:"enum,omitzero"`
	Pattern               string           `json:"pattern,omitzero"`
	Format                string           `json:"format,omitzero"`
	MinLength             int              `json:"minLength,omitzero"`
	MaxLength             int              `json:"maxLength,omitzero"`
	Minimum               *float64         `json:"minimum,omitzero"`
	Maximum               *float64         `json:"maximum,omitzero"`
	MinItems              int              `json:"minItems,omitzero"`
	MaxItems              int              `json:"maxItems,omitzero"`
	UniqueItems           bool             `json:"uniqueItems,omitzero"`
	PrefixItems           []schema         `json:"prefixItems,omitzero"`
	Items                 *schema          `json:"items,omitzero"`
	Contains              *schema          `json:"contains,omitzero"`
	Required              []string         `json:"required,omitzero"`
	Properties            members          `json:"properties,omitzero"`
	PatternProperties     members          `json:"patternProperties,omitzero"`
	PropertyNames         *schema          `json:"propertyNames,omitzero"`
	AdditionalProperties  any              `json:"additionalProperties,omitzero"` // false, or a schema
	UnevaluatedProperties *bool            `json:"unevaluatedProperties,omitzero"`
	AllOf                 []schema         `json:"allOf,omitzero"`
	AnyOf                 []schema         `json:"anyOf,omitzero"`
	Not                   *schema          `json:"not,omitzero"`
	If                    *schema          `json:"if,omitzero"`
	Then                  *schema          `json:"then,omitzero"`
	Else                  *schema          `json:"else,omitzero"`
	Default               jsontext.Value   `json:"default,omitzero"`
	Examples              []jsontext.Value `json:"examples,omitzero"`
	Defs                  members          `json:"$defs,omitzero"`
}

// members is an object of schemas that keeps its order.
type members []named

type named struct {
	name string
	is   schema
}

var _ json.MarshalerTo = members(nil)

// MarshalJSONTo writes the members as one object.
func (m members) MarshalJSONTo(encoder *jsontext.Encoder) error {
	if err := encoder.WriteToken(jsontext.BeginObject); err != nil {
		return err //nolint:wrapcheck // Schema names it
	}
	for _, each := range m {
		if err := encoder.WriteToken(jsontext.String(each.name)); err != nil {
			return err //nolint:wrapcheck // Schema names it
		}
		if err := json.MarshalEncode(encoder, each.is); err != nil {
			return err //nolint:wrapcheck // Schema names it
		}
	}
	return encoder.WriteToken(jsontext.EndObject) //nolint:wrapcheck // Schema names it
}

func schemaHead(name, title, description string) schema {
	return schema{
		Schema: "https://json-schema.org/draft/2020-12/schema", ID: SchemaID(name), Title: title, Description: description,
	}
}

// object describes an object by its rows.
func (s *schema) object(fields []Field, closed, spec string) {
	s.Type = "object"
	for _, f := range fields {
		if f.Spec == "" {
			f.Spec = spec
		}
		s.Properties = append(s.Properties, named{f.Name, fieldSchema(f)})
		if f.Required {
			s.Required = append(s.Required, f.Name)
		}
	}
	if closed != "" {
		s.AdditionalProperties = false
	}
}

// fieldSchema describes a value by its row.
func fieldSchema(f Field) schema {
	s := schema{Comment: source(f), Description: f.Description, Default: defaultValue(f)}
	switch f.Kind {
	case KindScalar:
		s.Type = []string{"string", "boolean", "number"}
		s.text(f)
	case KindString:
		s.Type = "string"
		s.text(f)
	case KindInteger, KindNumber:
		s.Type = string(f.Kind)
		if f.Bounded {
			s.Minimum, s.Maximum = new(f.Low), new(f.High)
		}
	case KindBoolean:
		s.Type = "boolean"
	case KindArray:
		s.Type, s.MinItems, s.MaxItems, s.UniqueItems = "array", f.MinLen, f.MaxLen, f.Unique
		s.Items = new(itemSchema(*f.Item))
	case KindObject:
		s.object(f.Members, f.Closed, f.Spec)
		if f.Each != nil {
			s.AdditionalProperties = new(schema{Type: string(f.Each.Kind)})
		}
	case KindContext: // its rule says it all
	}
	for _, r := range f.Checks {
		if r.shape != nil {
			r.shape(&s)
		}
	}
	return s
}

// itemSchema describes the items of an array; they have no rule but the array's.
func itemSchema(f Field) schema {
	s := fieldSchema(f)
	if f.Rule == "" {
		s.Comment = ""
	}
	return s
}

func (s *schema) text(f Field) {
	s.MinLength, s.MaxLength = f.MinLen, f.MaxLen
	s.Pattern = f.Pattern.Expression()
	switch f.Format {
	case FormatURI:
		s.Format, s.Pattern = "uri", uriExpression
	case FormatTimestamp:
		s.Format, s.Pattern = "date-time", timestampPattern
	case FormatLanguage: // its pattern; JSON Schema has no format for it
	default: // no format
	}
	switch len(f.Enum) {
	case 0:
	case 1:
		s.Type, s.Const = nil, f.Enum[0]
	default:
		s.Enum = anyOfValues(f.Enum)
	}
}

// source names the rules and the section of a row.
func source(f Field) string {
	rules := strings.Join(append([]string{f.Rule}, f.Also...), ", ")
	if f.Spec == "" {
		return rules
	}
	return rules + ", " + f.Spec
}

// defaultValue is what an absent value means, as JSON.
func defaultValue(f Field) jsontext.Value {
	if f.Default == "" {
		return nil
	}
	if f.Kind == KindString {
		return quote(f.Default)
	}
	return jsontext.Value(f.Default)
}

// unsayable returns the rules of errors, and of advice, that the exported schema of a
// message cannot say.
func unsayable(m Message) (unsaid, advice []string) {
	unsaid = []string{"ENV-02", "ENV-05", "ENV-60"} // what a reader of JSON has lost already
	advice = []string{"ENV-49", "ENV-50", "ENV-51", "ENV-52"}
	fields := m.Fields
	if m.Event {
		fields = slices.Concat(envelope(), fields)
		advice = append(advice, "ENV-13", "ENV-36", "ENV-58", "I18N-01", "I18N-19", "I18N-22")
	}
	if slices.ContainsFunc(m.Fields, func(f Field) bool { return f.Readable }) {
		unsaid = append(unsaid, "ENV-47") // that the language of a variant is one
	}
	for _, r := range m.Rules {
		unsaid, advice = r.beyond(unsaid, advice)
	}
	for _, f := range fields {
		unsaid, advice = f.beyond(unsaid, advice)
	}
	return Ranked(unsaid...), Ranked(advice...)
}

// beyond adds the rules of a row that a schema cannot say.
func (f Field) beyond(unsaid, advice []string) (moreUnsaid, moreAdvice []string) {
	switch f.Format {
	case FormatTimestamp: // that the calendar has the day
		unsaid = append(unsaid, append([]string{f.Rule}, f.Also...)[len(f.Also)])
	case FormatLanguage: // that the tag is well formed
		unsaid = append(unsaid, tagRule(f))
	case FormatURI:
	default:
	}
	if f.RecommendedBy != "" {
		advice = append(advice, f.RecommendedBy)
	}
	for _, r := range f.Checks {
		unsaid, advice = r.beyond(unsaid, advice)
	}
	for _, inner := range f.Members {
		unsaid, advice = inner.beyond(unsaid, advice)
	}
	if f.Item != nil {
		item := *f.Item
		if item.Rule == "" {
			item.Rule, item.Also = f.Rule, f.Also
		}
		unsaid, advice = item.beyond(unsaid, advice)
	}
	return unsaid, advice
}

// tagRule is the rule that a tag breaks that is not well formed.
func tagRule(f Field) string {
	const all = "I18N-03"
	if slices.Contains(f.Also, all) {
		return all
	}
	return f.Rule
}

// beyond adds what a schema cannot say of a rule.
func (r Rule) beyond(unsaid, advice []string) (moreUnsaid, moreAdvice []string) {
	unsaid, advice = append(unsaid, r.partly...), append(advice, r.advice...)
	if r.shape != nil || r.outer != nil {
		return unsaid, advice
	}
	for _, id := range r.IDs {
		if !slices.Contains(r.advice, id) {
			unsaid = append(unsaid, id)
		}
	}
	return unsaid, advice
}

func comment(m Message) string {
	unsaid, advice := unsayable(m)
	return beyondComment(m.Spec, unsaid, advice)
}

func beyondComment(spec string, unsaid, advice []string) string {
	return fmt.Sprintf("%s. For producers, of AAEP 1.0.0. Rules that this schema cannot say in full: %s. Advice, of which it says nothing: %s.",
		spec, strings.Join(unsaid, ", "), strings.Join(advice, ", "))
}
