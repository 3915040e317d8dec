package consent

import (
	"slices"
	"time"
)

// Kind is what sort of answer a question wants.
type Kind string

// The two kinds of question, one for each AAEP event that waits for a person.
const (
	Confirmation  Kind = "confirmation"
	Clarification Kind = "clarification"
)

// Decision answers a confirmation. No other value ever authorises (C-25).
type Decision string

// The decisions of AAEP's core.
const (
	Accept Decision = "accept"
	Reject Decision = "reject"
)

// Risk is the producer's judgement of an action. An unknown word counts as High.
type Risk string

// The three levels of risk.
const (
	Low    Risk = "low"
	Medium Risk = "medium"
	High   Risk = "high"
)

// State is where a question stands. Every state but Open is final.
type State string

// The states of a question.
const (
	// Open waits for an answer.
	Open State = "open"
	// Accepted authorises the action: by a reply or, only for a reversible action
	// that is not high-risk, by a default (see [Resolution.How]).
	Accepted State = "accepted"
	// Rejected is a person's no, or an accept that changed the action (CONF-38).
	Rejected State = "rejected"
	// Answered is a clarification with a valid response.
	Answered State = "answered"
	// Expired had no valid answer in time, or nobody who could give one.
	// A clarification's default response, if any, is in the resolution.
	Expired State = "expired"
	// Withdrawn means no longer asked (CONF-75).
	Withdrawn State = "withdrawn"
)

// How says what brought a question to its end.
type How string

// The ways in which a question ends.
const (
	ByReply      How = "reply"
	ByTimeout    How = "timeout"
	ByNobody     How = "nobody"
	ByWithdrawal How = "withdrawal"
)

// Choice is one option of a multiple-choice clarification.
type Choice struct {
	// Value is what a reply carries: 1 to 256 characters, unique.
	Value string `json:"value"`
	// Label is what a person reads: 1 to 1024 characters.
	Label string `json:"label"`
}

// Resolution is the end of a question; the zero value while it is open.
type Resolution struct {
	How How `json:"how,omitzero"`
	// By is the authenticated principal; empty unless How is ByReply.
	By string `json:"by,omitzero"`
	// Surface names where the answer was given, for example "terminal".
	Surface string `json:"surface,omitzero"`
	// At is the time of the resolution on the producer's clock, in milliseconds.
	At time.Time `json:"at,omitzero"`
	// Response is a clarification's answer or its parsed default.
	Response Response `json:"response,omitzero"`
	// Rationale is the sender's stated reason, or the reason for a withdrawal.
	Rationale string `json:"rationale,omitzero"`
}

// Question is one question and everything that decides about its answers. Build
// it with [Ask]; its fields are exported only so that it can be stored.
type Question struct {
	// Number is the small number people use for it, from 1.
	Number    int    `json:"number"`
	Kind      Kind   `json:"kind"`
	SessionID string `json:"session_id"`
	// Token is the live reply token; SpentTokens are its dead predecessors,
	// which are never used again (CONF-07).
	Token       string   `json:"token"`
	SpentTokens []string `json:"spent_tokens,omitzero"`
	// AskedAt is the timestamp of the latest asking event, in whole milliseconds.
	AskedAt time.Time `json:"asked_at"`
	// ClockFrom is when the person's time began: the cap on extensions counts from here.
	ClockFrom time.Time `json:"clock_from"`
	// Timeout is the timeout_seconds of the latest asking event: 1 to 86,400.
	Timeout int `json:"timeout_seconds"`
	// Length is the original time to answer in seconds; each extension adds it again.
	Length int `json:"length_seconds"`
	// Unseen means that no surface is known to have shown the question yet, and Waiting
	// that it has been asked again because none had; see [Question.Present].
	Unseen     bool `json:"unseen,omitzero"`
	Waiting    bool `json:"waiting,omitzero"`
	Extensions int  `json:"extensions,omitzero"`
	// Warned is how often the person was told how much time is left, since the latest asking.
	Warned int `json:"warned,omitzero"`
	// Again means that the number has been asked before and was answered: only a reply with the
	// token can say yes now, so that an old yes which arrives a second time cannot. A no needs none.
	Again bool `json:"again,omitzero"`

	// The next five belong to confirmations.
	Default        Decision   `json:"default_decision,omitzero"`
	Irreversible   bool       `json:"irreversible"`
	Risk           Risk       `json:"risk_level,omitzero"`
	AllowedReplies []Decision `json:"allowed_replies,omitzero"`
	// Digest is the SHA-256, as 64 lower-case hexadecimal digits, of what is consented to.
	Digest string `json:"digest,omitzero"`
	// Shown is the SHA-256, in the same form, of what was shown of the question. The caller
	// sets it when it has shown it, and keeps it in the receipt.
	Shown string `json:"shown,omitzero"`

	// The next three belong to clarifications.
	ResponseKinds   []ResponseKind `json:"accepted_response_kinds,omitzero"`
	Choices         []Choice       `json:"choices,omitzero"`
	DefaultResponse string         `json:"default_response,omitzero"`

	State      State      `json:"state"`
	Resolution Resolution `json:"resolution,omitzero"`
}

// Deadline is the first instant at which an answer is too late (CONF-53).
func (q Question) Deadline() time.Time {
	return q.AskedAt.Add(time.Duration(q.Timeout) * time.Second)
}

// Authorizes reports whether the question was a confirmation of exactly this
// digest and was accepted. Whether that consent is still fresh and unused is
// for the caller to check.
func (q Question) Authorizes(digest string) bool {
	return q.Kind == Confirmation && q.State == Accepted && digest != "" && q.Digest == digest
}

// mustRefuse reports whether silence can only mean no. It tests for allowed values
// rather than forbidden ones, so that a damaged record refuses (§6.4.1, C-22…C-24).
func (q Question) mustRefuse() bool {
	return q.Irreversible || (q.Risk != Low && q.Risk != Medium)
}

// resolve returns a copy that has ended.
func (q Question) resolve(state State, end Resolution) Question {
	end.At = milliseconds(end.At)
	q.State = state
	q.Resolution = end

	return q
}

// reissue returns a copy that is asked again: the old token is dead. The new
// slice keeps the receiver's apart.
func (q Question) reissue(now time.Time, token string, seconds int) Question {
	q.SpentTokens = append(slices.Clone(q.SpentTokens), q.Token)
	q.Token = token
	q.AskedAt = milliseconds(now)
	q.Timeout = seconds
	q.Warned = 0

	return q
}

// milliseconds is the precision of a timestamp on the wire. It drops the
// monotonic reading as well, so that a stored question equals the one in memory.
func milliseconds(t time.Time) time.Time { return t.UTC().Truncate(time.Millisecond) }
