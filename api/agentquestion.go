package api

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/utp"
)

// The kinds of answers that a [Question] accepts.
const (
	AnswerText   = "freetext"
	AnswerYesNo  = "yes_no"
	AnswerChoice = "multiple_choice"
	AnswerNumber = "numeric"
)

// Question is an agent's question to the person. It asks for information; an answer is never consent to a call.
type Question struct {
	// Text is the question, 1 to 4,096 characters.
	Text string `json:"question"`
	// Context helps the person understand it, at most 4,096 characters.
	Context string `json:"context,omitzero"`
	// Lang is the language of the question, its context and the labels of its choices, as a BCP 47 tag such as es; "" if it
	// is not known.
	Lang string `json:"lang,omitzero"`
	// Kinds are the accepted kinds of answers; by default free text, or one of the choices if there are any.
	Kinds []string `json:"kinds,omitzero"`
	// Choices are the answers of a multiple choice, 2 to 32.
	Choices []Choice `json:"choices,omitzero"`
	// Default is the answer if the person does not answer in time, as text for every kind ("true" and "false" for yes
	// and no); empty means none.
	Default string `json:"default,omitzero"`
	// Seconds is how long it stays open, 1 to 86,400. If it is 0, the person's preference applies, or else 5 minutes.
	Seconds int `json:"seconds,omitzero"`
}

// Choice is one answer of a multiple choice.
type Choice struct {
	// Value is what the agent receives, 1 to 256 printable characters; Label is what the person reads, 1 to 1,024
	// characters.
	Value string `json:"value"`
	Label string `json:"label"`
}

const (
	maxQuestion = 4096
	maxValue    = 256
)

// Complete fills in the defaults and validates the fields. Whether the kinds, the choices and the default fit together
// is checked when the question is asked.
func (q Question) Complete() (Question, error) {
	if len(q.Kinds) == 0 {
		q.Kinds = []string{AnswerText}
		if len(q.Choices) > 0 {
			q.Kinds = []string{AnswerChoice}
		}
	}
	q.Text = strings.TrimSpace(q.Text)
	switch {
	case q.Text == "" || utf8.RuneCountInString(q.Text) > maxQuestion:
		return q, wrong("question", fmt.Sprintf("%d characters", utf8.RuneCountInString(q.Text)), "1 to 4096 characters")
	case utf8.RuneCountInString(q.Context) > maxQuestion:
		return q, wrong("context", fmt.Sprintf("%d characters", utf8.RuneCountInString(q.Context)), "at most 4096 characters")
	case utf8.RuneCountInString(q.Default) > maxQuestion:
		return q, wrong("default", fmt.Sprintf("%d characters", utf8.RuneCountInString(q.Default)), "at most 4096 characters")
	case q.Seconds < 0 || q.Seconds > MaxAnswerSeconds:
		return q, wrong("seconds", strconv.Itoa(q.Seconds), "0 to 86400")
	}
	if err := CheckLang(q.Lang); err != nil {
		return q, err
	}
	for _, c := range q.Choices {
		if !utp.Printable(c.Value, maxValue) {
			return q, wrong("choices", utp.Shown(c.Value), "values of 1 to 256 printable characters")
		}
		if strings.TrimSpace(c.Label) == "" {
			return q, wrong("choices", "the value "+utp.Shown(c.Value)+" without a label", "a label for each value")
		}
	}
	return q, nil
}

// The types of the answer in a [ReplyRequest].
const (
	ResponseText   = "text"
	ResponseBool   = "bool"
	ResponseNumber = "number"
)

// Answered is the result of a question that was answered, or whose default applied.
type Answered struct {
	// Answer is a text, true or false, or a number.
	Answer jsontext.Value `json:"answer"`
	// By is the person who answered, Surface where they answered; both are empty for a default.
	By      string `json:"by,omitzero"`
	Surface string `json:"surface,omitzero"`
	// Default reports that nobody answered in time.
	Default bool `json:"default,omitzero"`
}

// wrong is the error for an invalid part of a question or a hand-off.
func wrong(field, found, expected string) error {
	return &utp.FieldError{Field: field, Found: found, Expected: expected}
}
