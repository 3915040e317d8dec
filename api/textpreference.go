package api

import (
	"iter"
	"slices"
	"strings"
	"time"
)

// maxZone is the maximum length of the name of a time zone, in bytes.
const maxZone = 64

// TextPreference is one of [Preferences] that is a word.
type TextPreference struct {
	// Name is the name of its JSON member, and of its member in the ledger.
	Name string
	// Values are the words that it can be; none if it is free.
	Values []string
	// of returns the field.
	of func(*Preferences) **string
	// allows judges a free one, and expected says what it can be.
	allows   func(text string) bool
	expected string
}

// textPreferences is the single table of the preferences that are words. The API, the ledgers, the settings page, the
// command `earshot set` and the checks derive from it and from [Preferences]. A new one needs a field, a row, its sentences in
// internal/preference, and the place where it takes effect.
var textPreferences = []TextPreference{
	{Name: "verbosity", Values: []string{"terse", "normal", "detailed"}, of: func(p *Preferences) **string { return &p.Verbosity }},
	{
		Name: "language", of: func(p *Preferences) **string { return &p.Language },
		allows: func(text string) bool { return CheckLang(text) == nil }, expected: "the tag of a language that the server offers, such as en or es",
	},
	{
		Name: "time_zone", of: func(p *Preferences) **string { return &p.TimeZone },
		allows: func(text string) bool { _, err := Zone(text); return err == nil }, expected: "a time zone such as Europe/Berlin, or UTC",
	},
	{Name: "questions", Values: []string{"all", "one"}, of: func(p *Preferences) **string { return &p.Questions }},
	{Name: "density", Values: []string{"comfortable", "compact"}, of: func(p *Preferences) **string { return &p.Density }},
}

// Texts yields each preference that is a word with its value, "" if it is not set, in the order of the table.
func (p Preferences) Texts() iter.Seq2[TextPreference, string] {
	return func(yield func(TextPreference, string) bool) {
		for _, one := range textPreferences {
			if !yield(one, Chosen(*one.of(&p))) {
				return
			}
		}
	}
}

// Chosen returns the value of a preference that is a word, "" if it is not set.
func Chosen(text *string) string {
	if text == nil {
		return ""
	}
	return *text
}

// Choose returns p with one preference set, or unset if the text is "".
func (p Preferences) Choose(one TextPreference, text string) Preferences {
	*one.of(&p) = nil
	if text != "" {
		*one.of(&p) = &text
	}
	return p
}

// Text returns the value of a preference that is a word, "" if it is not set.
func (p Preferences) Text(one TextPreference) string { return Chosen(*one.of(&p)) }

// Change returns p with one preference changed: "" is kept, so that [Preferences.With] unsets it.
func (p Preferences) Change(one TextPreference, text string) Preferences {
	*one.of(&p) = &text
	return p
}

// Allows reports whether the preference can be that text.
func (t TextPreference) Allows(text string) bool {
	if len(t.Values) > 0 {
		return slices.Contains(t.Values, text)
	}
	return t.allows(text)
}

// Expected says what the preference can be, in words that go on after "is".
func (t TextPreference) Expected() string {
	if last := len(t.Values) - 1; last > 0 {
		return strings.Join(t.Values[:last], ", ") + " or " + t.Values[last]
	}
	return t.expected
}

// Zone returns the time zone of that name: a place such as Europe/Berlin, or UTC. Error: there is none.
func Zone(name string) (*time.Location, error) {
	if len(name) > maxZone || !strings.Contains(name, "/") && name != "UTC" {
		return nil, &time.ParseError{Value: name, Message: ": no time zone is called that"}
	}
	return time.LoadLocation(name) //nolint:wrapcheck // it names the zone
}
