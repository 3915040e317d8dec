package aaep

import (
	"slices"
	"strings"
)

// EventFilters chooses event types (§5.3.1.7). A pattern is a type, or the beginning
// of one and an asterisk. Exclude beats include; what is critical beats both. A nil
// Include means that nothing was said; an empty one lets only critical events pass.
type EventFilters struct {
	Include []string `json:"include,omitzero"`
	Exclude []string `json:"exclude,omitzero"`
}

// coreEvents is what is included where nothing was said (CAP-07).
const coreEvents = "aaep:agent.*"

// Passes answers whether the filters let an event type through, in compact form,
// unless it is critical (BP-11, BP-12, C-48, C-49). Where include is not said, or
// there are no filters at all, it is the core events and those of the prefixes of the
// negotiated extensions.
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

// matches answers whether a pattern, compact or expanded, covers a compact type. An
// asterisk counts at the end only.
func matches(pattern, eventType string) bool {
	pattern = CompactType(pattern)
	if beginning, ok := strings.CutSuffix(pattern, "*"); ok {
		return strings.HasPrefix(eventType, beginning)
	}
	return pattern == eventType
}
