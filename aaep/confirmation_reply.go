package aaep

import (
	_ "embed" // the example
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// TypeConfirmationReply answers an [AwaitingConfirmation].
const TypeConfirmationReply = "confirmation.reply"

//go:embed examples/confirmation.reply.json
var exampleConfirmationReply string

// ConfirmationReply is a person's decision (§6.3). Timestamp is when the person decided. If the producer does not
// support a ModifiedAction, the reply is a reject, whatever Decision says (CONF-38).
type ConfirmationReply struct {
	Type              string                    `json:"type"`
	ReplyToken        string                    `json:"reply_token"`
	Decision          Decision                  `json:"decision"`
	SubscriptionID    string                    `json:"subscription_id"`
	Timestamp         time.Time                 `json:"timestamp"`
	DecidedBy         string                    `json:"decided_by,omitzero"`
	DecisionRationale string                    `json:"decision_rationale,omitzero"`
	ModifiedAction    map[string]jsontext.Value `json:"modified_action,omitzero"` // nil when absent, empty when {}
	CorrelationID     string                    `json:"correlation_id,omitzero"`
}

// DecodeConfirmationReply reads a reply strictly: every rule of §6.3 that one message
// can break is an error, and so are repeated names, names that differ only in case
// and unknown members (CONF-40, ENV-60). The error is an [*Error] with
// [CodeBadMessage]; sending the same bytes again fails again.
func DecodeConfirmationReply(raw []byte) (ConfirmationReply, error) {
	return decodeStrict[ConfirmationReply](raw, TypeConfirmationReply)
}

// Encode writes the reply as one line of JSON, members in the order of the table, the
// time in UTC to the millisecond. The type is filled in. A reply that breaks a rule is
// refused with an [*Error] of [CodeBadEvent].
func (r ConfirmationReply) Encode() ([]byte, error) {
	r.Type = TypeConfirmationReply
	return encodeChecked(r.Type, r)
}

// MarshalJSON writes what Encode writes, without validating it. The layouts of package time would trim zeros of the
// fraction to counts of digits that §3.2.5 forbids, so that a strict reader would drop the answer.
func (r ConfirmationReply) MarshalJSON() ([]byte, error) {
	type plain ConfirmationReply           // without this method
	return json.Marshal(plain(r), writing) //nolint:wrapcheck // the caller is a marshaler
}
