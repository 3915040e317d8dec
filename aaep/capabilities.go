package aaep

import (
	"maps"
	"slices"

	"github.com/go-json-experiment/json/jsontext"
)

// Capabilities is what a subscriber asks for, or what a producer honours of it
// (§5.3). Every member is optional: its zero value means that nothing was said, and
// then the default of the specification holds.
type Capabilities struct {
	MaxEventsPerSecond         int            `json:"max_events_per_second,omitzero"`        // 1 to 100,000; not said: no limit
	PreferredVerbosity         Verbosity      `json:"preferred_verbosity,omitzero"`          // not said: normal
	Languages                  []string       `json:"languages,omitzero"`                    // 1 to 32 BCP 47 tags, most wanted first; not said: en-US
	SupportsConfirmationReply  *bool          `json:"supports_confirmation_reply,omitzero"`  // not said: false
	SupportsClarificationReply *bool          `json:"supports_clarification_reply,omitzero"` // not said: false
	CoalesceBoundaries         []CoalesceHint `json:"coalesce_boundaries,omitzero"`          // 1 to 5; not said: sentence, completion
	EventFilters               *EventFilters  `json:"event_filters,omitzero"`
	SupportedConformanceLevels []int          `json:"supported_conformance_levels,omitzero"` // of 1, 2, 3; not said: 1
	SupportedExtensions        []string       `json:"supported_extensions,omitzero"`         // at most 64 URIs
	CognitiveLoad              CognitiveLoad  `json:"cognitive_load,omitzero"`               // not said: medium
	PaceWPM                    int            `json:"pace_wpm,omitzero"`                     // words a minute, 50 to 1,000
	AcceptSignedManifestsOnly  *bool          `json:"accept_signed_manifests_only,omitzero"` // not said: false
	// Extensions holds the capabilities of extensions, one JSON object for each prefix.
	// They stand beside the others on the wire (CAP-14).
	Extensions map[string]jsontext.Value `json:",embed"`
}

// CognitiveLoad is how much a person can take in at the moment.
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

func clonePointer(b *bool) *bool {
	if b == nil {
		return nil
	}
	return new(*b)
}

// onlyObjects drops what is not an object: an unknown capability is ignored, whatever it
// is (CAP-14, C-52).
func (c *Capabilities) onlyObjects() {
	maps.DeleteFunc(c.Extensions, func(_ string, value jsontext.Value) bool { return value.Kind() != jsontext.KindBeginObject })
	if len(c.Extensions) == 0 {
		c.Extensions = nil
	}
}
