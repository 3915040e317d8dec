package api

import (
	"fmt"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// EnqueueRequest starts a turn of an agent for a person.
type EnqueueRequest struct {
	Agent string         `json:"agent"`
	Args  jsontext.Value `json:"args"`
	// Request is the person's request, in their own words.
	Request string `json:"request,omitzero"`
	// Label describes the turn in a few words, such as "photos/big"; it becomes the session's name. Default: the
	// beginning of Request.
	Label string `json:"label,omitzero"`
	// Owner is the person whose turn it is; default the hub's own name.
	Owner string `json:"owner,omitzero"`
	// Answer is how long questions stay open, in seconds; if it is 0, the tool decides.
	Answer int `json:"answer_seconds,omitzero"`
	// ResultFields are the names of the fields that the agent's answer must have (UTP, "Result fields"), at most 64.
	ResultFields []string `json:"result_fields,omitzero"`
	// Depth counts the agents that called each other up to here; 0 for a person's own request.
	Depth int `json:"depth,omitzero"`
	// Key makes the request repeatable: within a day, the same request of the same owner with the same key gives the
	// same turn, and a different request with that key is [utp.CodeConflict]. It has at most [MaxKey] visible ASCII
	// characters. Without a key each request starts another turn.
	Key string `json:"idempotency_key,omitzero"`
	// Correlation is the caller's own id of what is asked for (UTP, "Correlation"). It identifies the request as Key does,
	// but for good. It is stored with the turn, and shown.
	Correlation string `json:"correlation_id,omitzero"`
	// Parent is the turn that asks for this one: an open turn of the same owner. The new turn is one agent deeper, whatever
	// Depth says, and ends at the parent's deadline if that comes first. No consent is inherited.
	Parent string `json:"parent_turn_id,omitzero"`
	// Deadline is how long the turn may take, in seconds, from now until its end, at most [MaxDeadline]; 0 is no limit.
	Deadline int `json:"deadline_seconds,omitzero"`

	Boxes
}

// MaxDeadline is the longest deadline of a turn, in seconds: 30 days.
const MaxDeadline = 30 * 24 * 60 * 60

// Boxes are references of the caller's that the worker of the turn gets as they are: its profile, and the boxes that its
// context comes from and its output goes to. Into its output box go the results of its calls and its answer, and it reads
// both boxes with [OpReadBox]. Each person has boxes of their own. Nothing is kept under the profile. Each has at most 128
// bytes.
type Boxes struct {
	Profile    string `json:"profile,omitzero"`
	ContextBox string `json:"context_box_id,omitzero"`
	OutputBox  string `json:"output_box_id,omitzero"`
}

// MaxKey is the maximum length of an idempotency key.
const MaxKey = 255

// CheckKey refuses an idempotency key that is too long, or contains anything but visible ASCII, so that every header
// can carry it and no two keys look alike.
func CheckKey(key string) error { return checkVisible("idempotency key", key) }

// CheckCorrelation refuses a correlation id by the same rule.
func CheckCorrelation(id string) error { return checkVisible("correlation id", id) }

func checkVisible(what, value string) error {
	if len(value) > MaxKey {
		return fmt.Errorf("the %s has %d characters; it may have %d", what, len(value), MaxKey)
	}
	if i := strings.IndexFunc(value, func(c rune) bool { return c <= ' ' || c > '~' }); i >= 0 {
		return fmt.Errorf("character %d of the %s is not a visible ASCII character", i+1, what)
	}
	return nil
}

// EnqueueAnswer names the new turn and its session. Repeated reports that an earlier request with the same key had
// started it.
type EnqueueAnswer struct {
	Turn     string `json:"turn_id"`
	Session  string `json:"session_id"`
	Repeated bool   `json:"repeated,omitzero"`
}
