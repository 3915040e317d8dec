package wording

import (
	"cmp"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/aaep/legible"
	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/cause"
	"github.com/earshot-dev/earshot/utp"
)

// State says how the review of a tool stands.
func State(t api.ToolDetail) string {
	switch {
	case t.Reviewed:
		return "reviewed"
	case len(t.Seen) > 0:
		return "changed since its review"
	default:
		return "not reviewed"
	}
}

// Claimed is what a service says of its tool. A third-party one may say nothing.
func Claimed(d utp.Definition) string {
	if d.Class == "" && d.Risk == "" {
		return "neither a class nor a risk, so the review alone decides"
	}
	if d.Risk == "" {
		return string(d.Class) + ", and no risk"
	}
	return fmt.Sprintf("%s, %s risk", cmp.Or(string(d.Class), "no class"), d.Risk)
}

// Enforcement says how far a tool's service is held to the gate (call protocol, "Who may answer").
func Enforcement(e utp.Enforcement) string {
	switch e {
	case utp.Enforced:
		return "enforced, its service starts a call only when Earshot grants the start"
	case utp.BrokerOnly:
		return "broker-only, its service is sent a call only when the gate is passed, and nobody holds it to what it then does"
	case utp.Advisory:
		return "advisory, no matter who asks has the effect itself, and only asks"
	}
	return "unknown"
}

// Changes tells what of a definition is other than when it was reviewed last.
func Changes(t api.ToolDetail) []legible.Sentence {
	if len(t.Seen) == 0 {
		return nil
	}
	var was utp.Definition
	if err := json.Unmarshal(t.Seen, &was); err != nil {
		return []legible.Sentence{legible.NewSentence("the definition that was reviewed cannot be read.")}
	}
	var out []legible.Sentence
	for _, part := range []struct{ form, was, is string }{
		{"the description was %s, and is %s.", was.Description, t.Description},
		{"the target was %s, and is %s.", was.Target, t.Target},
		{"the after execution was %s, and is %s.", string(was.AfterExecution), string(t.AfterExecution)},
		{"the class was %s, and is %s.", string(was.Class), string(t.Class)},
		{"the risk was %s, and is %s.", string(was.Risk), string(t.Risk)},
	} {
		if part.was != part.is {
			out = append(out, ended(part.form, named(part.was), named(part.is)))
		}
	}
	out = append(out, differing(ofParameters, was.Parameters, t.Parameters)...)
	return append(out, differing(ofOptions, was.Options, t.Options)...)
}

// named is a value of a definition, which a service may leave out.
func named(value string) any {
	if value == "" {
		return legible.NewSentence("not named")
	}
	return legible.Value(cause.OneLine(value))
}

// forms are what is said of a value in a document that came, changed or went, and of one whose values are the same.
type forms struct{ came, changed, went, nested string }

var (
	ofParameters = forms{
		"the parameters have %s at %s.", "the parameters had %s at %s, and have %s.", "the parameters have no longer %s at %s.",
		"the parameters are written or nested in another way.",
	}
	ofOptions = forms{
		"the options have %s at %s.", "the options had %s at %s, and have %s.", "the options have no longer %s at %s.",
		"the options are written or nested in another way.",
	}
)

// differing tells the values that came, went or changed in a document.
func differing(f forms, was, is jsontext.Value) []legible.Sentence {
	before, now := map[string]string{}, map[string]string{}
	for _, item := range Values(was) {
		before[item.Pointer] = item.Text
	}
	var out []legible.Sentence
	for _, item := range Values(is) {
		now[item.Pointer] = item.Text
		switch value, there := before[item.Pointer]; {
		case !there:
			out = append(out, ended(f.came, legible.Value(item.Text), legible.Value(item.Pointer)))
		case value != item.Text:
			out = append(out, ended(f.changed, legible.Value(value), legible.Value(item.Pointer), legible.Value(item.Text)))
		}
	}
	for _, item := range Values(was) {
		if _, there := now[item.Pointer]; !there {
			out = append(out, ended(f.went, legible.Value(item.Text), legible.Value(item.Pointer)))
		}
	}
	if len(out) == 0 && string(was) != string(is) {
		out = append(out, legible.NewSentence(f.nested))
	}
	return out
}

// ended is a sentence whose full stop is left out where its last value has an end of its own.
func ended(form string, values ...any) legible.Sentence {
	if last, is := values[len(values)-1].(string); is {
		if end, _ := utf8.DecodeLastRuneInString(last); strings.ContainsRune(".!?…", end) {
			form = strings.TrimSuffix(form, ".")
		}
	}
	return legible.NewSentence(form, values...)
}

// ClassOr is the class that an operator has named, else what the service says, else the worst.
func ClassOr(named string, t api.ToolDetail) utp.Class {
	return cmp.Or(utp.Class(named), t.Class, utp.Irreversible)
}

// RiskOr is the risk in the same way.
func RiskOr(named string, t api.ToolDetail) utp.Risk {
	return cmp.Or(utp.Risk(named), t.Risk, utp.RiskHigh)
}
