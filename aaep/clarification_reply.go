package aaep

import (
	_ "embed" // the example
	"fmt"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// TypeClarificationReply answers an [AwaitingClarification].
const TypeClarificationReply = "clarification.reply"

//go:embed examples/clarification.reply.json
var exampleClarificationReply string

// ClarificationReply is a person's answer to a question (§6.5). Timestamp is when the
// person answered.
type ClarificationReply struct {
	Type           string    `json:"type"`
	ReplyToken     string    `json:"reply_token"`
	Response       Response  `json:"response"`
	SubscriptionID string    `json:"subscription_id"`
	Timestamp      time.Time `json:"timestamp"`
	DecidedBy      string    `json:"decided_by,omitzero"`
	Confidence     *float64  `json:"confidence,omitzero"` // 0 to 1
	CorrelationID  string    `json:"correlation_id,omitzero"`
}

// DecodeClarificationReply reads a reply as strictly as [DecodeConfirmationReply] does. The asker checks whether the
// answer fits the question (CLA-08).
func DecodeClarificationReply(raw []byte) (ClarificationReply, error) {
	return decodeStrict[ClarificationReply](raw, TypeClarificationReply)
}

// Encode writes the message as [ConfirmationReply.Encode] does.
func (r ClarificationReply) Encode() ([]byte, error) {
	r.Type = TypeClarificationReply
	return encodeChecked(r.Type, r)
}

// MarshalJSON writes the message as [ConfirmationReply.MarshalJSON] does.
func (r ClarificationReply) MarshalJSON() ([]byte, error) {
	type plain ClarificationReply          // without this method
	return json.Marshal(plain(r), writing) //nolint:wrapcheck // the caller is a marshaler
}

// Response is an answer: one text, one yes or no, or one number. The zero Response
// holds nothing.
type Response struct{ value jsontext.Value }

// TextResponse is an answer in words, or the value of a choice.
func TextResponse(text string) Response { return Response{quote(text)} }

// YesNoResponse is an answer to a yes-or-no question.
func YesNoResponse(yes bool) Response { return Response{jsontext.Value(jsontext.Bool(yes).String())} }

// NumberResponse is a numeric answer.
func NumberResponse(number float64) Response {
	return Response{jsontext.Value(jsontext.Float(number).String())}
}

// Text returns the answer if it is a string.
func (r Response) Text() (string, bool) {
	if r.value.Kind() != jsontext.KindString {
		return "", false
	}
	return unquote(r.value), true
}

// YesNo returns the answer if it is a boolean.
func (r Response) YesNo() (yes, ok bool) {
	kind := r.value.Kind()
	return kind == jsontext.KindTrue, kind == jsontext.KindTrue || kind == jsontext.KindFalse
}

// Number returns the answer if it is a number.
func (r Response) Number() (float64, bool) {
	if r.value.Kind() != jsontext.KindNumber {
		return 0, false
	}
	return parseNumber(r.value)
}

// Plain returns the answer as a person would say it: the text itself, yes or no, or digits.
func (r Response) Plain() string {
	if text, is := r.Text(); is {
		return text
	}
	if yes, is := r.YesNo(); is && yes {
		return "yes"
	} else if is {
		return "no"
	}
	return string(r.value)
}

// MarshalJSON writes the answer as it was given.
func (r Response) MarshalJSON() ([]byte, error) {
	if r.value == nil {
		return nil, &Error{Code: CodeBadEvent, Message: "found an empty response, expected a text, a yes or no, or a number"}
	}
	return r.value, nil
}

// UnmarshalJSON keeps a string, a boolean or a number.
func (r *Response) UnmarshalJSON(raw []byte) error {
	value := jsontext.Value(raw)
	switch value.Kind() {
	case jsontext.KindString, jsontext.KindTrue, jsontext.KindFalse, jsontext.KindNumber:
		r.value = value.Clone()
		return nil
	default:
		return &Error{Code: CodeBadMessage, Message: fmt.Sprintf("found %s as response, expected a text, a yes or no, or a number", value.Kind())}
	}
}
