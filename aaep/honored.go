package aaep

import (
	"fmt"
	"slices"
	"strings"
)

// Exceeds compares granted terms with the requested ones: they may be less and never more (§5.4.4, HS-28 to HS-32). A
// term that was not requested counts as its default; a term that the answer omits counts as granted. The paths of the
// findings begin at honored_capabilities.
func (c Capabilities) Exceeds(asked Capabilities) []Violation {
	var found findings
	more := func(name, rule, message string, also ...string) {
		found.add(Violation{Rule: rule, Also: also, Severity: SeverityError, Path: "/honored_capabilities/" + name, Message: message, Spec: "§5.4.4"})
	}
	if asked.MaxEventsPerSecond > 0 && c.MaxEventsPerSecond > asked.MaxEventsPerSecond {
		more("max_events_per_second", "HS-28", fmt.Sprintf("found %d, expected at most %d, as asked", c.MaxEventsPerSecond, asked.MaxEventsPerSecond))
	}
	if extra := beyond(c.Languages, orDefault(asked.Languages, "en-US"), strings.EqualFold); extra != "" {
		more("languages", "HS-29", fmt.Sprintf("found %s, expected only what was asked", quoted(extra)), "I18N-16")
	}
	if extra := beyond(c.CoalesceBoundaries, orDefault(asked.CoalesceBoundaries, BoundarySentence, BoundaryCompletion), equal[CoalesceHint]); extra != "" {
		more("coalesce_boundaries", "HS-30", fmt.Sprintf("found %s, expected only what was asked", quoted(extra)))
	}
	for _, f := range looser(c.EventFilters, asked.EventFilters) {
		more("event_filters"+f.path, "HS-31", f.message)
	}
	for name, pair := range map[string][2]*bool{
		"supports_confirmation_reply":  {c.SupportsConfirmationReply, asked.SupportsConfirmationReply},
		"supports_clarification_reply": {c.SupportsClarificationReply, asked.SupportsClarificationReply},
	} {
		if isSet(pair[0]) && !isSet(pair[1]) {
			more(name, "HS-32", "found true, expected false, as asked")
		}
	}
	if c.AcceptSignedManifestsOnly != nil && !isSet(c.AcceptSignedManifestsOnly) && isSet(asked.AcceptSignedManifestsOnly) {
		more("accept_signed_manifests_only", "HS-32", "found false, expected true, as asked")
	}
	if extra := beyond(c.SupportedConformanceLevels, orDefault(asked.SupportedConformanceLevels, 1), equal[int]); extra != 0 {
		more("supported_conformance_levels", "HS-32", fmt.Sprintf("found %d, expected only what was asked", extra))
	}
	if extra := beyond(c.SupportedExtensions, asked.SupportedExtensions, equal[string]); extra != "" {
		more("supported_extensions", "HS-32", fmt.Sprintf("found %s, expected only what was asked", quoted(extra)))
	}
	slices.SortFunc(found.list, func(a, b Violation) int { return strings.Compare(a.Path, b.Path) })
	return found.list
}

// Answers compares an answer with its request: its terms (see [Capabilities.Exceeds]), and that a manifest is signed if
// that was required (HS-27).
func (a SubscriptionAccepted) Answers(request SubscriptionRequest) []Violation {
	found := a.HonoredCapabilities.Exceeds(request.Capabilities)
	if isSet(request.Capabilities.AcceptSignedManifestsOnly) && a.SignedManifest == "" {
		found = append(found, Violation{
			Rule: "HS-27", Severity: SeverityError, Path: "/signed_manifest", Spec: "§5.3.1.12", Message: "found no signed manifest, expected one, as the subscriber accepts no other",
		})
	}
	return found
}

func isSet(b *bool) bool { return b != nil && *b }

func equal[E comparable](a, b E) bool { return a == b }

func orDefault[E any](asked []E, values ...E) []E {
	if asked == nil {
		return values
	}
	return asked
}

// beyond returns the first of granted that is none of asked, or the zero value.
func beyond[E any](granted, asked []E, same func(a, b E) bool) E {
	for _, g := range granted {
		if !slices.ContainsFunc(asked, func(a E) bool { return same(a, g) }) {
			return g
		}
	}
	var none E
	return none
}

// looseness is a filter that lets more pass.
type looseness struct{ path, message string }

// looser says where granted filters let pass what the asked ones do not (C-48, C-49).
func looser(granted, asked *EventFilters) []looseness {
	if granted == nil {
		return nil
	}
	if asked == nil {
		asked = &EventFilters{}
	}
	var found []looseness
	if extra := beyond(granted.Include, orDefault(asked.Include, "aaep:agent.*"), coversPattern); extra != "" {
		found = append(found, looseness{"/include", fmt.Sprintf("found %s, expected nothing beyond what was asked", quoted(extra))})
	}
	if missing := beyond(asked.Exclude, granted.Exclude, coversPattern); missing != "" {
		found = append(found, looseness{"/exclude", fmt.Sprintf("found no %s, expected everything excluded that was asked", quoted(missing))})
	}
	return found
}

// coversPattern reports whether every type that matches the narrow pattern matches the wide.
func coversPattern(wide, narrow string) bool {
	wide, narrow = CompactType(wide), CompactType(narrow)
	start, open := strings.CutSuffix(wide, "*")
	if !open {
		return wide == narrow
	}
	return strings.HasPrefix(strings.TrimSuffix(narrow, "*"), start)
}
