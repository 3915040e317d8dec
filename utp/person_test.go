package utp_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/utp"
)

func TestQuestionComplete(t *testing.T) {
	t.Parallel()
	choices := []utp.Choice{{Value: "a", Label: "A"}, {Value: "b", Label: "B"}}
	for _, tt := range []struct {
		q     utp.Question
		field string
		kinds string
	}{
		{utp.Question{Text: " Which? "}, "", "freetext"},
		{utp.Question{Text: "Which?", Choices: choices}, "", "multiple_choice"},
		{utp.Question{Text: "Which?", Kinds: []string{"yes_no", "numeric"}, Default: "7", Seconds: 86_400}, "", "yes_no numeric"},
		{utp.Question{Text: "  "}, "question", ""},
		{utp.Question{Text: strings.Repeat("é", 4097)}, "question", ""},
		{utp.Question{Text: "W", Context: strings.Repeat("é", 4097)}, "context", ""},
		{utp.Question{Text: "W", Default: strings.Repeat("é", 4097)}, "default", ""},
		{utp.Question{Text: "W", Seconds: 86_401}, "seconds", ""},
		{utp.Question{Text: "W", Seconds: -1}, "seconds", ""},
		{utp.Question{Text: "W", Choices: []utp.Choice{{Value: "a\x1b", Label: "A"}}}, "choices", ""},
		{utp.Question{Text: "W", Choices: []utp.Choice{{Value: "a\u202e", Label: "A"}}}, "choices", ""},
		{utp.Question{Text: "W", Choices: []utp.Choice{{Value: "a", Label: " "}}}, "choices", ""},
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
		h     utp.Handoff
		field string
	}{
		{utp.Handoff{Reason: "Help."}, ""},
		{utp.Handoff{Reason: "Help.", To: "escalation_queue", URI: "https://example.org/q?a=b", Urgency: "low", Context: jsontext.Value(`{"a":1}`)}, ""},
		{utp.Handoff{}, "reason"},
		{utp.Handoff{Reason: strings.Repeat("x", 4097)}, "reason"},
		{utp.Handoff{Reason: "Help.", To: "the moon"}, "to"},
		{utp.Handoff{Reason: "Help.", Urgency: "critical"}, "urgency"},
		{utp.Handoff{Reason: "Help.", Context: jsontext.Value(`[1]`)}, "context"},
		{utp.Handoff{Reason: "Help.", Context: jsontext.Value(`{"a":1,"a":2}`)}, "context"},
		{utp.Handoff{Reason: "Help.", Context: jsontext.Value(`{"a":"` + strings.Repeat("x", 16<<10) + `"}`)}, "context"},
		{utp.Handoff{Reason: "Help.", URI: "nowhere"}, "uri"},
		{utp.Handoff{Reason: "Help.", URI: "https://example.org/a b"}, "uri"},
		{utp.Handoff{Reason: "Help.", URI: "1x:y"}, "uri"},
		{utp.Handoff{Reason: "Help.", URI: "é:y"}, "uri"},
	} {
		h, err := tt.h.Complete()
		if field := fieldOf(err); field != tt.field || field == "" && h.To == "" {
			t.Errorf("%+v: %v", tt.h, err)
		}
	}
}

// TestCheckFields: each required name once (UTP, "Result fields").
func TestCheckFields(t *testing.T) {
	t.Parallel()
	required := []string{"title", "pages"}
	for names, says := range map[string]string{
		"title pages": "", "pages title more": "", "title": "missing: pages", "": "missing: title, pages", "title title pages": "twice: title",
		"title title": "missing: pages; twice: title", "title pages more more": "twice: more",
	} {
		var fields []utp.Field
		for name := range strings.FieldsSeq(names) {
			fields = append(fields, utp.Field{Name: name, Value: jsontext.Value("1")})
		}
		err := utp.CheckFields(required, fields)
		if says == "" && err != nil || says != "" && (err == nil || !strings.Contains(err.Error(), says)) {
			t.Errorf("%q: %v; want %q", names, err, says)
		}
	}
	for _, bad := range [][]string{{""}, {"a", "a"}, {"a\n"}, {strings.Repeat("x", 129)}, make([]string, 65)} {
		if utp.CheckRequired(bad) == nil {
			t.Errorf("%.80q can be required", bad)
		}
	}
	if err := utp.CheckRequired(required); err != nil {
		t.Error(err)
	}
}
