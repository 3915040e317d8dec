package aaep

import (
	"maps"
	"slices"

	"github.com/go-json-experiment/json/jsontext"
)

// Capabilities is what a subscriber asks for, or what a producer grants (§5.3). Every member is optional: a zero value
// means that it is not set, and the specification's default applies.
type Capabilities struct {
	MaxEventsPerSecond         int            `json:"max_events_per_second,omitzero"`        // 1 to 100,000; default: no limit
	PreferredVerbosity         Verbosity      `json:"preferred_verbosity,omitzero"`          // default: normal
	Languages                  []string       `json:"languages,omitzero"`                    // 1 to 32 BCP 47 tags in order of preference; default: en-US
	SupportsConfirmationReply  *bool          `json:"supports_confirmation_reply,omitzero"`  // default: false
	SupportsClarificationReply *bool          `json:"supports_clarification_reply,omitzero"` // default: false
	CoalesceBoundaries         []CoalesceHint `json:"coalesce_boundaries,omitzero"`          // 1 to 5; default: sentence, completion
	EventFilters               *EventFilters  `json:"event_filters,omitzero"`
	SupportedConformanceLevels []int          `json:"supported_conformance_levels,omitzero"` // of 1, 2, 3; default: 1
	SupportedExtensions        []string       `json:"supported_extensions,omitzero"`         // at most 64 URIs
	CognitiveLoad              CognitiveLoad  `json:"cognitive_load,omitzero"`               // default: medium
	PaceWPM                    int            `json:"pace_wpm,omitzero"`                     // words a minute, 50 to 1,000
	AcceptSignedManifestsOnly  *bool          `json:"accept_signed_manifests_only,omitzero"` // default: false
	// Extensions holds the capabilities of extensions, one JSON object for each prefix.
	// They stand beside the others on the wire (CAP-14).
	Extensions map[string]jsontext.Value `json:",embed"`
}

// CognitiveLoad is how much a person can currently take in.
type CognitiveLoad string

// The loads of CAP-11.
const (
	LoadLow    CognitiveLoad = "low"
	LoadMedium CognitiveLoad = "medium"
	LoadHigh   CognitiveLoad = "high"
)

// Clone returns a copy that shares nothing with the original.
func (c Capabilities) Clone() Capabilities {
	c.Languages = slices.Clone(c.Languages)
	c.SupportsConfirmationReply = clonePointer(c.SupportsConfirmationReply)
	c.SupportsClarificationReply = clonePointer(c.SupportsClarificationReply)
	c.AcceptSignedManifestsOnly = clonePointer(c.AcceptSignedManifestsOnly)
	c.CoalesceBoundaries = slices.Clone(c.CoalesceBoundaries)
	c.SupportedConformanceLevels = slices.Clone(c.SupportedConformanceLevels)
	c.SupportedExtensions = slices.Clone(c.SupportedExtensions)
	if c.EventFilters != nil {
		c.EventFilters = &EventFilters{Include: slices.Clone(c.EventFilters.Include), Exclude: slices.Clone(c.EventFilters.Exclude)}
	}
	c.Extensions = maps.Clone(c.Extensions)
	for prefix, object := range c.Extensions {
		c.Extensions[prefix] = object.Clone()
	}
	return c
}

// With returns a copy in which the members that change names have its values, as a renegotiation has it (§5.7, HS-61).
func (c Capabilities) With(change Capabilities) Capabilities {
	old := c.Clone()
	change = change.Clone()
	replace(&old.MaxEventsPerSecond, change.MaxEventsPerSecond)
	replace(&old.PreferredVerbosity, change.PreferredVerbosity)
	replace(&old.SupportsConfirmationReply, change.SupportsConfirmationReply)
	replace(&old.SupportsClarificationReply, change.SupportsClarificationReply)
	replace(&old.EventFilters, change.EventFilters)
	replace(&old.CognitiveLoad, change.CognitiveLoad)
	replace(&old.PaceWPM, change.PaceWPM)
	replace(&old.AcceptSignedManifestsOnly, change.AcceptSignedManifestsOnly)
	replaceAll(&old.Languages, change.Languages)
	replaceAll(&old.CoalesceBoundaries, change.CoalesceBoundaries)
	replaceAll(&old.SupportedConformanceLevels, change.SupportedConformanceLevels)
	replaceAll(&old.SupportedExtensions, change.SupportedExtensions)
	if change.Extensions != nil {
		if old.Extensions == nil {
			old.Extensions = map[string]jsontext.Value{}
		}
		maps.Copy(old.Extensions, change.Extensions)
	}
	return old
}

func replace[V comparable](old *V, change V) {
	var none V
	if change != none {
		*old = change
	}
}

func replaceAll[E any](old *[]E, change []E) {
	if change != nil {
		*old = slices.Clip(change)
	}
}

func clonePointer(b *bool) *bool {
	if b == nil {
		return nil
	}
	return new(*b)
}

// onlyObjects drops values that are not objects: an unknown capability is ignored, whatever its value (CAP-14, C-52).
func (c *Capabilities) onlyObjects() {
	maps.DeleteFunc(c.Extensions, func(_ string, value jsontext.Value) bool { return value.Kind() != jsontext.KindBeginObject })
	if len(c.Extensions) == 0 {
		c.Extensions = nil
	}
}
