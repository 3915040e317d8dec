package aaep

import (
	_ "embed" // the example
	"time"

	"github.com/go-json-experiment/json"
)

// TypeQuestionExtend asks for more time for an open question. It is our own message:
// a producer that grants it withdraws the question and asks again with a new token,
// so that listeners which have never heard of it need nothing new.
const TypeQuestionExtend = "earshot:question.extend"

//go:embed examples/question.extend.json
var exampleQuestionExtend string

// QuestionExtend names the question by its token. Timestamp is when the person asked.
type QuestionExtend struct {
	Type           string    `json:"type"`
	ReplyToken     string    `json:"reply_token"`
	SubscriptionID string    `json:"subscription_id"`
	Timestamp      time.Time `json:"timestamp"`
}

// DecodeQuestionExtend reads the message as strictly as [DecodeConfirmationReply]
// does.
func DecodeQuestionExtend(raw []byte) (QuestionExtend, error) {
	return decodeStrict[QuestionExtend](raw, TypeQuestionExtend)
}

// Encode writes the message as [ConfirmationReply.Encode] does.
func (r QuestionExtend) Encode() ([]byte, error) {
	r.Type = TypeQuestionExtend
	return encodeChecked(r.Type, r)
}

// MarshalJSON writes the message as [ConfirmationReply.MarshalJSON] does.
func (r QuestionExtend) MarshalJSON() ([]byte, error) {
	type plain QuestionExtend              // without this method
	return json.Marshal(plain(r), writing) //nolint:wrapcheck // the caller is a marshaler
}
