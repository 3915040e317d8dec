package aaep

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// inspection is one walk of the table over one document.
type inspection struct {
	mode    Mode
	message Message
	later   bool // the event claims a later 1.x, whose names are not known here
	found   []Violation
}

// add notes a finding under its rules; which of them comes first is decided by the
// catalogue.
func (in *inspection) add(severity Severity, path, spec, message string, rules ...string) {
	ranked := Ranked(rules...)
	in.found = append(in.found, Violation{
		Rule: ranked[0], Also: slices.Clip(ranked[1:]), Severity: severity, Path: path, Message: message, Spec: spec,
	})
}

// duty is the weight of a rule that binds producers and that a consumer can bear.
func (in *inspection) duty() Severity {
	if in.mode == ModeConsumer {
		return SeverityWarning
	}
	return SeverityError
}

// wrong notes that the value of a field breaks one of the field's rules. A consumer
// tolerates it unless acting on the value would be unsafe.
func (in *inspection) wrong(f Field, path, message string, rules ...string) {
	severity := in.duty()
	if f.Safety {
		severity = SeverityError
	}
	in.add(severity, path, f.Spec, message, rules...)
}

// members walks the rows of one object. A missing member breaks the rule missing, or
// the row's own where that is empty.
func (in *inspection) members(fields []Field, at place, missing string) {
	for _, f := range fields {
		if f.Spec == "" {
			f.Spec = in.message.Spec
		}
		path := pointer(at.path, f.Name)
		present := slices.ContainsFunc(at.value.members, func(m member) bool { return m.name == f.Name })
		switch n := at.value.member(f.Name); {
		case n != nil:
			in.value(f, place{path: path, value: n, whole: at.whole})
		case present: // more than once, which is noted already
		case f.Required && missing != "":
			in.add(SeverityError, path, f.Spec, fmt.Sprintf("found no %q, expected %s", f.Name, article(f.Kind)), missing)
		case f.Required:
			in.add(SeverityError, path, f.Spec, fmt.Sprintf("found no %q, expected %s", f.Name, article(f.Kind)), f.Rule)
		case f.Wanted != "":
			in.add(SeverityWarning, path, f.Spec, fmt.Sprintf("found no %q, expected it wherever people may be told", f.Name), f.Wanted)
		}
	}
}

// value judges one value against its row.
func (in *inspection) value(f Field, at place) {
	if !f.Kind.fits(at.value) {
		rules := []string{f.Rule}
		if at.value.kind == jsontext.KindNull && !f.Required {
			rules = append(rules, "ENV-59")
		}
		in.add(SeverityError, at.path, f.Spec, fmt.Sprintf("found %s, expected %s", at.value.describe(), article(f.Kind)), rules...)
		return
	}
	switch at.value.kind {
	case jsontext.KindString:
		in.text(f, at)
	case jsontext.KindNumber:
		in.number(f, at)
	case jsontext.KindBeginArray:
		in.array(f, at)
	case jsontext.KindBeginObject:
		in.object(f, at)
	default: // a boolean has nothing more to say
	}
	for _, rule := range f.Checks {
		rule.check(in, at)
	}
}

func (in *inspection) number(f Field, at place) {
	value, ok := at.value.number()
	if !f.Bounded || !ok {
		return
	}
	if value < f.Low || value > f.High {
		in.wrong(f, at.path, fmt.Sprintf("found %s, expected %s to %s", clip(at.value.text), figure(f.Low), figure(f.High)), f.Rule)
	}
}

func (in *inspection) array(f Field, at place) {
	if f.Item == nil {
		return
	}
	if n := len(at.value.items); n < f.MinLen {
		in.wrong(f, at.path, fmt.Sprintf("found %d items, expected at least %d", n, f.MinLen), f.Rule)
	} else if f.MaxLen > 0 && n > f.MaxLen {
		in.wrong(f, at.path, fmt.Sprintf("found %d items, expected at most %d", n, f.MaxLen), append([]string{f.Rule}, also(f, "ENV-53")...)...)
	}
	item := *f.Item
	item.Spec, item.Required, item.Safety = f.Spec, true, f.Safety
	if item.Rule == "" {
		item.Rule, item.Also = f.Rule, f.Also
	}
	seen := map[string]bool{}
	for i, value := range at.value.items {
		path := at.path + "/" + strconv.Itoa(i)
		in.value(item, place{path: path, value: value, whole: at.whole})
		if key := value.identity(); f.Unique && seen[key] {
			in.wrong(f, path, fmt.Sprintf("found %s twice, expected every item once", value.describe()), f.Rule)
		} else {
			seen[key] = true
		}
	}
}

func (in *inspection) object(f Field, at place) {
	if f.Members != nil {
		in.inner(f, at)
	}
	if f.Each == nil {
		return
	}
	for _, m := range at.value.members {
		if !f.Each.Kind.fits(m.value) {
			in.wrong(f, pointer(at.path, m.name), fmt.Sprintf("found %s, expected %s", m.value.describe(), article(f.Each.Kind)), f.Each.Rule)
		}
	}
}

// inner walks the members of an object field; they inherit its section.
func (in *inspection) inner(f Field, at place) {
	members := slices.Clone(f.Members)
	for i := range members {
		if members[i].Spec == "" {
			members[i].Spec = f.Spec
		}
	}
	in.members(members, at, "")
	in.strangers(members, f.Closed, f.Spec, at)
}

// strangers judges the members of a closed object that its rows do not name.
func (in *inspection) strangers(fields []Field, closed, spec string, at place) {
	for _, m := range in.unnamed(fields, closed, at) {
		in.add(in.duty(), pointer(at.path, m.name), spec, fmt.Sprintf("found the unknown member %q, expected none", clip(m.name)), closed)
	}
}

// outer judges the members of an event that neither the envelope nor its payload
// names. A consumer lets them pass: they may be a later version's (VER-03).
func (in *inspection) outer(fields []Field, all place) {
	for _, m := range in.unnamed(fields, in.message.Closed, all) {
		path := pointer("", m.name)
		switch {
		case in.mode == ModeConsumer:
		case strings.HasPrefix(m.name, "aaep_"):
			in.add(SeverityError, path, "§3.5", fmt.Sprintf("found the reserved name %q, expected no name with aaep_ but aaep_version", clip(m.name)), "ENV-45")
		case slices.Contains([]string{"@id", "@graph", "@base", "@vocab"}, m.name):
			in.add(SeverityError, path, "§3.5", fmt.Sprintf("found %q, which an event must not carry", m.name), "ENV-46")
		case in.message.Closed != "":
			in.stray(fields, place{path: path, value: m.value, whole: all.whole}, m.name)
		}
	}
}

// unnamed returns the members that the rows do not name. One whose name differs from
// a row's in case only is noted here: a careless reader would merge the two.
func (in *inspection) unnamed(fields []Field, closed string, at place) []member {
	var unnamed []member
	for _, m := range at.value.members {
		if slices.ContainsFunc(fields, func(f Field) bool { return f.Name == m.name }) {
			continue
		}
		i := slices.IndexFunc(fields, func(f Field) bool { return strings.EqualFold(f.Name, m.name) })
		if i < 0 {
			unnamed = append(unnamed, m)
			continue
		}
		message := fmt.Sprintf("found the name %q, expected %q in exactly this spelling", clip(m.name), fields[i].Name)
		in.add(SeverityError, pointer(at.path, m.name), "§3.8", message, "ENV-60", closed)
	}
	return unnamed
}

// stray judges a top-level member of a core event that no row names: the variant of
// a readable field in another language, or something that belongs in extensions.
func (in *inspection) stray(fields []Field, at place, name string) {
	if base, ok := variantOf(fields, name); ok {
		base.Rule, base.Spec, base.Required, base.Checks = "PAY-01", "§11.5.1", true, nil
		in.value(base, at)
		return
	}
	if in.later {
		return
	}
	in.add(SeverityError, at.path, "§3.5", fmt.Sprintf("found the unknown member %q, expected own data in extensions", clip(name)), "ENV-47", "EXT-06")
}

// variantOf returns the readable field of which name is the variant in another
// language: its name, an underscore and a language tag in lower case with
// underscores (C-102).
func variantOf(fields []Field, name string) (Field, bool) {
	for _, f := range fields {
		suffix, ok := strings.CutPrefix(name, f.Name+"_")
		if !ok || !f.Readable || suffix != strings.ToLower(suffix) {
			continue
		}
		if isLanguage(strings.ReplaceAll(suffix, "_", "-")) {
			return f, true
		}
	}
	return Field{}, false
}

// fits answers whether a value has this kind.
func (k Kind) fits(n *node) bool {
	switch k {
	case KindString:
		return n.kind == jsontext.KindString
	case KindInteger:
		_, ok := n.whole()
		return ok
	case KindNumber:
		_, ok := n.number()
		return ok
	case KindBoolean:
		return n.kind == jsontext.KindTrue
	case KindObject:
		return n.kind == jsontext.KindBeginObject
	case KindArray:
		return n.kind == jsontext.KindBeginArray
	case KindScalar:
		return n.kind == jsontext.KindString || n.kind == jsontext.KindTrue || n.kind == jsontext.KindNumber
	case KindContext:
		return n.kind == jsontext.KindString || n.kind == jsontext.KindBeginArray
	default:
		return false
	}
}

// identity is equal for equal values, whatever the order of their members.
func (n *node) identity() string {
	switch n.kind {
	case jsontext.KindBeginArray:
		var b strings.Builder
		for _, item := range n.items {
			b.WriteString(item.identity() + ",")
		}
		return "[" + b.String() + "]"
	case jsontext.KindBeginObject:
		parts := make([]string, 0, len(n.members))
		for _, m := range n.members {
			parts = append(parts, strconv.Quote(m.name)+":"+m.value.identity())
		}
		slices.Sort(parts)
		return "{" + strings.Join(parts, ",") + "}"
	case jsontext.KindString:
		return strconv.Quote(n.text)
	case jsontext.KindNumber:
		if value, ok := n.number(); ok {
			return figure(value)
		}
		return n.text
	default:
		return n.describe()
	}
}

// also returns the field's further rules that are among wanted.
func also(f Field, wanted ...string) []string {
	return slices.DeleteFunc(slices.Clone(f.Also), func(rule string) bool { return !slices.Contains(wanted, rule) })
}

// article names a kind in a message.
func article(k Kind) string {
	switch k {
	case KindInteger:
		return "an integer"
	case KindObject, KindArray:
		return "an " + string(k)
	default:
		return "a " + string(k)
	}
}

// figure writes a bound without an exponent.
func figure(value float64) string { return strconv.FormatFloat(value, 'f', -1, 64) }

// length counts code points.
func length(s string) int { return utf8.RuneCountInString(s) }
