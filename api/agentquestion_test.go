package api_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/utp"
)

func TestQuestionComplete(t *testing.T) {
	t.Parallel()
	choices := []api.Choice{{Value: "a", Label: "A"}, {Value: "b", Label: "B"}}
	for _, tt := range []struct {
		q     api.Question
		field string
		kinds string
	}{
		{api.Question{Text: " Which? "}, "", "freetext"},
		{api.Question{Text: "Which?", Choices: choices}, "", "multiple_choice"},
		{api.Question{Text: "Which?", Kinds: []string{"yes_no", "numeric"}, Default: "7", Seconds: 86_400}, "", "yes_no numeric"},
		{api.Question{Text: "  "}, "question", ""},
		{api.Question{Text: strings.Repeat("é", 4097)}, "question", ""},
		{api.Question{Text: "W", Context: strings.Repeat("é", 4097)}, "context", ""},
		{api.Question{Text: "W", Default: strings.Repeat("é", 4097)}, "default", ""},
		{api.Question{Text: "W", Seconds: 86_401}, "seconds", ""},
		{api.Question{Text: "W", Seconds: -1}, "seconds", ""},
		{api.Question{Text: "W", Choices: []api.Choice{{Value: "a\x1b", Label: "A"}}}, "choices", ""},
		{api.Question{Text: "W", Choices: []api.Choice{{Value: "a\u202e", Label: "A"}}}, "choices", ""},
		{api.Question{Text: "W", Choices: []api.Choice{{Value: "a", Label: " "}}}, "choices", ""},
	} {
		q, err := tt.q.Complete()
		if field := fieldOf(err); field != tt.field || field == "" && (strings.Join(q.Kinds, " ") != tt.kinds || q.Text != strings.TrimSpace(q.Text)) {
			t.Errorf("%.60q: %v, %+v", tt.q.Text, err, q.Kinds)
		}
	}
}

func fieldOf(err error) string {
	if e, is := errors.AsType[*utp.FieldError](err); is {
		return e.Field
	}
	return ""
}

func TestHandoffComplete(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		h     api.Handoff
		field string
	}{
		{api.Handoff{Reason: "Help."}, ""},
		{api.Handoff{Reason: "Help.", To: "escalation_queue", URI: "https://example.org/q?a=b", Urgency: "low", Context: jsontext.Value(`{"a":1}`)}, ""},
		{api.Handoff{}, "reason"},
		{api.Handoff{Reason: strings.Repeat("x", 4097)}, "reason"},
		{api.Handoff{Reason: "Help.", To: "the moon"}, "to"},
		{api.Handoff{Reason: "Help.", Urgency: "critical"}, "urgency"},
		{api.Handoff{Reason: "Help.", Context: jsontext.Value(`[1]`)}, "context"},
		{api.Handoff{Reason: "Help.", Context: jsontext.Value(`{"a":1,"a":2}`)}, "context"},
		{api.Handoff{Reason: "Help.", Context: jsontext.Value(`{"a":"` + strings.Repeat("x", 16<<10) + `"}`)}, "context"},
		{api.Handoff{Reason: "Help.", URI: "nowhere"}, "uri"},
		{api.Handoff{Reason: "Help.", URI: "https://example.org/a b"}, "uri"},
		{api.Handoff{Reason: "Help.", URI: "1x:y"}, "uri"},
		{api.Handoff{Reason: "Help.", URI: "é:y"}, "uri"},
	} {
		h, err := tt.h.Complete()
		if field := fieldOf(err); field != tt.field || field == "" && h.To == "" {
			t.Errorf("%+v: %v", tt.h, err)
		}
	}
}
