package aaep

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// SchemaBase is where the address of every exported schema begins; its end is the
// [Message.Name] and [SchemaSuffix]. The addresses are names: nothing is fetched.
const SchemaBase = ExtensionContext + "/schema/"

// SchemaSuffix is how the address of every exported schema ends.
const SchemaSuffix = ".schema.json"

// SchemaID is the address of the schema of a name, as it stands in its $id.
func SchemaID(name string) string { return SchemaBase + name + SchemaSuffix }

// EnvelopeName is the name under which [Schema] exports what every event carries, also
// one whose type belongs to an extension.
const EnvelopeName = "envelope"

// Schema exports the description of a message or of the manifest as a JSON Schema
// (2020-12), the same bytes at every call. The name is one that [Describe] finds, or
// [EnvelopeName]. The schema is whole: it refers to nothing outside itself. It says
// what [ModeProducer] takes for an error, as far as JSON Schema can say it; what it
// cannot say, or not in full, stands by its rules in $comment. It is that of AAEP
// 1.0.0, and refuses what only a later 1.x may have (VER-03, VER-04). The error is an
// [*Error] with [CodeUnknownType].
func Schema(name string) ([]byte, error) {
	var whole schema
	switch m, ok := Describe(name); {
	case name == EnvelopeName:
		whole = envelopeDocument()
	case !ok:
		return nil, &Error{Code: CodeUnknownType, Message: fmt.Sprintf("found no message of the name %q", clip(name))}
	case m.Event:
		whole = eventDocument(m)
	default:
		whole = plainDocument(m)
	}
	raw, err := json.Marshal(whole, jsontext.WithIndent("  "))
	if err != nil {
		return nil, &Error{Code: CodeBadEvent, Message: "cannot write the schema as JSON", Cause: err}
	}
	return append(raw, '\n'), nil
}

// Names returns the names of everything that [Schema] exports, in the order of the
// specification.
func Names() []string {
	all := slices.Concat(table(), Documents())
	names := make([]string, 1, 1+len(all))
	names[0] = EnvelopeName
	for _, m := range all {
		names = append(names, m.Name())
	}
	return names
}

// plainDocument is the schema of a message without the envelope.
func plainDocument(m Message) schema {
	s := schemaHead(m.Name(), m.Type+", "+m.Spec+" of AAEP 1.0.0", m.Description)
	s.Comment = comment(m)
	s.object(m.Fields, m.Closed, m.Spec)
	s.outer(m.Fields)
	s.rules(m.Rules)
	s.Examples = []jsontext.Value{jsontext.Value(m.Example)}
	return s
}

// eventDocument is the schema of an event: the shared envelope, and the payload.
func eventDocument(m Message) schema {
	s := schemaHead(m.Name(), "Event "+m.Name()+", "+m.Spec+" of AAEP 1.0.0", m.Description)
	s.Comment, s.Type = comment(m), "object"
	s.AllOf = []schema{{Ref: "#/$defs/" + EnvelopeName}}
	payload := schema{}
	payload.object(m.Fields, "", m.Spec)
	s.Required = append([]string{"type"}, payload.Required...)
	s.Properties = append(members{{"type", schema{
		Comment: "ENV-12, ENV-13", Description: "The type of this event; the compact form is preferred.", Enum: everyForm(m.Type),
	}}}, payload.Properties...)
	if m.Borne != "" {
		s.Properties = append(s.Properties, named{m.Borne, schema{Comment: m.Closed, Description: "Does not belong here, and is borne.", Type: "string"}})
	}
	if m.Critical != "" {
		s.Required = append(s.Required, "urgency")
		s.Properties = append(s.Properties, named{"urgency", schema{Comment: m.Critical, Description: "This event is always critical.", Const: "critical"}})
	}
	s.PatternProperties, s.UnevaluatedProperties = otherLanguages(m.Fields), new(false)
	s.rules(m.Rules)
	s.Defs = members{{EnvelopeName, envelopeSchema()}}
	s.Examples = []jsontext.Value{jsontext.Value(m.Example)}
	return s
}

// envelopeDocument is the schema of the envelope alone.
func envelopeDocument() schema {
	s := schemaHead(EnvelopeName, "Envelope of an event, §3 of AAEP 1.0.0", "What every event carries, of whatever type. The members of its payload stand beside it.")
	unsaid, advice := unsayable(Message{Event: true})
	s.Comment = beyondComment("§3", append(unsaid, "ENV-12", "ENV-14"), advice)
	s.Type, s.AllOf = "object", []schema{{Ref: "#/$defs/" + EnvelopeName}}
	s.Defs = members{{EnvelopeName, envelopeSchema()}}
	s.Examples = []jsontext.Value{jsontext.Value(table()[0].Example)}
	return s
}

func envelopeSchema() schema {
	s := schema{Description: "What every event carries; the payload stands beside it."}
	s.object(envelope(), "", "§3.2")
	s.outer(envelope())
	s.PropertyNames = &schema{
		Comment: "ENV-45, ENV-46",
		Not:     &schema{Enum: anyOfValues(reservedNames)},
		If:      &schema{Pattern: "^aaep_"},
		Then:    &schema{Const: "aaep_version"},
	}
	return s
}

// everyForm is a type in all its spellings (C-05, C-06).
func everyForm(compact string) []any {
	forms := make([]any, 1, 1+len(coreForms))
	forms[0] = compact
	for _, form := range coreForms {
		forms = append(forms, form+strings.TrimPrefix(compact, "aaep:"))
	}
	return forms
}

// otherLanguages describes the readable fields in further languages (PAY-01, C-102).
func otherLanguages(fields []Field) members {
	var all members
	for _, f := range fields {
		if f.Readable {
			all = append(all, named{"^" + f.Name + "_[a-z]{1,8}(_[a-z0-9]{1,8})*$", schema{
				Comment: "PAY-01, §11.5.1", Description: "The same as " + f.Name + ", in another language.",
				Type: "string", MinLength: f.MinLen, MaxLength: f.MaxLen,
			}})
		}
	}
	return all
}

// rules adds what the rules of a message can say in a schema.
func (s *schema) rules(rules []Rule) {
	for _, r := range rules {
		if r.outer != nil {
			s.AllOf = append(s.AllOf, r.outer()...)
		}
	}
}

// outer adds what the checks of fields say of the whole message.
func (s *schema) outer(fields []Field) {
	for _, f := range fields {
		s.rules(f.Checks)
	}
}

// knownPrefixes are the registered prefixes, sorted.
func knownPrefixes() []string { return slices.Sorted(maps.Keys(extensionPrefixes)) }

func anyOfValues(words []string) []any {
	all := make([]any, len(words))
	for i, w := range words {
		all[i] = w
	}
	return all
}
