package report

import (
	"slices"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/aaep/conform"
)

// Evidence collects during an exam which rules came up, and what breaks them. It is not safe for concurrent use. Use
// [NewEvidence].
type Evidence struct {
	rules     []conform.Rule
	found     []Finding
	exercised map[string]bool
}

// NewEvidence returns evidence about the rules of a catalogue, of which there is none yet.
func NewEvidence(rules []conform.Rule) *Evidence {
	return &Evidence{rules: rules, exercised: map[string]bool{}}
}

// Saw notes that rules were exercised.
func (e *Evidence) Saw(rules ...string) {
	for _, rule := range rules {
		e.exercised[rule] = true
	}
}

// Shape notes the rules that a message exercises by what it is and by its members: those that are there or must be. It
// returns the message of the protocol that it is, if it is one.
func (e *Evidence) Shape(d aaep.Document) (aaep.Message, bool) {
	kind, _ := d.Text("type")
	m, known := aaep.Lookup(kind)
	if !known {
		return m, false
	}
	e.Fields(d, m.Fields)
	for _, r := range m.Rules {
		e.Saw(r.IDs...)
	}
	e.Saw(m.Closed, m.Critical)
	return m, true
}

// Fields notes the rules of members that are there, or must be. The path is that of the object that they are in.
func (e *Evidence) Fields(d aaep.Document, fields []aaep.Field, path ...string) {
	for _, f := range fields {
		at := slices.Concat(path, []string{f.Name})
		if !f.Required && !d.Has(at...) {
			continue
		}
		e.Saw(f.Rule)
		e.Saw(f.Also...)
		for _, check := range f.Checks {
			e.Saw(check.IDs...)
		}
		e.Fields(d, f.Members, at...)
	}
}

// Violation returns what breaks a rule that only an exchange shows: an error, or a warning where the rule is advice.
func (e *Evidence) Violation(rule, text string, also ...string) aaep.Violation {
	v := aaep.Violation{Rule: rule, Also: also, Severity: aaep.SeverityError, Message: text}
	for _, r := range e.rules {
		if r.ID != rule {
			continue
		}
		v.Spec = r.Spec
		if (Verdict{Duty: r.Level}).Advice() {
			v.Severity = aaep.SeverityWarning
		}
	}
	return v
}

// Note adds a finding. Where says at which peer, line and event; with prefer, the same finding about the same event of
// another peer is shown here instead. Infos are left out.
func (e *Evidence) Note(v aaep.Violation, where Finding, prefer bool) {
	if v.Severity == aaep.SeverityInfo {
		return
	}
	f := where
	f.Rule, f.Also, f.Severity, f.Path, f.Text, f.Spec = v.Rule, v.Also, v.Severity, v.Path, v.Message, v.Spec
	switch i := slices.IndexFunc(e.found, func(other Finding) bool { return same(f, other) }); {
	case i < 0:
		e.found = append(e.found, f)
	case prefer:
		e.found[i] = f
	}
}

// same reports whether two findings are of one event, which several peers have heard.
func same(a, b Finding) bool {
	return a.EventID != "" && a.Message != "" && a.EventID == b.EventID && a.Rule == b.Rule && a.Path == b.Path && a.Severity == b.Severity && a.Message == b.Message
}

// Sort puts the findings in order.
func (e *Evidence) Sort(compare func(a, b Finding) int) { slices.SortStableFunc(e.found, compare) }

// maxFindings is how many findings of one rule a report shows.
const maxFindings = 5

// Verdicts sorts what was found and exercised by the rules of the catalogue. Expected says whether a rule is judged
// here, and from which level of conformance on; one that is broken is listed whatever its level.
func (e *Evidence) Verdicts(level int, expected func(conform.Rule) (from int, judged bool)) []Verdict {
	by := map[string][]Finding{}
	for _, f := range e.found {
		for _, rule := range append([]string{f.Rule}, f.Also...) {
			by[rule] = append(by[rule], f)
		}
	}
	all := make([]Verdict, 0, len(e.rules))
	for _, r := range e.rules {
		from, judged := expected(r)
		v := Verdict{Rule: r.ID, Title: r.Title, Spec: r.Spec, Duty: r.Level, Level: from, State: NotExercised, Occurrences: len(by[r.ID])}
		switch {
		case len(by[r.ID]) > 0:
			v.State, v.Findings = Broken, by[r.ID][:min(maxFindings, len(by[r.ID]))]
		case !judged || v.Level > level:
			continue
		case e.exercised[r.ID]:
			v.State = Passed
		}
		all = append(all, v)
	}
	return all
}

// maxMessage is how much of a message a finding shows, in bytes.
const maxMessage = 2000

// Beginning is what a finding shows of a message.
func Beginning(raw []byte) string {
	if len(raw) <= maxMessage {
		return strings.ToValidUTF8(string(raw), "\uFFFD")
	}
	return strings.ToValidUTF8(string(raw[:maxMessage]), "") + "…"
}

// TypeOf is the type of a message in compact form. What cannot be read has none.
func TypeOf(raw []byte) string {
	var head struct {
		Type string `json:"type"`
	}
	_ = json.Unmarshal(raw, &head) // it has findings of its own
	return aaep.CompactType(head.Type)
}
