package aaep

import "github.com/go-json-experiment/json/jsontext"

// Other is the payload of an event whose type this package does not know: an
// extension's, or one of a later version. It is carried, never refused (ENV-17).
type Other struct {
	Type    string                    // as it was written
	Members map[string]jsontext.Value // the members beside the envelope
}

// EventType returns the type as it was written.
func (o Other) EventType() string { return o.Type }
