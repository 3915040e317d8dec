package utp

// MinAnswerSeconds is the least time to answer that a person can wish for. A question is heard in
// less, and not thought about.
const MinAnswerSeconds = 30

// PreferRequest sets how long questions that are put to a person stay open, in seconds from
// [MinAnswerSeconds] up to 86,400; 0 leaves it to policy and tool again, and nil only asks.
type PreferRequest struct {
	Person  string `json:"person"`
	Seconds *int   `json:"answer_seconds,omitzero"`
}

// PreferAnswer is what the ledger now holds; 0 is no wish.
type PreferAnswer struct {
	Person  string `json:"person"`
	Seconds int    `json:"answer_seconds"`
}
