package aaep_test

import (
	"fmt"
	"strings"
	"time"

	"github.com/earshot-dev/earshot/aaep"
)

// An event is an envelope and a payload; what may be filled in is filled in.
func Example() {
	event := aaep.Event{
		ID:        "evt_8a3f5b22c91e4d7a",
		SessionID: "sess_2c91a7b4d23f1e88",
		Time:      time.Date(2026, 5, 24, 14, 22, 11, 342e6, time.UTC),
		Producer:  aaep.Producer{AgentID: "tidy"},
		Hints:     &aaep.LocalizationHints{PrimaryLanguage: "en"},
		Payload:   aaep.StateChanged{FromState: aaep.StateIdle, ToState: aaep.StateThinking, SummaryNormal: "Looking at the folder."},
	}
	raw, err := event.Encode()
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(strings.ReplaceAll(string(raw), `,"`, ",\n\""))
	fmt.Println(len(aaep.Validate(raw, aaep.ModeProducer)), "findings")
	// Output:
	// {"@context":"https://aaep-protocol.org/context/v1",
	// "aaep_version":"1.0.0",
	// "type":"aaep:agent.state.changed",
	// "event_id":"evt_8a3f5b22c91e4d7a",
	// "session_id":"sess_2c91a7b4d23f1e88",
	// "timestamp":"2026-05-24T14:22:11.342Z",
	// "producer":{"agent_id":"tidy"},
	// "verbosity":"normal",
	// "urgency":"normal",
	// "localization_hints":{"primary_language":"en"},
	// "from_state":"idle",
	// "to_state":"thinking",
	// "summary_normal":"Looking at the folder."}
	// 0 findings
}

// A finding names the rule, the place, what was found and what was expected.
func ExampleValidate() {
	raw := []byte(`{"@context":"https://aaep-protocol.org/context/v1","type":"aaep:agent.awaiting.confirmation",
		"event_id":"evt_1","session_id":"sess_1","timestamp":"2026-05-24T14:22:11.342Z","producer":{"agent_id":"bank"},
		"urgency":"critical","localization_hints":{"primary_language":"en"},
		"action":"Transfer $500.","consequence":"It cannot be undone.","reply_token":"rpl_1","timeout_seconds":300,
		"default_decision":"accept","summary_normal":"Transfer?","risk_level":"high","irreversible":true}`)
	for _, v := range aaep.Validate(raw, aaep.ModeProducer) {
		fmt.Println(v, v.Also)
	}
	// Output:
	// CONFM-15 error at /default_decision: found accept for an irreversible action of high risk, expected reject [CONF-20 CONF-26]
}

// A reply that could be read in two ways is not read at all.
func ExampleDecodeConfirmationReply() {
	_, err := aaep.DecodeConfirmationReply([]byte(`{"type":"confirmation.reply","reply_token":"rpl_1","decision":"reject","Decision":"accept",
		"subscription_id":"sub_1","timestamp":"2026-05-24T14:22:11Z"}`))
	fmt.Println(err)
	// Output:
	// aaep: bad_message: not a valid confirmation.reply: ENV-60 error at /Decision: found the name "Decision", expected "decision" in exactly this spelling
}
