package api

// MinAnswerSeconds is the least time to answer that a person can wish for. A question is heard in
// less, and not thought about.
const MinAnswerSeconds = 30

// MinUndoSeconds and MaxUndoSeconds bound the time to take an accept back that a person can wish for.
const (
	MinUndoSeconds = 3
	MaxUndoSeconds = 120
)

// PreferRequest sets what a person wishes of the questions that are put to them; what is nil stays
// as it is, and 0 leaves it to policy and tool again.
type PreferRequest struct {
	Person string `json:"person"`
	// Seconds is how long they stay open, from [MinAnswerSeconds] up to 86,400.
	Seconds *int `json:"answer_seconds,omitzero"`
	// Undo is how long an accept can be taken back, from [MinUndoSeconds] to [MaxUndoSeconds].
	Undo *int `json:"undo_seconds,omitzero"`
}

// PreferAnswer is what the ledger now holds; 0 is no wish.
type PreferAnswer struct {
	Person  string `json:"person"`
	Seconds int    `json:"answer_seconds"`
	Undo    int    `json:"undo_seconds"`
}

// Preferences are what a person prefers for the questions that are put to them: absent is unchanged, and 0 leaves it
// to policy and tool.
type Preferences struct {
	// AnswerSeconds is how long they stay open: 30 to 86,400, which is as long as a question can.
	AnswerSeconds *int `json:"answer_seconds,omitzero"`
	// UndoSeconds is how long an accept can be taken back, 3 to 120.
	UndoSeconds *int `json:"undo_seconds,omitzero"`
}
