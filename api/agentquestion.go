package api

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/utp"
)

// The kinds of answers that a [Question] takes.
const (
	AnswerText   = "freetext"
	AnswerYesNo  = "yes_no"
	AnswerChoice = "multiple_choice"
	AnswerNumber = "numeric"
)

// Question is what an agent asks the person. It asks for information; consent to a call
// is never given by it.
type Question struct {
	// Text is the question itself, 1 to 4,096 characters.
	Text string `json:"question"`
	// Context is what helps to understand it, at most 4,096 characters.
	Context string `json:"context,omitzero"`
	// Kinds are the kinds of answers that it takes, any of them; default free text, or
	// one of the choices where there are any.
	Kinds []string `json:"kinds,omitzero"`
	// Choices are the answers of a multiple choice, 2 to 32.
	Choices []Choice `json:"choices,omitzero"`
	// Default is the answer when nobody gives one in time, as text whatever its kind
	// ("true" and "false" for yes and no); none when empty.
	Default string `json:"default,omitzero"`
	// Seconds is how long it stays open, 1 to 86,400; 0 leaves it to the person's wish and
	// the usual 5 minutes.
	Seconds int `json:"seconds,omitzero"`
}

// Choice is one answer of a multiple choice.
type Choice struct {
	// Value is what the agent gets, 1 to 256 printable characters; Label what a person
	// reads, 1 to 1,024 characters.
	Value string `json:"value"`
	Label string `json:"label"`
}

const (
	maxQuestion = 4096
	maxValue    = 256
)

// Complete fills in what is left to be understood, and says what is wrong with the rest.
// The kinds, the choices and the default among each other are judged where it is asked.
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

// Answered is the result of a question that was answered, or whose default holds.
type Answered struct {
	// Answer is a text, true or false, or a number.
	Answer jsontext.Value `json:"answer"`
	// By is the person who gave it, Surface where; both are empty for a default.
	By      string `json:"by,omitzero"`
	Surface string `json:"surface,omitzero"`
	// Default says that nobody answered in time.
	Default bool `json:"default,omitzero"`
}

// wrong is what is wrong with what an agent asks or hands over.
func wrong(field, found, expected string) error {
	return &utp.FieldError{Field: field, Found: found, Expected: expected}
}
