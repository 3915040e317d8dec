package narrate

import (
	"errors"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/utp"
)

// Check validates the texts of a definition for people. It returns a [*utp.DefinitionError] whose field is the place in
// the options. Errors are a text that is not a message, a text that names an unknown fact, and a fact or a list whose
// path does not exist in the parameters. Such a tool is refused at registration: during a question it would be too late
// to find out that the tool's own words cannot be used.
func Check(d utp.Definition) error {
	err := checkWording(d)
	if wrong, is := errors.AsType[*utp.DefinitionError](err); is {
		wrong.Tool = d.Tool
	}
	return err
}

func checkWording(d utp.Definition) error {
	w, err := readWording(d.Options)
	if err != nil {
		return err
	}
	if err := checkNames(d.Options); err != nil {
		return err
	}
	tree := parseSchema(d.Parameters)
	asking, err := checkFacts("consent", w.Consent.Facts, tree)
	if err != nil {
		return err
	}
	doing, err := checkFacts("doing", w.Doing.Facts, tree)
	if err != nil {
		return err
	}
	result, err := checkFacts("result", w.Result.Facts, schemaNode{any: true})
	if err != nil {
		return err
	}
	for i, path := range w.Consent.Covers {
		if at := segments(path); len(at) == 0 || slices.Contains(at, every) || !tree.leadsTo(at) {
			return wrongWording("consent.covers["+strconv.Itoa(i)+"]", path, "the JSON pointer of a member of the parameters, such as /paths")
		}
	}
	if len(w.Consent.Covers) > 0 && w.Consent.Action == "" {
		return wrongWording("consent.covers", "a list without a sentence", "consent.action, which says how many there are")
	}
	for _, text := range []struct {
		where, text string
		facts       []string
	}{
		{"consent.action", w.Consent.Action, asking},
		{"consent.consequence", w.Consent.Consequence, asking},
		{"doing.text", w.Doing.Text, slices.Concat(asking, doing)},
		{"result.success", w.Result.Success, result},
		{"result.partial", w.Result.Partial, result},
		{"result.failed", w.Result.Failed, result},
	} {
		if err := checkText(text.where, text.text, text.facts); err != nil {
			return err
		}
	}
	return nil
}

// checkNames refuses misspelt members: those of the wording that have no meaning.
func checkNames(options jsontext.Value) error {
	if len(options) == 0 {
		return nil
	}
	var parts map[string]jsontext.Value
	if err := json.Unmarshal(options, &parts); err != nil {
		return &utp.DefinitionError{Field: "options", Found: "malformed", Expected: "an object", Err: err}
	}
	for name, into := range map[string]any{"consent": &ConsentWording{}, "doing": &DoingWording{}, "result": &ResultWording{}} {
		var members map[string]jsontext.Value
		if raw, given := parts[name]; !given || json.Unmarshal(raw, &members) != nil {
			continue // what is not an object was refused before
		}
		known := membersOf(into)
		for member := range members {
			if !slices.Contains(known, member) {
				return &utp.DefinitionError{Field: "options." + name + "." + clip(member), Found: "unknown", Expected: "one of " + strings.Join(known, ", ")}
			}
		}
	}
	return nil
}

// membersOf returns the valid members of a part of the wording.
func membersOf(part any) []string {
	t := reflect.TypeOf(part).Elem()
	names := make([]string, 0, t.NumField())
	for field := range t.Fields() {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		names = append(names, name)
	}
	return names
}

func wrongWording(where, found, expected string) error {
	return &utp.DefinitionError{Field: "options." + where, Found: strconv.Quote(clip(found)), Expected: expected}
}

func malformed(where string, err error, expected string) error {
	return &utp.DefinitionError{Field: "options." + where, Found: "malformed (" + err.Error() + ")", Expected: expected, Err: err}
}

// clip shortens a value for an error message.
func clip(s string) string {
	if head, more := cut(s, 80); more > 0 {
		return head + "…"
	}
	return s
}

// checkText checks that a text is a message, and that each of its names is one of a fact.
func checkText(where, text string, facts []string) error {
	message, err := parsePhrase(text)
	if err != nil {
		return malformed(where, err, "a sentence with facts in braces, such as Print {count, plural, one {# page} other {# pages}}.")
	}
	for name := range message.params() {
		if !slices.Contains(facts, name) {
			return wrongWording(where, "{"+name+"}", "a name among its facts: "+orNone(facts))
		}
	}
	return nil
}

func orNone(facts []string) string {
	if len(facts) == 0 {
		return "there is none"
	}
	return strings.Join(facts, ", ")
}

// checkFacts checks that every fact can be parsed, and that its path exists. It returns their names in order.
func checkFacts(of string, raw jsontext.Value, tree schemaNode) ([]string, error) {
	facts, err := ParseFacts(raw)
	if err != nil {
		return nil, malformed(of+".facts", err, `facts by name, such as {"items": {"count": "/paths/*"}}`)
	}
	names := make([]string, 0, len(facts))
	for name, f := range facts {
		names = append(names, name)
		for _, path := range []string{f.Count, f.Sum, f.Times, f.Value, f.Text, f.List} {
			if path != "" && !tree.leadsTo(segments(path)) {
				return nil, wrongWording(of+".facts."+name, path, "a path to something that the parameters have")
			}
		}
	}
	slices.Sort(names)
	return names, nil
}

// Check implements [kernel.Narrator].
func (*Narrator) Check(d utp.Definition) error { return Check(d) }
