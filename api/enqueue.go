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
	// Request is what the person asked for, in words.
	Request string `json:"request,omitzero"`
	// Label says in a few words what it is about, such as "photos/big": the session is named after
	// it. Default the beginning of Request.
	Label string `json:"label,omitzero"`
	// Owner is the person whose turn it is; default the hub's own name.
	Owner string `json:"owner,omitzero"`
	// Answer is how long questions stay open, in seconds; 0 leaves it to the tool.
	Answer int `json:"answer_seconds,omitzero"`
	// ResultFields are the names that the agent's answer must have a value for (UTP, "Result fields"), at most 64.
	ResultFields []string `json:"result_fields,omitzero"`
	// Depth is how many agents called each other to come here; 0 for a person's own request.
	Depth int `json:"depth,omitzero"`
	// Key makes the request one that may be sent again: within a day the same request of the same
	// owner with the same key gives the same turn, and another request is [utp.CodeConflict]. At most
	// [MaxKey] visible ASCII characters; none, and each request begins a turn of its own.
	Key string `json:"idempotency_key,omitzero"`
}

// MaxKey is how long the idempotency key of a request may be.
const MaxKey = 255

// CheckKey refuses an idempotency key that is too long, or has other characters than visible
// ASCII: what a header can carry, and nobody mistakes for another.
func CheckKey(key string) error {
	if len(key) > MaxKey {
		return fmt.Errorf("the idempotency key has %d characters; it may have %d", len(key), MaxKey)
	}
	if i := strings.IndexFunc(key, func(c rune) bool { return c <= ' ' || c > '~' }); i >= 0 {
		return fmt.Errorf("character %d of the idempotency key is not a visible ASCII character", i+1)
	}
	return nil
}

// EnqueueAnswer names the new turn and its session. Repeated says that an earlier request with
// the same key had begun it.
type EnqueueAnswer struct {
	Turn     string `json:"turn_id"`
	Session  string `json:"session_id"`
	Repeated bool   `json:"repeated,omitzero"`
}
