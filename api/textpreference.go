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
	// Values are the words that it can be; none if it is a time zone.
	Values []string
	// of returns the field.
	of func(*Preferences) **string
}

// textPreferences is the single table of the preferences that are words. The API, the ledgers, the settings page, the
// command `earshot set` and the checks derive from it and from [Preferences]. A new one needs a field, a row, its sentences in
// internal/preference, and the place where it takes effect.
var textPreferences = []TextPreference{
	{"verbosity", []string{"terse", "normal", "detailed"}, func(p *Preferences) **string { return &p.Verbosity }},
	{"time_zone", nil, func(p *Preferences) **string { return &p.TimeZone }},
	{"questions", []string{"all", "one"}, func(p *Preferences) **string { return &p.Questions }},
	{"density", []string{"comfortable", "compact"}, func(p *Preferences) **string { return &p.Density }},
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
	_, err := Zone(text)
	return err == nil
}

// Expected says what the preference can be, in words that go on after "is".
func (t TextPreference) Expected() string {
	if last := len(t.Values) - 1; last > 0 {
		return strings.Join(t.Values[:last], ", ") + " or " + t.Values[last]
	}
	return "a time zone such as Europe/Berlin, or UTC"
}

// Zone returns the time zone of that name: a place such as Europe/Berlin, or UTC. Error: there is none.
func Zone(name string) (*time.Location, error) {
	if len(name) > maxZone || !strings.Contains(name, "/") && name != "UTC" {
		return nil, &time.ParseError{Value: name, Message: ": no time zone is called that"}
	}
	return time.LoadLocation(name) //nolint:wrapcheck // it names the zone
}
