package mcp

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/tool"
	"github.com/earshot-dev/earshot/tool/settings"
	"github.com/earshot-dev/earshot/utp"
	"github.com/earshot-dev/earshot/utp/schema"
)

// asker asks the person one question, and waits for the answer.
type asker func(ctx context.Context, q api.Question) (api.Answered, error)

// The actions with which a server's question is answered.
const (
	actionAccept  = "accept"  // the form is filled in
	actionDecline = "decline" // a person has said that they give no answer
	actionCancel  = "cancel"  // nobody has said anything
)

// What a person can say instead of an answer.
const (
	wordContinue = "continue"
	wordDecline  = "decline"
	wordSkip     = "skip"
	wordDismiss  = "dismiss"
)

const (
	maxFields   = 20
	maxChoices  = 28 // beside the words
	maxQuestion = 2 << 10
	maxAttempts = 3
)

// form is what a server asks for: fields of simple types.
type form struct {
	message string
	fields  []field
}

type field struct {
	name     string
	required bool
	schema   jsontext.Value
	shape    shape
}

// shape is what is read of a field's schema.
type shape struct {
	Type        string         `json:"type"`
	Title       string         `json:"title"`
	Description string         `json:"description"`
	Default     jsontext.Value `json:"default"`
	Enum        []string       `json:"enum"`
	EnumNames   []string       `json:"enumNames"` //nolint:tagliatelle // the protocol's name
	OneOf       []constant     `json:"oneOf"`     //nolint:tagliatelle // the same
	MinLength   *int           `json:"minLength"` //nolint:tagliatelle // the same
	MaxLength   *int           `json:"maxLength"` //nolint:tagliatelle // the same
	Format      string         `json:"format"`
	Minimum     *float64       `json:"minimum"`
	Maximum     *float64       `json:"maximum"`
	Items       struct {
		Enum  []string   `json:"enum"`
		AnyOf []constant `json:"anyOf"` //nolint:tagliatelle // the same
		OneOf []constant `json:"oneOf"` //nolint:tagliatelle // the same
	} `json:"items"`
}

type constant struct {
	Const string `json:"const"`
	Title string `json:"title"`
}

// formOf reads what a server asks for. The library has decoded it, and the order of its fields is lost: first come those that have
// to be filled in, as the server lists them, then the others by name.
func formOf(message string, requested any) (form, error) {
	f := form{message: settings.Clip(strings.TrimSpace(message), maxQuestion)}
	if f.message == "" {
		f.message = "The server does not say what it wants to know."
	}
	raw, err := json.Marshal(requested)
	if err != nil {
		return f, fmt.Errorf("its form is not JSON: %w", err)
	}
	var said struct {
		Properties map[string]jsontext.Value `json:"properties"`
		Required   []string                  `json:"required"`
	}
	if requested != nil {
		if err := json.Unmarshal(raw, &said); err != nil {
			return f, fmt.Errorf("its form cannot be read: %w", err)
		}
	}
	if len(said.Properties) > maxFields {
		return f, fmt.Errorf("its form has %d fields; at most %d can be asked for", len(said.Properties), maxFields)
	}
	names := slices.DeleteFunc(slices.Clone(said.Required), func(name string) bool { return said.Properties[name] == nil })
	for _, name := range slices.Sorted(maps.Keys(said.Properties)) {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	for _, name := range names {
		one := field{name: name, required: slices.Contains(said.Required, name), schema: said.Properties[name]}
		if err := json.Unmarshal(one.schema, &one.shape); err != nil {
			return f, fmt.Errorf("its field %.64q cannot be read: %w", name, err)
		}
		f.fields = append(f.fields, one)
	}
	return f, nil
}

// fill asks the person for each field, one after the other. What they do not answer is an answer to the server, too.
func (f form) fill(ctx context.Context, ask asker) (*mcp.ElicitResult, error) {
	if len(f.fields) == 0 {
		a, err := ask(ctx, api.Question{Text: f.message, Choices: []api.Choice{
			{Value: wordContinue, Label: "Yes, go on"}, {Value: wordDecline, Label: "No"}, {Value: wordDismiss, Label: "Give no answer"},
		}})
		return ended(a, err, map[string]any{})
	}
	content := map[string]any{}
	for i, one := range f.fields {
		value, stopped, err := one.fill(ctx, ask, f.lead(i))
		if err != nil || stopped != "" {
			return &mcp.ElicitResult{Action: stopped}, err
		}
		if value != nil {
			content[one.name] = value
		}
	}
	return &mcp.ElicitResult{Action: actionAccept, Content: content}, nil
}

// ended is the result of a question without fields.
func ended(a api.Answered, err error, content map[string]any) (*mcp.ElicitResult, error) {
	word, stopped, err := wordOf(a, err)
	if err != nil || stopped != "" {
		return &mcp.ElicitResult{Action: stopped}, err
	}
	if word != wordContinue {
		return &mcp.ElicitResult{Action: actionCancel}, nil
	}
	return &mcp.ElicitResult{Action: actionAccept, Content: content}, nil
}

// lead is what stands before the question for a field.
func (f form) lead(i int) string {
	if len(f.fields) == 1 {
		return f.message
	}
	return fmt.Sprintf("%s (%d of %d)", f.message, i+1, len(f.fields))
}

// fill asks for one field. Stopped is the action where the person gives no answer; a nil value leaves the field out.
func (one field) fill(ctx context.Context, ask asker, lead string) (value any, stopped string, err error) {
	q, read := one.question(lead)
	asked := q.Text
	for range maxAttempts {
		a, err := ask(ctx, q)
		word, stopped, err := wordOf(a, err)
		if err != nil || stopped != "" {
			return nil, stopped, err
		}
		if word == wordSkip && !one.required {
			return nil, "", nil
		}
		if value, fits := read(a.Answer); fits && one.takes(value) {
			return value, "", nil
		}
		q.Text = "That does not fit: it takes " + one.expects() + ". " + asked
	}
	return nil, actionCancel, nil
}

// wordOf is what an answer says where it is a word, and the action where it is none for the form.
func wordOf(a api.Answered, err error) (word, stopped string, _ error) {
	silent := []utp.Code{utp.CodeConsentExpired, utp.CodeConsentWithdrawn, utp.CodeStopped}
	if wrong, is := errors.AsType[*utp.ToolError](err); is && slices.Contains(silent, wrong.Code) {
		return "", actionCancel, nil
	}
	if err != nil {
		return "", "", err
	}
	if a.Answer.Kind() == '"' && json.Unmarshal(a.Answer, &word) != nil {
		word = ""
	}
	switch word {
	case wordDecline:
		return word, actionDecline, nil
	case wordDismiss:
		return word, actionCancel, nil
	}
	return word, "", nil
}

// question asks for a field, and read reads what was answered.
func (one field) question(lead string) (q api.Question, read func(answer jsontext.Value) (value any, fits bool)) {
	q.Text = lead + " " + one.label()
	q.Kinds = []string{api.AnswerChoice}
	switch options := one.shape.options(); {
	case one.shape.Type == "boolean":
		q.Kinds = append(q.Kinds, api.AnswerYesNo)
		read = as[bool]
	case one.shape.Type == "number", one.shape.Type == "integer":
		q.Kinds = append(q.Kinds, api.AnswerNumber)
		read = as[float64]
	case one.shape.Type == "array":
		q.Kinds = append(q.Kinds, api.AnswerText)
		q.Context = "Several can be named, with commas between them. There are: " + listed(options)
		read = func(answer jsontext.Value) (any, bool) { return several(answer, options) }
	case offers(options):
		q.Choices = options
		read = as[string]
	case len(options) > 0:
		q.Kinds = append(q.Kinds, api.AnswerText)
		q.Context = "There are: " + listed(options)
		read = func(answer jsontext.Value) (any, bool) { return named(answer, options) }
	default:
		q.Kinds = append(q.Kinds, api.AnswerText)
		read = as[string]
	}
	if one.required {
		q.Choices = append(q.Choices, api.Choice{Value: wordDismiss, Label: "Give no answer"})
	} else {
		q.Choices = append(q.Choices, api.Choice{Value: wordSkip, Label: "Leave this out"})
	}
	q.Choices = append(q.Choices, api.Choice{Value: wordDecline, Label: "Decline"})
	return q, read
}

// label says what a field is.
func (one field) label() string {
	parts := []string{one.shape.Title}
	if one.shape.Title == "" {
		parts[0] = one.name
	}
	if one.shape.Description != "" && one.shape.Description != one.shape.Title {
		parts = append(parts, one.shape.Description)
	}
	if d := one.shape.Default; len(d) > 0 && d.Kind() != 'n' {
		parts = append(parts, "usually "+strings.Trim(string(d), `"`))
	}
	return settings.Clip(tool.Readable(strings.Join(parts, ": ")), 1<<10) + "?"
}

// options are the values that a field takes, where it lists them.
func (s shape) options() []api.Choice {
	constants, values := slices.Concat(s.OneOf, s.Items.OneOf, s.Items.AnyOf), slices.Concat(s.Enum, s.Items.Enum)
	all := make([]api.Choice, 0, len(constants)+len(values))
	for _, c := range constants {
		all = append(all, api.Choice{Value: c.Const, Label: c.Title})
	}
	for i, value := range values {
		one := api.Choice{Value: value}
		if i < len(s.EnumNames) {
			one.Label = s.EnumNames[i]
		}
		all = append(all, one)
	}
	for i := range all {
		if strings.TrimSpace(all[i].Label) == "" {
			all[i].Label = all[i].Value
		}
	}
	return all
}

// offers reports whether the values can be offered as they are, beside the words.
func offers(options []api.Choice) bool {
	words := []string{wordContinue, wordDecline, wordSkip, wordDismiss}
	return len(options) > 0 && len(options) <= maxChoices && !slices.ContainsFunc(options, func(c api.Choice) bool {
		return !utp.Printable(c.Value, 256) || slices.Contains(words, c.Value)
	})
}

func listed(options []api.Choice) string {
	values := make([]string, 0, len(options))
	for _, one := range options {
		if one.Label == one.Value {
			values = append(values, one.Value)
		} else {
			values = append(values, one.Value+" ("+one.Label+")")
		}
	}
	return settings.Clip(tool.Readable(strings.Join(values, ", ")), maxQuestion)
}

func as[T any](answer jsontext.Value) (any, bool) {
	var value T
	err := json.Unmarshal(answer, &value)
	return value, err == nil
}

// named is the value that an answer names, by itself or by its label.
func named(answer jsontext.Value, options []api.Choice) (any, bool) {
	var text string
	if json.Unmarshal(answer, &text) != nil {
		return nil, false
	}
	i := slices.IndexFunc(options, func(one api.Choice) bool {
		return strings.EqualFold(one.Value, strings.TrimSpace(text)) || strings.EqualFold(one.Label, strings.TrimSpace(text))
	})
	if i < 0 {
		return nil, false
	}
	return options[i].Value, true
}

// several are the values that an answer names, with commas between them.
func several(answer jsontext.Value, options []api.Choice) (any, bool) {
	var text string
	if json.Unmarshal(answer, &text) != nil {
		return nil, false
	}
	all := []any{}
	for part := range strings.SplitSeq(text, ",") {
		raw, err := json.Marshal(part)
		value, fits := named(raw, options)
		if err != nil || !fits {
			return nil, false
		}
		all = append(all, value)
	}
	return all, true
}

// takes reports whether a value is what the field's schema says.
func (one field) takes(value any) bool {
	raw, err := json.Marshal(map[string]any{"type": "object", "properties": map[string]any{"value": one.schema}})
	if err != nil {
		return false
	}
	compiled, err := schema.Compile(raw)
	if err != nil {
		return true // the server judges it by itself
	}
	return compiled.Validate(map[string]any{"value": value}) == nil
}

// expects says what a field takes.
func (one field) expects() string {
	s := one.shape
	switch s.Type {
	case "boolean":
		return "yes or no"
	case "number", "integer":
		kind := "a number"
		if s.Type == "integer" {
			kind = "a whole number"
		}
		switch {
		case s.Minimum != nil && s.Maximum != nil:
			return fmt.Sprintf("%s from %g to %g", kind, *s.Minimum, *s.Maximum)
		case s.Minimum != nil:
			return fmt.Sprintf("%s from %g on", kind, *s.Minimum)
		case s.Maximum != nil:
			return fmt.Sprintf("%s up to %g", kind, *s.Maximum)
		}
		return kind
	case "array":
		return "some of its values, with commas between them"
	}
	if len(s.options()) > 0 {
		return "one of its values"
	}
	text := "a text"
	if s.Format != "" {
		text = "a text of the form " + settings.Clip(tool.Readable(s.Format), 64)
	}
	switch {
	case s.MinLength != nil && s.MaxLength != nil:
		return fmt.Sprintf("%s of %d to %d characters", text, *s.MinLength, *s.MaxLength)
	case s.MinLength != nil:
		return fmt.Sprintf("%s of at least %d characters", text, *s.MinLength)
	case s.MaxLength != nil:
		return fmt.Sprintf("%s of at most %d characters", text, *s.MaxLength)
	}
	return text
}
