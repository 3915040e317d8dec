package aaep

import _ "embed" // the example

// TypeSubscriptionClose ends a subscription; either side may send it.
const TypeSubscriptionClose = "subscription.close"

//go:embed examples/subscription.close.json
var exampleSubscriptionClose string

// SubscriptionClose says that, and why, the sender is done (§5.8). The reason code is
// a word of the sender's own in snake case, such as subscriber_shutdown.
type SubscriptionClose struct {
	SubscriptionID string `json:"subscription_id"` // required
	ReasonCode     string `json:"reason_code,omitzero"`
	ReasonMessage  string `json:"reason_message,omitzero"`
}

// DecodeSubscriptionClose reads the message as [DecodeSubscriptionRequest] does; an
// odd reason does not keep a subscription open.
func DecodeSubscriptionClose(raw []byte) (SubscriptionClose, error) {
	return decodeHandshake[SubscriptionClose](raw, TypeSubscriptionClose)
}

// Encode writes the message as [SubscriptionRequest.Encode] does.
func (c SubscriptionClose) Encode() ([]byte, error) {
	return encodeHandshake(TypeSubscriptionClose, c)
}
