package session

import (
	"fmt"
	"slices"
	"strings"

	"github.com/earshot-dev/earshot/aaep"
)

// agreed judges an event against the terms of the subscription that it was sent on:
// whether it should have come at all (BP-11, BP-12, CONF-83, CLA-12), in which language
// (I18N-17) and cut at which boundary (BP-14).
func (s *judged) agreed(f *facts, r *report) {
	v := s.view()
	switch {
	case f.kind == confirmation && v.hidden[confirmation]:
		r.error("/type", "§5.3.1.4", "found a confirmation on a subscription that cannot answer it, expected none", "CONF-83")
	case f.kind == clarification && v.hidden[clarification]:
		r.error("/type", "§5.3.1.5", "found a clarification on a subscription that cannot answer it, expected none", "CLA-12")
	case s.filtered(f) && !f.is(string(aaep.UrgencyCritical), "urgency"):
		rule := "BP-12"
		if filters := v.Terms.EventFilters; filters != nil && !(&aaep.EventFilters{Include: []string{"*"}, Exclude: filters.Exclude}).Passes(f.compact(), nil) {
			rule = "BP-11"
		}
		r.error("/type", "§5.3.1.7", fmt.Sprintf("found %s, which the filters of this subscription keep back", f.written), rule)
	}
	s.language(f, r)
	if v.Mode == aaep.ModeEnvelope {
		return
	}
	hint, agreed := aaep.CoalesceHint(f.hint), v.Terms.CoalesceBoundaries
	last := f.complete && hint == aaep.BoundaryCompletion
	if hint != "" && len(agreed) > 0 && !last && !slices.Contains(agreed, hint) {
		r.warn("/coalesce_hint", "§5.3.1.6", fmt.Sprintf("found the hint %q, expected one of those that were agreed", hint), "BP-14")
	}
}

// filtered reports whether the terms keep back what is not critical of this type. What
// extensions were agreed on is not known here, so their events pass where nothing is
// said of them.
func (s *judged) filtered(f *facts) bool {
	if f.kind != other {
		return s.view().hidden[f.kind]
	}
	filters := s.view().Terms.EventFilters
	if filters == nil || filters.Include == nil && len(filters.Exclude) == 0 {
		return false
	}
	compact := f.compact()
	prefix, _, _ := strings.Cut(compact, ":")
	return !filters.Passes(compact, []string{prefix})
}

// compact is the type of the event in compact form.
func (f *facts) compact() string { return aaep.CompactType(string(f.written)) }

// language judges the language: one of those that were agreed, where any is.
func (s *judged) language(f *facts, r *report) {
	languages := s.view().Terms.Languages
	tag := f.text("localization_hints", "primary_language")
	if tag == "" || len(languages) == 0 {
		return
	}
	for _, language := range languages {
		if strings.EqualFold(language, tag) || extends(tag, language) || extends(language, tag) {
			return
		}
	}
	r.warn("/localization_hints/primary_language", "§11.2", fmt.Sprintf("found %q, expected one of the languages that were agreed: %s", tag, strings.Join(languages, ", ")), "I18N-17")
}

// extends reports whether one language tag is another with more behind it.
func extends(long, short string) bool {
	return len(long) > len(short) && long[len(short)] == '-' && strings.EqualFold(long[:len(short)], short)
}

// spans judges what a delivery says of the events that it stands for: they follow
// those of the delivery before, or begin in the one where it was cut.
func (s *judged) spans(f *facts, r *report) {
	s.merged = false
	first, last, ok := f.span()
	if !ok {
		return
	}
	s.merged = last > first
	switch {
	case first < 1 || last < first:
		r.error("/extensions/earshot/span", "§4.3.3", fmt.Sprintf("found the span %d to %d, expected the numbers of the first and the last event", first, last), "BP-15")
	case s.spanned > 0 && first < s.spanned:
		r.error("/extensions/earshot/span", "§8.2.3", fmt.Sprintf("found the span %d to %d behind event %d, expected none that was delivered", first, last, s.spanned), "BP-16", "TR-04")
	case s.spanned > 0 && first > s.spanned+1 && !s.leavesOut():
		r.error("/extensions/earshot/span", "§8.2.4", fmt.Sprintf("found the span %d to %d behind event %d, expected no gap, since nothing is filtered", first, last, s.spanned), "TR-05")
	}
	s.spanned = max(s.spanned, last)
}

// leavesOut reports whether the terms keep back any core event.
func (s *judged) leavesOut() bool { return slices.Contains(s.view().hidden[:], true) }

// merging names BP-15 or BP-16 with what a merged delivery breaks beside.
func (r *report) merging() {
	for i := range r.found {
		v := &r.found[i]
		rules := append([]string{v.Rule}, v.Also...)
		switch {
		case v.Names("SEQ-34"):
			rules = append(rules, "BP-15")
		case slices.ContainsFunc([]string{"SEQ-04", "SEQ-09", "SEQ-19", "SEQ-41"}, v.Names):
			rules = append(rules, "BP-16")
		default:
			continue
		}
		ranked := aaep.Ranked(rules...)
		v.Rule, v.Also = ranked[0], ranked[1:]
	}
}
