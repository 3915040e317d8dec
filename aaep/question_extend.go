package aaep

import "time"

// TypeQuestionExtend asks for more time for an open question. It is our own message:
// a producer that grants it withdraws the question and asks again with a new token,
// so that listeners which have never heard of it need nothing new.
const TypeQuestionExtend = "earshot:question.extend"

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
