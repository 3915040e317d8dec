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

// unnamed stands for a class or risk that a service leaves out.
const unnamed = "not named"

// Changes tells what of a definition is other than when it was reviewed last.
func Changes(t api.ToolDetail) []string {
	if len(t.Seen) == 0 {
		return nil
	}
	var was utp.Definition
	if err := json.Unmarshal(t.Seen, &was); err != nil {
		return []string{"the definition that was reviewed cannot be read."}
	}
	var out []string
	for _, part := range []struct{ name, was, is string }{
		{"description", was.Description, t.Description},
		{"target", was.Target, t.Target},
		{"after execution", string(was.AfterExecution), string(t.AfterExecution)},
		{"class", cmp.Or(string(was.Class), unnamed), cmp.Or(string(t.Class), unnamed)},
		{"risk", cmp.Or(string(was.Risk), unnamed), cmp.Or(string(t.Risk), unnamed)},
	} {
		if part.was != part.is {
			out = append(out, ended(fmt.Sprintf("the %s was %s, and is %s", part.name, legible.Value(cause.OneLine(part.was)), legible.Value(cause.OneLine(part.is)))))
		}
	}
	out = append(out, differing("parameters", was.Parameters, t.Parameters)...)
	return append(out, differing("options", was.Options, t.Options)...)
}

// differing tells the values that came, went or changed in a document.
func differing(name string, was, is jsontext.Value) []string {
	before, now := map[string]string{}, map[string]string{}
	for _, item := range Values(was) {
		before[item.Pointer] = item.Text
	}
	var out []string
	for _, item := range Values(is) {
		now[item.Pointer] = item.Text
		switch value, there := before[item.Pointer]; {
		case !there:
			out = append(out, ended(fmt.Sprintf("the %s have %s at %s", name, legible.Value(item.Text), legible.Value(item.Pointer))))
		case value != item.Text:
			out = append(out, ended(fmt.Sprintf("the %s had %s at %s, and have %s", name, legible.Value(value), legible.Value(item.Pointer), legible.Value(item.Text))))
		}
	}
	for _, item := range Values(was) {
		if _, there := now[item.Pointer]; !there {
			out = append(out, ended(fmt.Sprintf("the %s have no longer %s at %s", name, legible.Value(item.Text), legible.Value(item.Pointer))))
		}
	}
	if len(out) == 0 && string(was) != string(is) {
		out = append(out, "the "+name+" are written or nested in another way.")
	}
	return out
}

// ended ends a sentence that may end with a value which has its own end.
func ended(sentence string) string {
	if last, _ := utf8.DecodeLastRuneInString(sentence); strings.ContainsRune(".!?…", last) {
		return sentence
	}
	return sentence + "."
}

// ClassOr is the class that an operator has named, else what the service says, else the worst.
func ClassOr(named string, t api.ToolDetail) utp.Class {
	return cmp.Or(utp.Class(named), t.Class, utp.Irreversible)
}

// RiskOr is the risk in the same way.
func RiskOr(named string, t api.ToolDetail) utp.Risk {
	return cmp.Or(utp.Risk(named), t.Risk, utp.RiskHigh)
}
