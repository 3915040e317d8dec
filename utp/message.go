package utp

import (
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Message is a message of the tool protocol as it was on the wire, handed on within
// Earshot: nothing of it has been looked at. The payload may be no JSON, and the keys and
// values of the headers may be no UTF-8, which is replaced.
type Message struct {
	Subject string              `json:"subject"`
	Header  map[string][]string `json:"header,omitzero"`
	Payload []byte              `json:"payload,omitzero"` // base64 in JSON
}

// EncodeMessage writes a message as JSON.
func EncodeMessage(m Message) []byte {
	out, err := json.Marshal(m, jsontext.AllowInvalidUTF8(true), json.Deterministic(true))
	if err != nil { // strings and bytes always become JSON
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
