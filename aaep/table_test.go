package aaep_test

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/earshot-dev/earshot/aaep"
)

// TestSamplesPass: a message with every member, and one with the required members
// only, break no rule. The second lacks what is merely wanted.
func TestSamplesPass(t *testing.T) {
	t.Parallel()
	for _, m := range everything() {
		t.Run(m.Type, func(t *testing.T) {
			t.Parallel()
			if found := judge(m, encode(t, whole(t, m))); len(found) > 0 {
				t.Errorf("whole: found%s", list(found))
			}
			for _, v := range judge(m, encode(t, bare(t, m))) {
				if v.Severity == aaep.SeverityError {
					t.Errorf("bare: found %s", v)
				}
			}
		})
	}
}

// mutation breaks one row in one way.
type mutation struct {
	name  string
	value any // absent when it is the type absent
	rule  string
	also  bool // the rule may be any that the finding names
}

type absent struct{}

// mutations are all the ways in which the data of a row can be broken.
func mutations(f aaep.Field, missing string) []mutation {
	if missing == "" {
		missing = f.Rule
	}
	all := []mutation{{"wrong type", wrongType(f.Kind), f.Rule, true}, {"null", nil, f.Rule, true}}
	if f.Required {
		all = append(all, mutation{"missing", absent{}, missing, false})
	} else {
		all = append(all, mutation{"null where optional", nil, "ENV-59", true})
	}
	if f.RecommendedBy != "" {
		all = append(all, mutation{"wanted", absent{}, f.RecommendedBy, false})
	}
	switch f.Kind {
	case aaep.KindString, aaep.KindScalar:
		all = append(all, textMutations(f)...)
	case aaep.KindInteger, aaep.KindNumber:
		all = append(all, mutation{"too low", f.Low - 1, f.Rule, true}, mutation{"not integral", f.Low + 0.5, f.Rule, true})
		if f.Kind == aaep.KindNumber {
			all = all[:len(all)-1]
		}
		if f.High < 1<<53 {
			all = append(all, mutation{"too high", f.High + 1, f.Rule, true})
		}
	case aaep.KindArray:
		all = append(all, arrayMutations(f)...)
	case aaep.KindObject:
		if f.Closed != "" {
			object := sample(f).(map[string]any)
			object["stranger"] = 1
			all = append(all, mutation{"unknown member", object, f.Closed, true})
		}
		for _, inner := range f.Members {
			for _, m := range mutations(inner, "") {
				object := sample(f).(map[string]any)
				put(object, inner.Name, m.value)
				all = append(all, mutation{inner.Name + " " + m.name, object, m.rule, m.also})
			}
		}
		if f.Each != nil {
			all = append(all, mutation{"member of a wrong type", map[string]any{"earshot": "x"}, f.Each.Rule, true})
		}
	case aaep.KindBoolean, aaep.KindContext:
	}
	return all
}

func textMutations(f aaep.Field) []mutation {
	var all []mutation
	if f.MinLen > 0 {
		all = append(all, mutation{"empty", "", f.Rule, true})
	}
	if f.MaxLen > 0 {
		all = append(all, mutation{"too long", strings.Repeat("é", f.MaxLen+1), f.Rule, true})
	}
	if f.Pattern != "" {
		all = append(all,
			mutation{"pattern", "!", f.Rule, true},
			mutation{"pattern with a line end", samples[f.Pattern] + "\n", f.Rule, true}, // C-12
			mutation{"pattern, empty", "", f.Rule, true})
	}
	if f.Format != "" {
		all = append(all, mutation{"format", "no such thing", f.Rule, true})
	}
	if f.Enum != nil {
		all = append(all, mutation{"word", "sometimes", f.Rule, true}, mutation{"word in capitals", strings.ToUpper(f.Enum[0]), f.Rule, true})
	}
	if f.Readable {
		all = append(all, mutation{"decomposed", "e\u0301", "I18N-19", false}, mutation{"leading mark", "\u0301e", "I18N-22", false})
	}
	return all
}

func arrayMutations(f aaep.Field) []mutation {
	var all []mutation
	if f.MinLen > 0 {
		all = append(all, mutation{"too few", sampleItems(f, f.MinLen-1), f.Rule, true})
	}
	if f.MaxLen > 0 {
		all = append(all, mutation{"too many", sampleItems(f, f.MaxLen+1), f.Rule, true})
	}
	if f.Unique {
		items := sampleItems(f, max(f.MinLen, 1))
		all = append(all, mutation{"twice", append(items, items[0]), f.Rule, true})
	}
	return append(all, mutation{"item of a wrong type", append(sampleItems(f, max(f.MinLen, 1)), wrongType(f.Item.Kind)), f.Rule, true})
}

func wrongType(k aaep.Kind) any {
	switch k {
	case aaep.KindString:
		return 5
	case aaep.KindContext, aaep.KindScalar:
		return map[string]any{}
	default:
		return "five"
	}
}

func put(object map[string]any, name string, value any) {
	if _, gone := value.(absent); gone {
		delete(object, name)
		return
	}
	object[name] = value
}

// TestRowsFail breaks every row of the table in every way that its data knows, and
// wants each finding under the rule of the row, at its place.
func TestRowsFail(t *testing.T) {
	t.Parallel()
	count := 0
	for _, m := range everything() {
		rows := map[string][]mutation{}
		for _, f := range m.Fields {
			rows[f.Name] = mutations(f, "")
		}
		if m.Event {
			for _, f := range aaep.Envelope() {
				rows[f.Name] = mutations(f, "ENV-07")
			}
		}
		for name, mutations := range rows {
			for _, mutation := range mutations {
				if name == "type" && mutation.name != "missing" && mutation.name != "null" {
					continue // another type is another message
				}
				count++
				message := whole(t, m)
				put(message, name, mutation.value)
				if m.Critical != "" && name == "urgency" {
					continue // its own test
				}
				found := judge(m, encode(t, message))
				if name == "type" && !m.Event && m.Type != aaep.TypeManifest {
					continue // not known for a reply any more
				}
				if !slices.ContainsFunc(found, func(v aaep.Violation) bool {
					return strings.HasPrefix(v.Path, "/"+name) && (v.Rule == mutation.rule || mutation.also && v.Names(mutation.rule))
				}) {
					t.Errorf("%s, %s, %s: want %s, found%s", m.Type, name, mutation.name, mutation.rule, list(found))
				}
			}
		}
		for _, v := range judge(m, encode(t, with(whole(t, m), "stranger", 1))) {
			if v.Rule != m.Closed {
				t.Errorf("%s with a stranger: want %s, found %s", m.Type, m.Closed, v)
			}
		}
	}
	if count < 1000 {
		t.Errorf("only %d ways to break a row", count)
	}
}

func with(message map[string]any, name string, value any) map[string]any {
	put(message, name, value)
	return message
}

// payloads is one value of each payload.
var payloads = []aaep.Payload{
	aaep.SessionStarted{},
	aaep.SessionCompleted{},
	aaep.SessionErrored{},
	aaep.SessionCancelled{},
	aaep.StateChanged{},
	aaep.ProgressUpdated{},
	aaep.ToolInvoked{},
	aaep.ToolCompleted{},
	aaep.OutputStreaming{},
	aaep.AwaitingConfirmation{},
	aaep.AwaitingClarification{},
	aaep.HandoffRequested{},
}

// TestStructsFollowTheTable: every Go struct has the members of its table, in the
// same order, and leaves out exactly the optional ones.
func TestStructsFollowTheTable(t *testing.T) {
	t.Parallel()
	structs := map[string]any{
		aaep.TypeConfirmationReply: aaep.ConfirmationReply{}, aaep.TypeClarificationReply: aaep.ClarificationReply{},
		aaep.TypeQuestionExtend: aaep.QuestionExtend{}, aaep.TypeSubscriptionRequest: aaep.SubscriptionRequest{},
		aaep.TypeSubscriptionAccepted: aaep.SubscriptionAccepted{}, aaep.TypeSubscriptionRejected: aaep.SubscriptionRejected{},
		aaep.TypeSubscriptionRenegotiate: aaep.SubscriptionRenegotiate{}, aaep.TypeSubscriptionClose: aaep.SubscriptionClose{},
		aaep.TypeManifest: aaep.Manifest{},
	}
	for _, p := range payloads {
		structs[p.EventType()] = p
	}
	for _, m := range everything() {
		value, ok := structs[m.Type]
		if !ok {
			t.Errorf("%s has no struct", m.Type)
			continue
		}
		fields := m.Fields
		if strings.HasPrefix(m.Type, "subscription.") {
			fields = fields[1:] // the type is written by Encode
		}
		if m.Type == aaep.TypeManifest {
			fields = fields[2:] // and so is the context
		}
		follow(t, m.Type, reflect.TypeOf(value), fields)
		delete(structs, m.Type)
	}
	for name := range structs {
		t.Errorf("%s has no table", name)
	}
	for _, f := range aaep.Envelope() {
		switch f.Name {
		case "producer":
			follow(t, f.Name, reflect.TypeFor[aaep.Producer](), f.Members)
		case "localization_hints":
			follow(t, f.Name, reflect.TypeFor[aaep.LocalizationHints](), f.Members)
		}
	}
}

func follow(t *testing.T, name string, goType reflect.Type, fields []aaep.Field) {
	t.Helper()
	always := []string{"irreversible"} // said even when it is false (C-21)
	var want, got []string
	for _, f := range fields {
		omit := ",omitzero"
		if f.Required || slices.Contains(always, f.Name) {
			omit = ""
		}
		want = append(want, f.Name+omit)
		switch f.Name {
		case "progress":
			follow(t, f.Name, reflect.TypeFor[aaep.Progress](), f.Members)
		case "event_filters":
			follow(t, f.Name, reflect.TypeFor[aaep.EventFilters](), f.Members)
		case "capabilities", "honored_capabilities":
			follow(t, "capabilities of "+name, reflect.TypeFor[aaep.Capabilities](), f.Members)
		}
	}
	switch goType {
	case reflect.TypeFor[aaep.Capabilities](), reflect.TypeFor[aaep.Producer](), reflect.TypeFor[aaep.LocalizationHints](), reflect.TypeFor[aaep.Progress]():
		want = append(want, ",embed") // those of extensions, or unknown ones
	}
	for field := range goType.Fields() {
		if field.Tag.Get("json") == "-" {
			continue
		}
		got = append(got, field.Tag.Get("json"))
	}
	if !slices.Equal(want, got) {
		t.Errorf("%s:\nwant %v\ngot  %v", name, want, got)
	}
}

// TestTableIsWhole: every row names a rule and every message a section, and no name is
// used twice.
func TestTableIsWhole(t *testing.T) {
	t.Parallel()
	for _, f := range aaep.Envelope() {
		described(t, "the envelope", f)
	}
	for _, m := range everything() {
		if m.Spec == "" || m.Description == "" || m.Closed == "" || m.Event && m.Urgency == "" || (m.Critical != "") != (m.Urgency == aaep.UrgencyCritical) {
			t.Errorf("%s is not described", m.Type)
		}
		seen := map[string]bool{}
		for _, f := range m.Fields {
			described(t, m.Type, f)
			if f.Rule == "" || f.Kind == "" || seen[f.Name] || f.Pattern != "" && f.Pattern.Expression() == "" {
				t.Errorf("%s: the row %q is not described", m.Type, f.Name)
			}
			seen[f.Name] = true
		}
		for _, rule := range m.Rules {
			if rule.Name == "" || len(rule.IDs) == 0 {
				t.Errorf("%s has a rule without a name", m.Type)
			}
		}
	}
	if _, ok := aaep.Lookup("https://aaep-protocol.org/types/agent.tool.invoked"); !ok {
		t.Error("the expanded form of a type is not found (C-05)")
	}
}

// described: a row says what it means, and so do the members of an object.
func described(t *testing.T, of string, f aaep.Field) {
	t.Helper()
	if f.Description == "" {
		t.Errorf("%s: the row %q does not say what it means", of, f.Name)
	}
	for _, inner := range f.Members {
		described(t, of+", "+f.Name, inner)
	}
	if f.Item != nil {
		for _, inner := range f.Item.Members {
			described(t, of+", "+f.Name, inner)
		}
	}
}

func list(found []aaep.Violation) string {
	var b strings.Builder
	for _, v := range found {
		fmt.Fprintf(&b, "\n  %s %v", v, v.Also)
	}
	return b.String()
}
