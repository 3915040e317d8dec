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

// A listener bears what it does not know, and keeps it.
func ExampleDecodeEvent() {
	for _, raw := range []string{
		`{"@context":"https://aaep-protocol.org/context/v1","type":"aaep:agent.awaiting.confirmation","event_id":"evt_1","session_id":"sess_1",
			"timestamp":"2026-05-24T14:22:11.342Z","producer":{"agent_id":"bank"},"action":"Transfer $500.","consequence":"It cannot be undone.",
			"reply_token":"rpl_1","timeout_seconds":300,"default_decision":"reject","reversibility":"irreversible"}`,
		`{"@context":["https://aaep-protocol.org/context/v1","https://example.org/medai"],"type":"medai:dose.due","event_id":"evt_2","session_id":"sess_1",
			"timestamp":"2026-05-24T14:22:12Z","producer":{"agent_id":"ward"},"summary_normal":"A dose is due.","milligrams":20}`,
		`{"@context":"https://aaep-protocol.org/context/v1","type":"aaep:agent.session.completed","event_id":"evt_3",
			"timestamp":"2026-05-24T14:22:13Z","producer":{"agent_id":"ward"},"summary_normal":"Done."}`,
	} {
		event, err := aaep.DecodeEvent([]byte(raw))
		if err != nil {
			fmt.Println("refused:", err)
			continue
		}
		switch payload := event.Payload.(type) {
		case aaep.AwaitingConfirmation:
			fmt.Println(event.Urgency, "question:", payload.Action, "Cannot be undone:", payload.Irreversible)
		case aaep.Other:
			fmt.Printf("of a type that is not known here: %s, %s\n", payload.Type, payload.Members["summary_normal"])
		default:
			fmt.Println(event.Type())
		}
	}
	// Output:
	// critical question: Transfer $500. Cannot be undone: true
	// of a type that is not known here: medai:dose.due, "A dose is due."
	// refused: aaep: bad_message: not an event that can be acted on: ENV-07 error at /session_id: found no "session_id", expected a string
}

// What a listener can take in, and wants, is said once, at the beginning.
func ExampleSubscriptionRequest_Encode() {
	request := aaep.SubscriptionRequest{
		AAEPVersion:  aaep.Version,
		SubscriberID: "reader-of-ada", // the same at every start
		Capabilities: aaep.Capabilities{
			MaxEventsPerSecond:        5,
			PreferredVerbosity:        aaep.VerbosityTerse,
			Languages:                 []string{"yo-NG", "en"},
			SupportsConfirmationReply: new(true), // without it, no confirmation is sent
			EventFilters:              &aaep.EventFilters{Exclude: []string{"aaep:agent.progress.*"}},
		},
	}
	raw, err := request.Encode()
	fmt.Println(strings.ReplaceAll(string(raw), `,"`, ",\n\""), err)
	// Output:
	// {"type":"subscription.request",
	// "aaep_version":"1.0.0",
	// "subscriber_id":"reader-of-ada",
	// "capabilities":{"max_events_per_second":5,
	// "preferred_verbosity":"terse",
	// "languages":["yo-NG",
	// "en"],
	// "supports_confirmation_reply":true,
	// "event_filters":{"exclude":["aaep:agent.progress.*"]}}} <nil>
}

// The token of the question goes back as it came; nothing is made up on behalf of the
// person.
func ExampleConfirmationReply_Encode() {
	reply := aaep.ConfirmationReply{
		ReplyToken:     "rpl_4f8a2e7d", // of the question
		Decision:       aaep.DecisionReject,
		SubscriptionID: "sub_8a4f2c9d",                                  // of the accepted subscription
		Timestamp:      time.Date(2026, 5, 24, 14, 22, 24, 0, time.UTC), // when the person decided
		DecidedBy:      "ada",
	}
	raw, err := reply.Encode()
	fmt.Println(strings.ReplaceAll(string(raw), `,"`, ",\n\""), err)
	// Output:
	// {"type":"confirmation.reply",
	// "reply_token":"rpl_4f8a2e7d",
	// "decision":"reject",
	// "subscription_id":"sub_8a4f2c9d",
	// "timestamp":"2026-05-24T14:22:24.000Z",
	// "decided_by":"ada"} <nil>
}

// A manifest tells what a producer can before anybody subscribes.
func ExampleDecodeManifest() {
	manifest, err := aaep.DecodeManifest([]byte(`{"@context":"https://aaep-protocol.org/context/v1","type":"aaep:producer.manifest",
		"agent_id":"tidy","aaep_versions_supported":["1.0.0"],"transports_supported":["sse"],"languages_supported":["en","yo-NG"],"mood":"fine"}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(manifest.AgentID, manifest.AAEPVersionsSupported, manifest.TransportsSupported, manifest.LanguagesSupported)
	// Output:
	// tidy [1.0.0] [sse] [en yo-NG]
}

// Anyone who judges many messages keeps one validator: a message without a finding then
// costs no allocation.
func ExampleValidator() {
	var validator aaep.Validator
	for _, raw := range []string{
		`{"type":"subscription.close","subscription_id":"sub_1","reason_code":"subscriber_shutdown"}`,
		`{"type":"subscription.close","subscription_id":"1","reason_code":"Bye"}`,
		`{"type":"subscription.close",`,
	} {
		found := validator.Validate([]byte(raw), aaep.ModeProducer)
		fmt.Println(len(found), "findings")
		for _, v := range found {
			fmt.Printf("  %s %s, %s at %q: %s\n", v.Spec, v.Rule, v.Severity, v.Path, v.Message)
		}
	}
	// Output:
	// 0 findings
	// 2 findings
	//   §5.8 HS-66, error at "/subscription_id": found "1", expected ^sub_[A-Za-z0-9]{1,64}$
	//   §5.8 HS-66, error at "/reason_code": found "Bye", expected ^[a-z][a-z0-9_]{1,63}$
	// 1 findings
	//   §3.8 ENV-02, error at "": the text ends at byte 29 with 1 objects or arrays open, expected their end
}

// The same rules as a JSON Schema, for a validator in another language.
func ExampleSchema() {
	raw, err := aaep.Schema("confirmation.reply")
	if err != nil {
		fmt.Println(err)
		return
	}
	schema := aaep.Read(raw)
	id, _ := schema.Text("$id")
	fmt.Println(id)
	fmt.Println(schema.Texts("required"))
	// Output:
	// https://github.com/earshot-dev/earshot/ns/v1/schema/confirmation.reply.schema.json
	// [type reply_token decision subscription_id timestamp]
}

// A producer says what it is. The path of its HTTP transport has no member of its own.
func ExampleManifest() {
	manifest := aaep.Manifest{
		AgentID:               "tidy",
		AAEPVersionsSupported: []string{aaep.Version},
		TransportsSupported:   []aaep.Transport{aaep.TransportSSE},
		LanguagesSupported:    []string{"en"},
	}
	manifest, err := manifest.Extend(aaep.PrefixEarshot, aaep.ManifestPathPrefix, "/aaep/v1")
	if err != nil {
		fmt.Println(err)
		return
	}
	raw, err := manifest.Encode()
	fmt.Println(strings.ReplaceAll(string(raw), `,"`, ",\n\""), err)
	// Output:
	// {"@context":["https://aaep-protocol.org/context/v1",
	// "https://github.com/earshot-dev/earshot/ns/v1"],
	// "type":"aaep:producer.manifest",
	// "agent_id":"tidy",
	// "aaep_versions_supported":["1.0.0"],
	// "transports_supported":["sse"],
	// "languages_supported":["en"],
	// "extensions":{"earshot":{"path_prefix":"/aaep/v1"}}} <nil>
}
