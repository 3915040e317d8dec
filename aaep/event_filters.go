package aaep

import (
	"slices"
	"strings"
)

// EventFilters selects event types (§5.3.1.7). A pattern is a type, or a prefix of one and an asterisk. Exclude
// overrides include; critical events override both. A nil Include means the default; an empty one passes only critical
// events.
type EventFilters struct {
	Include []string `json:"include,omitzero"`
	Exclude []string `json:"exclude,omitzero"`
}

// coreEvents is the default of Include (CAP-07).
const coreEvents = "aaep:agent.*"

// Passes reports whether the filters pass a type, in compact form, of an event that is not critical (BP-11, BP-12,
// C-48, C-49). Without Include, or without filters, the core events pass, and those of the prefixes of the negotiated
// extensions.
func (f *EventFilters) Passes(eventType string, prefixes []string) bool {
	var include, exclude []string
	if f != nil {
		include, exclude = f.Include, f.Exclude
	}
	matches := func(pattern string) bool { return matches(pattern, eventType) }
	if slices.ContainsFunc(exclude, matches) {
		return false
	}
	if include != nil {
		return slices.ContainsFunc(include, matches)
	}
	return matches(coreEvents) || slices.ContainsFunc(prefixes, func(prefix string) bool { return strings.HasPrefix(eventType, prefix+":") })
}

// matches reports whether a pattern, compact or expanded, covers a compact type. An asterisk is special only at the
// end.
func matches(pattern, eventType string) bool {
	pattern = CompactType(pattern)
	if beginning, ok := strings.CutSuffix(pattern, "*"); ok {
		return strings.HasPrefix(eventType, beginning)
	}
	return pattern == eventType
}
