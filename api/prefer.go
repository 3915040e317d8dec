package api

import (
	"fmt"
	"iter"
)

// The bounds of the preferences. A question is heard in less than MinAnswerSeconds, and not thought about.
const (
	MinAnswerSeconds = 30
	MaxAnswerSeconds = 86_400
	MinUndoSeconds   = 3
	MaxUndoSeconds   = 120
)

// Preferences are what a person prefers for the questions that are put to them: absent is unchanged, or not set, and 0
// leaves it to policy and tool.
type Preferences struct {
	// AnswerSeconds is how long they stay open: 30 to 86,400, which is as long as a question can.
	AnswerSeconds *int `json:"answer_seconds,omitzero"`
	// UndoSeconds is how long an accept can be taken back, 3 to 120.
	UndoSeconds *int `json:"undo_seconds,omitzero"`
}

// Preference is one of [Preferences].
type Preference struct {
	// Name is that of its member in JSON, and of its column in the ledger.
	Name string
	// of is where it is; least and most bound it, unless it is 0. what says in words what is bounded.
	of          func(*Preferences) **int
	least, most int
	what        string
}

// preferences is the one table of what people can prefer. The API, the ledgers and the checks derive from it and from
// [Preferences]; a new one is a field, a row, a column in each ledger, a command, and the place where it takes effect.
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

// All yields each preference with its value, 0 where it is not set, in the order of the table.
func (p Preferences) All() iter.Seq2[Preference, int] {
	return func(yield func(Preference, int) bool) {
		for _, one := range preferences {
			if !yield(one, Preferred(*one.of(&p))) {
				return
			}
		}
	}
}

// Preferred is the value of a preference, 0 where it is not set.
func Preferred(n *int) int {
	if n == nil {
		return 0
	}
	return *n
}

// Set is p with one preference set, or, by 0, not.
func (p Preferences) Set(one Preference, n int) Preferences {
	*one.of(&p) = nil
	if n != 0 {
		*one.of(&p) = &n
	}
	return p
}

// With is p with what is set in wanted; what is 0 there is not set any more.
func (p Preferences) With(changes Preferences) Preferences {
	for one, n := range changes.All() {
		if *one.of(&changes) != nil {
			p = p.Set(one, n)
		}
	}
	return p
}

// Full is p with 0 for everything that is not set.
func (p Preferences) Full() Preferences {
	for one, n := range p.All() {
		*one.of(&p) = &n
	}
	return p
}

// Check says what is out of its bounds.
func (p Preferences) Check() error {
	for one, n := range p.All() {
		if n != 0 && (n < one.least || n > one.most) {
			return fmt.Errorf("%s for %d to %d seconds; 0 leaves it to policy and tool", one.what, one.least, one.most)
		}
	}
	return nil
}

// PreferRequest sets what a person prefers; what is absent stays as it is.
type PreferRequest struct {
	Person string `json:"person"`
	Preferences
}

// PreferAnswer is all that a person prefers now; 0 means no preference.
type PreferAnswer = PreferRequest
