package aaep

import _ "embed" // the example

// TypeSubscriptionRenegotiate asks for other terms on a living subscription.
const TypeSubscriptionRenegotiate = "subscription.renegotiate"

//go:embed examples/subscription.renegotiate.json
var exampleSubscriptionRenegotiate string

// SubscriptionRenegotiate changes the capabilities that it names; the others keep
// what was honoured (§5.7). The answer is accepted or rejected.
type SubscriptionRenegotiate struct {
	SubscriptionID string       `json:"subscription_id"` // required
	Capabilities   Capabilities `json:"capabilities"`    // required
}

// DecodeSubscriptionRenegotiate reads the message as [DecodeSubscriptionRequest] does.
func DecodeSubscriptionRenegotiate(raw []byte) (SubscriptionRenegotiate, error) {
	renegotiate, err := decodeHandshake[SubscriptionRenegotiate](raw, TypeSubscriptionRenegotiate)
	renegotiate.Capabilities.onlyObjects()
	return renegotiate, err
}

// Encode writes the message as [SubscriptionRequest.Encode] does.
func (r SubscriptionRenegotiate) Encode() ([]byte, error) {
	return encodeHandshake(TypeSubscriptionRenegotiate, r)
}
