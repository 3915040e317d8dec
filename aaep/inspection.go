package aaep

import (
	"fmt"
	"math/bits"
	"slices"
	"strconv"
	"strings"
)

// inspection is one walk of a plan over one tape.
type inspection struct {
	*tape
	mode     Mode
	plan     *plan
	later    bool // the event claims a later 1.x, whose names are not known here
	prefixes map[string]string
	found    findings
}

// note adds a finding under its rules; which of them comes first is decided by the
// catalogue.
func (in *inspection) note(severity Severity, path, spec, message string, rules ...string) {
	v := Violation{Rule: rules[0], Severity: severity, Path: path, Message: message, Spec: spec}
	if len(rules) > 1 {
		ranked := Ranked(rules...)
		v.Rule, v.Also = ranked[0], slices.Clip(ranked[1:])
	}
	in.found.add(v)
}

// report notes a finding at a value.
func (in *inspection) report(severity Severity, n uint32, spec, message string, rules ...string) {
	if !in.found.full(severity) {
		in.note(severity, in.path(n), spec, message, rules...)
	}
}

// fail notes what nobody may act on.
func (in *inspection) fail(n uint32, spec, message string, rules ...string) {
	in.report(SeverityError, n, spec, message, rules...)
}

// warn notes what is bad advice to do.
func (in *inspection) warn(n uint32, spec, message string, rules ...string) {
	in.report(SeverityWarning, n, spec, message, rules...)
}

// duty is the weight of a rule that binds producers and that a consumer can bear.
func (in *inspection) duty() Severity {
	if in.mode == ModeConsumer {
		return SeverityWarning
	}
	return SeverityError
}

// breach notes what breaks a duty.
func (in *inspection) breach(n uint32, spec, message string, rules ...string) {
	in.report(in.duty(), n, spec, message, rules...)
}

// wrong notes that a value breaks one of the rules of its row. A consumer tolerates it
// unless acting on the value would be unsafe.
func (in *inspection) wrong(r *row, n uint32, message string, rules ...string) {
	severity := in.duty()
	if r.Safety {
		severity = SeverityError
	}
	in.report(severity, n, r.Spec, message, rules...)
}

// members walks an object by its rows. What no row names is handed to stranger.
func (in *inspection) members(r *rows, object uint32, stranger func(in *inspection, r *rows, n uint32)) {
	seen := uint64(0)
	first, end := in.inside(object)
	for n := first; n < end; n = in.nodes[n].next {
		found := r.find(in.name(n))
		if found == nil {
			in.unnamed(r, n, stranger)
			continue
		}
		seen |= 1 << found.index
		if in.nodes[n].flags&flagRepeated == 0 {
			in.value(found, n)
		}
	}
	if absent := (r.required | r.recommended) &^ seen; absent != 0 {
		in.absent(r, object, absent)
	}
}

func (in *inspection) absent(r *rows, object uint32, which uint64) {
	for ; which != 0; which &= which - 1 {
		f := &r.list[bits.TrailingZeros64(which)]
		rule, severity := f.missing, SeverityError
		if !f.Required {
			rule, severity = f.RecommendedBy, SeverityWarning
		}
		if in.found.full(severity) {
			continue
		}
		path := f.path
		if object != 0 {
			path = in.path(object) + path
		}
		in.note(severity, path, f.Spec, f.absence(), rule)
	}
}

// unnamed hands a member on, unless its name differs from a row's in case only: a
// careless reader would merge the two (ENV-60).
func (in *inspection) unnamed(r *rows, n uint32, stranger func(in *inspection, r *rows, n uint32)) {
	name := in.name(n)
	i := slices.IndexFunc(r.list, func(f row) bool { return len(name) <= 3*len(f.Name) && strings.EqualFold(f.Name, string(name)) })
	if i < 0 {
		stranger(in, r, n)
		return
	}
	in.fail(n, "§3.8", fmt.Sprintf("found the name %s, expected %q in exactly this spelling", quoted(name), r.list[i].Name), "ENV-60", r.closed)
}

// strangers judges the members of an object that its rows do not name.
func strangers(in *inspection, r *rows, n uint32) {
	switch {
	case r.closed == "": // open
	case in.later:
		in.warn(n, r.spec, fmt.Sprintf("found the unknown member %s, expected none", quoted(in.name(n))), r.closed)
	default:
		in.breach(n, r.spec, fmt.Sprintf("found the unknown member %s, expected none", quoted(in.name(n))), r.closed)
	}
}

// value judges one value against its row.
func (in *inspection) value(r *row, n uint32) {
	v := &in.nodes[n]
	if r.kinds&v.kind.set() == 0 || r.Kind == KindInteger && !in.isWhole(n) {
		in.misfit(r, n)
		return
	}
	switch v.kind {
	case kindString:
		in.string(r, n)
	case kindNumber:
		if r.Bounded {
			in.bounds(r, n)
		}
	case kindArray:
		if r.item != nil {
			in.array(r, n)
		}
	case kindObject:
		if r.inner != nil {
			in.members(r.inner, n, strangers)
		}
		if r.each != nil {
			in.each(r.each, n)
		}
	default: // a boolean has nothing more to say
	}
	for i := range r.Checks {
		r.Checks[i].check(in, n)
	}
}

func (in *inspection) isWhole(n uint32) bool {
	_, ok := in.whole(n)
	return ok
}

// misfit notes a value of another type than its row's.
func (in *inspection) misfit(r *row, n uint32) {
	if in.found.full(SeverityError) {
		return
	}
	rules := []string{r.Rule}
	if in.nodes[n].kind == kindNull && !r.Required {
		rules = append(rules, "ENV-59")
	}
	in.fail(n, r.Spec, fmt.Sprintf("found %s, expected %s", in.describe(n), article(r.Kind)), rules...)
}

func (in *inspection) bounds(r *row, n uint32) {
	value, ok := in.number(n)
	if ok && (value < r.Low || value > r.High) {
		in.wrong(r, n, fmt.Sprintf("found %s, expected %s to %s", clip(in.text(n)), figure(r.Low), figure(r.High)), r.Rule)
	}
}

func (in *inspection) array(r *row, n uint32) {
	if count := int(in.nodes[n].count); count < r.MinLen {
		in.wrong(r, n, fmt.Sprintf("found %d items, expected at least %d", count, r.MinLen), r.Rule)
	} else if r.MaxLen > 0 && count > r.MaxLen {
		in.wrong(r, n, fmt.Sprintf("found %d items, expected at most %d", count, r.MaxLen), append([]string{r.Rule}, also(r, "ENV-53")...)...)
	}
	first, end := in.inside(n)
	for item := first; item < end; item = in.nodes[item].next {
		in.value(r.item, item)
	}
	if r.Unique && in.nodes[n].count > 1 {
		in.sameItems(n, func(later uint32) {
			in.wrong(r, later, fmt.Sprintf("found %s twice, expected every item once", in.describe(later)), r.Rule)
		})
	}
}

func (in *inspection) each(r *row, object uint32) {
	first, end := in.inside(object)
	for n := first; n < end; n = in.nodes[n].next {
		if r.kinds&in.nodes[n].kind.set() == 0 {
			in.wrong(r, n, fmt.Sprintf("found %s, expected %s", in.describe(n), article(r.Kind)), r.Rule)
		}
	}
}

// also returns the row's further rules that are among wanted.
func also(r *row, wanted ...string) []string {
	return slices.DeleteFunc(slices.Clone(r.Also), func(rule string) bool { return !slices.Contains(wanted, rule) })
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
