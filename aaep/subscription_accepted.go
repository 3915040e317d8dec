package aaep

import _ "embed" // the example

// TypeSubscriptionAccepted grants a subscription, or its new terms.
const TypeSubscriptionAccepted = "subscription.accepted"

//go:embed examples/subscription.accepted.json
var exampleSubscriptionAccepted string

// SubscriptionAccepted tells the terms that will hold (§5.4). They are never more
// permissive than what was asked.
type SubscriptionAccepted struct {
	SubscriptionID      string       `json:"subscription_id"` // required
	AAEPVersion         string       `json:"aaep_version"`    // required, the version that will be used
	Producer            Producer     `json:"producer"`        // required
	HonoredCapabilities Capabilities `json:"honored_capabilities"`
	ManifestURI         string       `json:"manifest_uri,omitzero"`
	SignedManifest      string       `json:"signed_manifest,omitzero"`   // compact JWS
	NegotiationNotes    string       `json:"negotiation_notes,omitzero"` // for people, at most 4,096 characters
}

// DecodeSubscriptionAccepted reads the message as [DecodeSubscriptionRequest] does.
func DecodeSubscriptionAccepted(raw []byte) (SubscriptionAccepted, error) {
	accepted, err := decodeHandshake[SubscriptionAccepted](raw, TypeSubscriptionAccepted)
	accepted.HonoredCapabilities.onlyObjects()
	return accepted, err
}

// Encode writes the message as [SubscriptionRequest.Encode] does.
func (a SubscriptionAccepted) Encode() ([]byte, error) {
	return encodeHandshake(TypeSubscriptionAccepted, a)
}
