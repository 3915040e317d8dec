package page

import (
	"cmp"
	"encoding/base64"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/aaep/legible"
)

// What a form shows of a schema. What has more, or nests where a form cannot, is asked for as JSON.
const (
	maxFields     = 40
	maxChoices    = 100
	maxFieldName  = 128
	maxFieldLabel = 120
	maxFieldHelp  = 500
	lineLength    = 200 // a text that may be longer has room for several lines
)

// Control is how a value is asked for.
type Control string

// The controls.
const (
	ControlText   Control = "text"
	ControlLong   Control = "long" // text of several lines
	ControlNumber Control = "number"
	ControlChoice Control = "choice"
	ControlDate   Control = "date"
	ControlJSON   Control = "json"
)

// Form asks for the arguments of an agent.
type Form struct {
	Fields []Argument
}

// Argument is a field of a form, with what was typed into it and why that is not taken.
type Argument struct {
	Control
	Label    string
	About    string // what its agent says of it, in no known language
	Help     string // what is expected
	Required bool
	Choices  []Option
	Value    string
	Error    string

	name     string // the member of the arguments
	whole    bool   // it is all of them
	integer  bool
	min, max *float64
	longest  int
}

// Option is a value to choose from: its words, and the JSON that they stand for.
type Option struct{ Text, Value string }

// ID names the field in the form. It is made of the member's name alone, so that a form which was loaded before the schema
// changed still means the same members.
func (a Argument) ID() string { return "arg-" + base64.RawURLEncoding.EncodeToString([]byte(a.name)) }

// wholeForm asks for all arguments at once.
func wholeForm() Form {
	return Form{Fields: []Argument{{
		Control: ControlJSON, Label: "Arguments", Required: true, Value: "{}", Help: "All arguments, as one JSON object.", whole: true,
	}}}
}

// parameters is the part of a JSON Schema that a form can show.
type parameters struct {
	Type       jsontext.Value `json:"type"`
	Properties jsontext.Value `json:"properties"`
	Required   []string       `json:"required"`
	Ref        string         `json:"$ref"`
	AllOf      jsontext.Value `json:"allOf"`
	AnyOf      jsontext.Value `json:"anyOf"`
	OneOf      jsontext.Value `json:"oneOf"`
	If         jsontext.Value `json:"if"`
}

// NewForm makes the form of an agent's schema. A schema that no form can show is asked for as JSON: the kernel judges the
// arguments anyway.
func NewForm(schema jsontext.Value) Form {
	var p parameters
	if json.Unmarshal(schema, &p) != nil || p.Ref != "" || p.AllOf != nil || p.AnyOf != nil || p.OneOf != nil || p.If != nil ||
		len(p.Type) > 0 && string(p.Type) != `"object"` {
		return wholeForm()
	}
	names, values, ok := members(p.Properties)
	missing := func(name string) bool { return !slices.Contains(names, name) }
	if !ok || slices.ContainsFunc(p.Required, missing) {
		return wholeForm()
	}
	form := Form{}
	for i, name := range names {
		if len(name) > maxFieldName {
			return wholeForm()
		}
		form.Fields = append(form.Fields, newArgument(name, values[i], slices.Contains(p.Required, name)))
	}
	return form
}

// members returns the members of an object in their order; false if there are none to show one by one.
func members(object jsontext.Value) (names []string, values []jsontext.Value, ok bool) {
	if len(object) == 0 {
		return nil, nil, true
	}
	if object.Kind() != '{' {
		return nil, nil, false
	}
	decoder := jsontext.NewDecoder(strings.NewReader(string(object)))
	if _, err := decoder.ReadToken(); err != nil {
		return nil, nil, false
	}
	for decoder.PeekKind() == '"' {
		name, err := decoder.ReadToken()
		if err != nil || len(names) == maxFields {
			return nil, nil, false
		}
		names = append(names, name.String())
		value, err := decoder.ReadValue()
		if err != nil {
			return nil, nil, false
		}
		values = append(values, value.Clone())
	}
	return names, values, true
}

// property is the part of the schema of a member that a form can show.
type property struct {
	Type        jsontext.Value   `json:"type"`
	Title       string           `json:"title"`
	Description string           `json:"description"`
	Enum        []jsontext.Value `json:"enum"`
	Const       jsontext.Value   `json:"const"`
	Default     jsontext.Value   `json:"default"`
	Format      string           `json:"format"`
	Minimum     *float64         `json:"minimum"`
	Maximum     *float64         `json:"maximum"`
	MaxLength   *float64         `json:"maxLength"`
}

func newArgument(name string, schema jsontext.Value, required bool) Argument {
	var p property
	a := Argument{Control: ControlJSON, Required: required, name: name}
	if json.Unmarshal(schema, &p) != nil {
		p = property{}
	}
	a.Label = cmp.Or(line(p.Title), line(name), "A value without a name")
	a.control(p)
	a.help(p)
	if p.Default != nil {
		a.Value = a.shown(p.Default)
	}
	return a
}

// line is a text as one line that can be read.
func line(text string) string {
	return legible.Text(shorten(strings.Join(strings.Fields(text), " "), maxFieldLabel))
}

// control chooses how to ask for the value.
func (a *Argument) control(p property) {
	if len(p.Const) > 0 {
		p.Enum = []jsontext.Value{p.Const}
	}
	if len(p.Enum) > 0 {
		if choices, ok := choicesOf(p.Enum); ok {
			a.Control, a.Choices = ControlChoice, choices
		}
		return
	}
	switch string(p.Type) {
	case `"string"`:
		if a.Control = ControlText; p.Format == "date" {
			a.Control = ControlDate
		}
		if p.MaxLength != nil && *p.MaxLength >= 0 && *p.MaxLength < 1e6 {
			a.longest = int(*p.MaxLength)
		}
		if a.Control == ControlText && a.longest > lineLength {
			a.Control = ControlLong
		}
	case `"integer"`, `"number"`:
		a.Control, a.integer, a.min, a.max = ControlNumber, string(p.Type) == `"integer"`, p.Minimum, p.Maximum
	case `"boolean"`:
		a.Control, a.Choices = ControlChoice, []Option{{"Yes", "true"}, {"No", "false"}}
	}
}

// choicesOf are the values of an enum; false if they cannot be chosen from by their words.
func choicesOf(enum []jsontext.Value) (choices []Option, ok bool) {
	for _, value := range enum {
		if kind := value.Kind(); len(choices) == maxChoices || kind == '{' || kind == '[' {
			return nil, false
		}
		text := string(value)
		if words, is := textOf(value); is {
			text = words
		}
		choices = append(choices, Option{Text: cmp.Or(line(text), "(nothing)"), Value: string(value)})
	}
	return choices, true
}

func textOf(value jsontext.Value) (text string, is bool) {
	return text, value.Kind() == '"' && json.Unmarshal(value, &text) == nil
}

// help says what is expected.
func (a *Argument) help(p property) {
	var parts []string
	if text := strings.TrimSpace(p.Description); text != "" {
		a.About = legible.Text(shorten(text, maxFieldHelp))
	}
	switch a.Control {
	case ControlNumber:
		parts = append(parts, legible.Capital(a.expected())+".")
	case ControlDate:
		parts = append(parts, "A date, such as 2026-03-31.")
	case ControlJSON:
		parts = append(parts, "As JSON.")
	case ControlText, ControlLong, ControlChoice:
	}
	if !a.Required {
		parts = append(parts, "It may be left empty.")
	}
	a.Help = strings.Join(parts, " ")
}

// expected describes the number that is asked for.
func (a *Argument) expected() string {
	text := "a number"
	if a.integer {
		text = "a whole number"
	}
	if a.min != nil {
		text += " from " + strconv.FormatFloat(*a.min, 'f', -1, 64)
	}
	if a.max != nil {
		text += " up to " + strconv.FormatFloat(*a.max, 'f', -1, 64)
	}
	return text
}

// shown is a JSON value as it stands in the field.
func (a *Argument) shown(value jsontext.Value) string {
	if a.Control == ControlText || a.Control == ControlLong || a.Control == ControlDate {
		text, _ := textOf(value)
		return text
	}
	return string(value)
}

// Fill fills the form in from arguments. What it has no field for is left out.
func (f *Form) Fill(args jsontext.Value) {
	names, values, _ := members(args)
	for i := range f.Fields {
		a := &f.Fields[i]
		switch at := slices.Index(names, a.name); {
		case a.whole:
			a.Value = string(args)
		case at >= 0:
			a.Value = a.shown(values[at])
		default:
			a.Value = ""
		}
	}
}

// Read takes what was typed and returns the arguments. If something is not taken its field says why, and there are no
// arguments: ok is false.
func (f *Form) Read(typed func(id string) string) (args jsontext.Value, ok bool) {
	members := make([]string, 0, len(f.Fields))
	ok = true
	for i := range f.Fields {
		a := &f.Fields[i]
		a.Value = strings.ReplaceAll(typed(a.ID()), "\r\n", "\n")
		value, wrong := a.read(strings.TrimSpace(a.Value))
		a.Error = wrong
		name, err := jsontext.AppendQuote(nil, a.name)
		switch {
		case wrong != "" || err != nil: // the name is never wrong: it was read from JSON
			ok = false
		case a.whole:
			return value, true
		case len(value) > 0:
			members = append(members, string(name)+":"+string(value))
		}
	}
	if !ok {
		return nil, false
	}
	return jsontext.Value("{" + strings.Join(members, ",") + "}"), true
}

// read is the JSON value of what was typed; empty where the member is left out. Wrong says why it is not taken.
func (a *Argument) read(text string) (value jsontext.Value, wrong string) {
	if text == "" {
		if a.Required {
			return nil, "It is empty. It is needed."
		}
		return nil, ""
	}
	switch a.Control {
	case ControlNumber:
		return a.number(text)
	case ControlChoice:
		if !slices.ContainsFunc(a.Choices, func(c Option) bool { return c.Value == text }) {
			return nil, "That is not one of the choices. Choose one of the list."
		}
		return jsontext.Value(text), ""
	case ControlDate:
		if _, err := time.Parse(time.DateOnly, text); err != nil {
			return nil, "It is not a date. Write it as year-month-day, such as 2026-03-31."
		}
	case ControlJSON:
		value = jsontext.Value(text)
		if !value.IsValid() {
			return nil, "It is not valid JSON. A text stands in quotes; an object looks like {\"name\": 1}."
		}
		if a.whole && value.Kind() != '{' {
			return nil, "It is not a JSON object. Write {} for no arguments."
		}
		return value, ""
	case ControlText, ControlLong:
		if n := utf8.RuneCountInString(text); a.longest > 0 && n > a.longest {
			return nil, fmt.Sprintf("It has %d characters, which is too many. At most %d are taken.", n, a.longest)
		}
	}
	quoted, err := jsontext.AppendQuote(nil, text)
	if err != nil {
		return nil, "It is not UTF-8. Type it again."
	}
	return quoted, ""
}

// number reads a number in the notation of JSON, to which a sign and zeros in front are added that people type.
func (a *Argument) number(text string) (value jsontext.Value, wrong string) {
	value = jsontext.Value(strings.TrimPrefix(text, "+"))
	n, err := strconv.ParseFloat(string(value), 64)
	if err != nil || value.Kind() != '0' || !value.IsValid() ||
		a.integer && strings.ContainsAny(string(value), ".eE") || a.min != nil && n < *a.min || a.max != nil && n > *a.max {
		return nil, "It is not " + a.expected() + "."
	}
	return value, ""
}

// Refuse says beside a field why a value in the arguments is not taken, and reports whether there is such a field. The value
// is found by the members that lead to it; at least one.
func (f *Form) Refuse(where []string, why string) bool {
	i := slices.IndexFunc(f.Fields, func(a Argument) bool { return a.whole || a.name == where[0] })
	if i < 0 {
		return false
	}
	if !f.Fields[i].whole {
		where = where[1:] // the field says the rest
	}
	if len(where) > 0 {
		why = "in /" + strings.Join(where, "/") + ", " + why
	}
	f.Fields[i].Error = legible.Capital(legible.Text(why)) + "."
	return true
}

// Wrong are the fields whose value is not taken.
func (f Form) Wrong() []Argument {
	var wrong []Argument
	for _, a := range f.Fields {
		if a.Error != "" {
			wrong = append(wrong, a)
		}
	}
	return wrong
}
