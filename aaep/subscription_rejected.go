package aaep

import _ "embed" // the example

// TypeSubscriptionRejected refuses a subscription, or ends one.
const TypeSubscriptionRejected = "subscription.rejected"

//go:embed examples/subscription.rejected.json
var exampleSubscriptionRejected string

// SubscriptionRejected says why there is no subscription (§5.5). In answer to a
// renegotiation it ends the one there was.
type SubscriptionRejected struct {
	ReasonCode             ReasonCode `json:"reason_code"`                  // required
	ReasonMessage          string     `json:"reason_message"`               // required, for people, 1 to 4,096 characters
	RetryAfterSeconds      int        `json:"retry_after_seconds,omitzero"` // 0: not said; at most a day
	AlternativeManifestURI string     `json:"alternative_manifest_uri,omitzero"`
}

// ReasonCode says in one word why a subscription was refused. A reader treats a word
// that it does not know as [ReasonUnknown] (HS-49).
type ReasonCode string

// The reasons of HS-41.
const (
	ReasonVersionUnsupported        ReasonCode = "version_unsupported"
	ReasonManifestSignatureRequired ReasonCode = "manifest_signature_required"
	ReasonCapabilitiesIncompatible  ReasonCode = "capabilities_incompatible"
	ReasonRateLimit                 ReasonCode = "rate_limit"
	ReasonAuthenticationRequired    ReasonCode = "authentication_required"
	ReasonAuthorizationDenied       ReasonCode = "authorization_denied"
	ReasonTransportUnavailable      ReasonCode = "transport_unavailable"
	ReasonUnknown                   ReasonCode = "unknown"
)

// DecodeSubscriptionRejected reads the message as [DecodeSubscriptionRequest] does; a
// reason of a later version passes.
func DecodeSubscriptionRejected(raw []byte) (SubscriptionRejected, error) {
	return decodeHandshake[SubscriptionRejected](raw, TypeSubscriptionRejected)
}

// Encode writes the message as [SubscriptionRequest.Encode] does.
func (r SubscriptionRejected) Encode() ([]byte, error) {
	return encodeHandshake(TypeSubscriptionRejected, r)
}
