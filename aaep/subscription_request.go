package aaep

import (
	_ "embed" // the example

	"github.com/go-json-experiment/json/jsontext"
)

// TypeSubscriptionRequest opens a subscription.
const TypeSubscriptionRequest = "subscription.request"

//go:embed examples/subscription.request.json
var exampleSubscriptionRequest string

// SubscriptionRequest is the first message of a subscriber (§5.2).
type SubscriptionRequest struct {
	AAEPVersion           string                    `json:"aaep_version"`  // required
	SubscriberID          string                    `json:"subscriber_id"` // required, 1 to 256 characters, the same at every start
	SubscriberName        string                    `json:"subscriber_name,omitzero"`
	SubscriberVersion     string                    `json:"subscriber_version,omitzero"`
	SubscriberManifestURI string                    `json:"subscriber_manifest_uri,omitzero"`
	CorrelationID         string                    `json:"correlation_id,omitzero"`
	Capabilities          Capabilities              `json:"capabilities"` // required; the zero value is {} and means the defaults
	Extensions            map[string]jsontext.Value `json:"extensions,omitzero"`
}

// DecodeSubscriptionRequest reads a request that can be read in one way only: known
// members are judged as strictly as those of a reply, and names that repeat or differ
// only in case refuse the message. Members that this package does not know are
// ignored, because a later version may have them (C-52). The error is an [*Error] with
// [CodeBadMessage]; sending the same bytes again fails again.
func DecodeSubscriptionRequest(raw []byte) (SubscriptionRequest, error) {
	request, err := decodeHandshake[SubscriptionRequest](raw, TypeSubscriptionRequest)
	request.Capabilities.onlyObjects()
	return request, err
}

// Encode writes the request as one line of JSON, members in the order of the table.
// A request that breaks a rule is refused with an [*Error] of [CodeBadEvent].
func (r SubscriptionRequest) Encode() ([]byte, error) {
	return encodeHandshake(TypeSubscriptionRequest, r)
}
