package main

import (
	"fmt"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/api"
)

// TestReplyTo: a question with choices that takes other answers, too, takes them here; one with choices alone does not.
func TestReplyTo(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		kinds, answer, want string // "" is refused
	}{
		{`"multiple_choice"`, "Skip", "skip"},
		{`"multiple_choice"`, "leave it out", "skip"},
		{`"multiple_choice"`, "Anna", ""},
		{`"multiple_choice","freetext"`, "Anna", "Anna"},
		{`"multiple_choice","freetext"`, "Skip", "skip"},
		{`"multiple_choice","numeric"`, "12", "12"},
		{`"multiple_choice","yes_no"`, "yes", "yes"},
	} {
		q := api.OpenQuestion{Number: 3, Kind: "clarification", Event: jsontext.Value(fmt.Sprintf(`{"@context":["https://aaep-protocol.org/context/v1"],
			"aaep_version":"1.0.0","type":"aaep:agent.awaiting.clarification","event_id":"evt_1","session_id":"sess_1","timestamp":"2026-01-02T03:04:05.000Z",
			"producer":{"agent_id":"a","agent_name":"a"},"verbosity":"normal","urgency":"critical","localization_hints":{"primary_language":"en","text_direction":"ltr"},
			"question":"Who?","summary_normal":"Who?","reply_token":"rpl_1","timeout_seconds":60,"accepted_response_kinds":[%s],
			"choices":[{"value":"skip","label":"Leave it out"},{"value":"decline","label":"Decline"}]}`, tt.kinds))}
		r, _, err := replyTo(q, tt.answer)
		if got := r.Response.Text; (err != nil) != (tt.want == "") || err == nil && got != tt.want {
			t.Errorf("%s, %q: %q, %v; want %q", tt.kinds, tt.answer, got, err, tt.want)
		}
	}
}
