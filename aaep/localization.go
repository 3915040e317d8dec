package aaep

import "github.com/go-json-experiment/json/jsontext"

// LocalizationHints describes the language of an event's readable text (§11.1.1).
// Tags are BCP 47. An event with readable text carries them, with PrimaryLanguage.
type LocalizationHints struct {
	PrimaryLanguage    string        `json:"primary_language,omitzero"`
	TextDirection      TextDirection `json:"text_direction,omitzero"`
	AvailableLanguages []string      `json:"available_languages,omitzero"` // at most 32
	FallbackChain      []string      `json:"fallback_chain,omitzero"`      // at most 16, in order
	Script             string        `json:"script,omitzero"`              // ISO 15924, such as Latn
	Calendar           string        `json:"calendar,omitzero"`
	// Unknown holds members that this package does not know.
	Unknown map[string]jsontext.Value `json:",embed"`
}

// TextDirection is a writing direction. Auto leaves it to the Unicode algorithm.
type TextDirection string

// The directions. An absent direction means left to right.
const (
	DirectionLTR  TextDirection = "ltr"
	DirectionRTL  TextDirection = "rtl"
	DirectionAuto TextDirection = "auto"
)

// Direction returns the direction in which a language is written, by its likely
// script: [DirectionRTL], or "" for everything else, which means left to right.
func Direction(language string) TextDirection {
	if isRightToLeft([]byte(language)) {
		return DirectionRTL
	}
	return ""
}
