package utp

import (
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Message is a message of the tool protocol as it was on the wire, forwarded within Earshot without inspection. The
// payload may not be JSON. Invalid UTF-8 in the headers' keys and values is replaced.
type Message struct {
	Subject string              `json:"subject"`
	Header  map[string][]string `json:"header,omitzero"`
	Payload []byte              `json:"payload,omitzero"` // base64 in JSON
}

// EncodeMessage writes a message as JSON.
func EncodeMessage(m Message) []byte {
	out, err := json.Marshal(m, jsontext.AllowInvalidUTF8(true), json.Deterministic(true))
	if err != nil { // strings and bytes always encode
		return []byte(`{}`)
	}
	return out
}

// DecodeMessage reads what [EncodeMessage] writes. The error is a [*PayloadError].
func DecodeMessage(raw []byte) (Message, error) {
	var m Message
	if err := json.Unmarshal(raw, &m, json.RejectUnknownMembers(true)); err != nil {
		return m, &PayloadError{Reason: CodeBadRequest, Found: "malformed: " + clip(err.Error()), Expected: "a message", Err: err}
	}
	return m, nil
}
