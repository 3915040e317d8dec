package api

import (
	"fmt"
	"iter"
)

// The bounds of the preferences. MinAnswerSeconds leaves enough time to hear a question and to think about it.
const (
	MinAnswerSeconds = 30
	MaxAnswerSeconds = 86_400
	MinUndoSeconds   = 3
	MaxUndoSeconds   = 120
)

// Preferences are what a person prefers for the questions that they receive, and for what they read and hear. An absent
// member is unchanged or not set. With 0, the policy and the tool decide; with "", the surface does.
type Preferences struct {
	// AnswerSeconds is how long questions stay open: 30 to 86,400, the maximum for any question.
	AnswerSeconds *int `json:"answer_seconds,omitzero"`
	// UndoSeconds is how long an accept can be withdrawn, 3 to 120.
	UndoSeconds *int `json:"undo_seconds,omitzero"`
	// Verbosity is the length of what is announced: terse, normal or detailed.
	Verbosity *string `json:"verbosity,omitzero"`
	// Language is the language of what is announced, as the tag of one that the server offers, such as es; default English. A
	// subscription that asks for languages itself gets those.
	Language *string `json:"language,omitzero"`
	// TimeZone is the zone in which times are told, such as Europe/Berlin, or UTC.
	TimeZone *string `json:"time_zone,omitzero"`
	// Questions is how many open questions are shown and announced in full at once: all, or one.
	Questions *string `json:"questions,omitzero"`
	// Density is how much room the page leaves between its parts: comfortable or compact.
	Density *string `json:"density,omitzero"`
}

// Preference is one of [Preferences].
type Preference struct {
	// Name is the name of its JSON member, and of its column in the ledger.
	Name string
	// of returns the field; least and most are its bounds, unless it is 0; what describes it in words.
	of          func(*Preferences) **int
	least, most int
	what        string
}

// preferences is the single table of the times that people can prefer; the words are [textPreferences]. The API, the ledgers and the checks derive from it and
// from [Preferences]. A new preference needs a field, a row, a column in each ledger, a command, and the place where it
// takes effect.
var preferences = []Preference{
	{
		"answer_seconds", func(p *Preferences) **int { return &p.AnswerSeconds },
		MinAnswerSeconds, MaxAnswerSeconds, "questions can stay open",
	},
	{
		"undo_seconds", func(p *Preferences) **int { return &p.UndoSeconds },
		MinUndoSeconds, MaxUndoSeconds, "an accept can be taken back",
	},
}

// All yields each preference with its value, 0 if it is not set, in the order of the table.
func (p Preferences) All() iter.Seq2[Preference, int] {
	return func(yield func(Preference, int) bool) {
		for _, one := range preferences {
			if !yield(one, Preferred(*one.of(&p))) {
				return
			}
		}
	}
}

// Preferred returns the value of a preference, 0 if it is not set.
func Preferred(n *int) int {
	if n == nil {
		return 0
	}
	return *n
}

// Set returns p with one preference set, or unset if n is 0.
func (p Preferences) Set(one Preference, n int) Preferences {
	*one.of(&p) = nil
	if n != 0 {
		*one.of(&p) = &n
	}
	return p
}

// With returns p with the changes applied; a change to 0 or "" unsets a preference.
func (p Preferences) With(changes Preferences) Preferences {
	for one, n := range changes.All() {
		if *one.of(&changes) != nil {
			p = p.Set(one, n)
		}
	}
	for one, text := range changes.Texts() {
		if *one.of(&changes) != nil {
			p = p.Choose(one, text)
		}
	}
	return p
}

// SetsTimes reports whether p sets, or unsets, a time of questions, which is for those who answer them.
func (p Preferences) SetsTimes() bool {
	for one := range p.All() {
		if *one.of(&p) != nil {
			return true
		}
	}
	return false
}

// Full returns p with 0 or "" for everything that is not set.
func (p Preferences) Full() Preferences {
	for one, n := range p.All() {
		*one.of(&p) = &n
	}
	for one, text := range p.Texts() {
		*one.of(&p) = &text
	}
	return p
}

// Check returns an error that names the value that is out of bounds.
func (p Preferences) Check() error {
	for one, n := range p.All() {
		if n != 0 && (n < one.least || n > one.most) {
			return fmt.Errorf("%s for %d to %d seconds; 0 leaves it to policy and tool", one.what, one.least, one.most)
		}
	}
	for one, text := range p.Texts() {
		if text != "" && !one.Allows(text) {
			return fmt.Errorf("%s is %s; found %.64q", one.Name, one.Expected(), text)
		}
	}
	return nil
}

// PreferRequest sets what a person prefers; absent members are unchanged.
type PreferRequest struct {
	Person string `json:"person"`
	Preferences
}

// PreferAnswer holds all current preferences of the person; 0 and "" mean no preference.
type PreferAnswer = PreferRequest
