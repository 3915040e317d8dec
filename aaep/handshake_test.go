package aaep_test

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/aaep"
)

// capable is an edit of the capabilities of a request.
func capable(name string, value any) edit {
	return edit{"capabilities": edit{name: value}}
}

// leveled is an edit of what a request says of its levels and of its replies.
func leveled(replies any, levels ...any) edit {
	capabilities := edit{"supported_conformance_levels": levels}
	if _, silent := replies.(absent); !silent {
		capabilities["supports_confirmation_reply"] = replies
	}
	return edit{"capabilities": capabilities}
}

// handshakeCases are cases of [TestRules] like those of ruleCases, for the messages of §5.
var handshakeCases = []ruleCase{
	{"HS-01", asInfo, aaep.TypeStateChanged, nil, []edit{{"type": "subscription.pause"}}}, // of a later version
	{"HS-02", asError, aaep.TypeSubscriptionRequest, []edit{{"aaep_version": "99.99.99"}, {"aaep_version": "1.1.0-draft"}}, []edit{{"aaep_version": absent{}}, {"aaep_version": "1.0"}, {"aaep_version": 1}, {"aaep_version": "1.0.0\n"}}},
	{"HS-03", asError, aaep.TypeSubscriptionRequest, []edit{{"subscriber_id": strings.Repeat("é", 256)}}, []edit{{"subscriber_id": absent{}}, {"subscriber_id": ""}, {"subscriber_id": strings.Repeat("é", 257)}, {"subscriber_id": nil}}},
	{"HS-04", asError, aaep.TypeSubscriptionRequest, []edit{{"capabilities": edit{}}}, []edit{{"capabilities": absent{}}, {"capabilities": nil}, {"capabilities": []any{}}}},
	{"HS-05", asError, aaep.TypeSubscriptionRequest, []edit{{"subscriber_name": ""}, {"subscriber_version": strings.Repeat("1", 64)}, {"subscriber_manifest_uri": "https://example.org/m"}, {"extensions": edit{"a": edit{}}}}, []edit{{"subscriber_name": strings.Repeat("x", 257)}, {"subscriber_version": strings.Repeat("1", 65)}, {"subscriber_manifest_uri": "m"}, {"correlation_id": 5}, {"extensions": edit{"a": 1}}, {"extensions": []any{}}}},
	{"HS-06", asError, aaep.TypeSubscriptionRequest, []edit{{"extensions": edit{"mood": edit{}}}}, []edit{{"mood": 1}, {"session_id": "sess_1"}}},
	{"ENV-60", asError, aaep.TypeSubscriptionRequest, nil, []edit{{"Subscriber_ID": "x"}, capable("Languages", []any{"en"}), capable("EVENT_FILTERS", edit{})}},

	{"CAP-01", asError, aaep.TypeSubscriptionRequest, []edit{capable("max_events_per_second", 1), capable("max_events_per_second", 100000)}, []edit{capable("max_events_per_second", 0), capable("max_events_per_second", 100001), capable("max_events_per_second", 1.5), capable("max_events_per_second", "5")}},
	{"CAP-02", asError, aaep.TypeSubscriptionRequest, []edit{capable("preferred_verbosity", "terse")}, []edit{capable("preferred_verbosity", "epic"), capable("preferred_verbosity", nil)}},
	{"CAP-03", asError, aaep.TypeSubscriptionRequest, []edit{capable("languages", []any{"yo-NG", "en-US"}), capable("languages", languages(32))}, []edit{capable("languages", []any{}), capable("languages", languages(33)), capable("languages", []any{"en", "en"}), capable("languages", []any{"en_US"}), capable("languages", "en")}},
	{"CAP-04", asError, aaep.TypeSubscriptionRequest, []edit{capable("supports_confirmation_reply", false)}, []edit{capable("supports_confirmation_reply", "true"), capable("supports_confirmation_reply", 1)}},
	{"CAP-05", asError, aaep.TypeSubscriptionRequest, []edit{capable("supports_clarification_reply", true)}, []edit{capable("supports_clarification_reply", "yes")}},
	{"CAP-06", asError, aaep.TypeSubscriptionRequest, []edit{capable("coalesce_boundaries", []any{"none"}), capable("coalesce_boundaries", []any{"none", "word", "sentence", "paragraph", "completion"})}, []edit{capable("coalesce_boundaries", []any{}), capable("coalesce_boundaries", []any{"line"}), capable("coalesce_boundaries", []any{"word", "word"})}},
	{"CAP-07", asError, aaep.TypeSubscriptionRequest, []edit{capable("event_filters", edit{}), capable("event_filters", edit{"include": []any{}}), capable("event_filters", edit{"exclude": []any{"aaep:agent.tool.*"}})}, []edit{capable("event_filters", edit{"only": []any{}}), capable("event_filters", edit{"include": []any{""}}), capable("event_filters", edit{"include": "x"}), capable("event_filters", edit{"exclude": []any{strings.Repeat("x", 257)}}), capable("event_filters", edit{"exclude": []any{"a", "a"}}), capable("event_filters", []any{})}},
	{"CAP-08", asError, aaep.TypeSubscriptionRequest, []edit{capable("event_filters", edit{"include": []any{"*", "aaep:*", "aaep:agent.tool*", "aaep:agent.tool.invoked"}})}, []edit{capable("event_filters", edit{"include": []any{"aaep:*.tool"}}), capable("event_filters", edit{"exclude": []any{"aaep:agent.**"}}), capable("event_filters", edit{"exclude": []any{"*a*"}})}},
	{"CAP-09", asError, aaep.TypeSubscriptionRequest, []edit{capable("supported_conformance_levels", []any{3, 1}), capable("supported_conformance_levels", []any{1.0})}, []edit{capable("supported_conformance_levels", []any{}), capable("supported_conformance_levels", []any{0}), capable("supported_conformance_levels", []any{4}), capable("supported_conformance_levels", []any{1, 1}), capable("supported_conformance_levels", []any{"1"})}},
	{"CAP-10", asError, aaep.TypeSubscriptionRequest, []edit{capable("supported_extensions", []any{}), capable("supported_extensions", []any{ours})}, []edit{capable("supported_extensions", []any{"earshot"}), capable("supported_extensions", []any{ours, ours}), capable("supported_extensions", manyURIs(65))}},
	{"CAP-11", asError, aaep.TypeSubscriptionRequest, []edit{capable("cognitive_load", "low")}, []edit{capable("cognitive_load", "none")}},
	{"CAP-12", asError, aaep.TypeSubscriptionRequest, []edit{capable("pace_wpm", 50), capable("pace_wpm", 1000)}, []edit{capable("pace_wpm", 49), capable("pace_wpm", 1001), capable("pace_wpm", 60.5)}},
	{"CAP-13", asError, aaep.TypeSubscriptionRequest, []edit{capable("accept_signed_manifests_only", false)}, []edit{capable("accept_signed_manifests_only", nil)}},
	{"CAP-14", asError, aaep.TypeSubscriptionRequest, []edit{capable("earshot", edit{"session_ids": []any{"sess_1"}}), capable("haptics", edit{})}, []edit{capable("haptics", true), capable("haptics", nil), capable("haptics", []any{})}},

	{"L2S-2", asError, aaep.TypeSubscriptionRequest, []edit{leveled(false, 1), leveled(true, 1, 2, 3)}, []edit{leveled(false, 2), leveled(false, 1, 3)}},
	{"CAP-04", asWarning, aaep.TypeSubscriptionRequest, []edit{leveled(absent{}, 1), leveled(true, 2)}, []edit{leveled(absent{}, 1, 2)}},

	{"HS-20", asError, aaep.TypeSubscriptionAccepted, []edit{{}}, nil},
	{"HS-21", asError, aaep.TypeSubscriptionAccepted, []edit{{"subscription_id": "sub_1"}}, []edit{{"subscription_id": absent{}}, {"subscription_id": "sub_a-b"}, {"subscription_id": "1"}}},
	{"HS-22", asError, aaep.TypeSubscriptionAccepted, []edit{{"aaep_version": "1.0.0"}}, []edit{{"aaep_version": absent{}}, {"aaep_version": "one"}}},
	{"HS-23", asError, aaep.TypeSubscriptionAccepted, []edit{{"producer": edit{"agent_id": "tidy"}}}, []edit{{"producer": absent{}}, {"producer": "tidy"}, {"producer": edit{"agent_id": "a", "mood": 1}}}},
	{"ENV-29", asError, aaep.TypeSubscriptionAccepted, nil, []edit{{"producer": edit{}}, {"producer": edit{"agent_id": ""}}}}, // HS-23
	{"HS-24", asError, aaep.TypeSubscriptionAccepted, []edit{{"honored_capabilities": edit{}}}, []edit{{"honored_capabilities": absent{}}, {"honored_capabilities": nil}}},
	{"CAP-01", asError, aaep.TypeSubscriptionAccepted, nil, []edit{{"honored_capabilities": edit{"max_events_per_second": 0}}}},
	{"HS-25", asError, aaep.TypeSubscriptionAccepted, []edit{{"signed_manifest": "a.b.c"}, {"negotiation_notes": ""}}, []edit{{"signed_manifest": "a..c"}, {"signed_manifest": "a.b"}, {"manifest_uri": "m"}, {"negotiation_notes": strings.Repeat("x", 4097)}}},
	{"HS-26", asError, aaep.TypeSubscriptionAccepted, nil, []edit{{"extensions": edit{}}, {"mood": 1}}},

	{"HS-40", asError, aaep.TypeSubscriptionRejected, []edit{{}}, nil},
	{"HS-41", asError, aaep.TypeSubscriptionRejected, []edit{{"reason_code": "rate_limit"}, {"reason_code": "unknown"}}, []edit{{"reason_code": absent{}}, {"reason_code": "busy"}}},
	{"HS-42", asError, aaep.TypeSubscriptionRejected, []edit{{"reason_message": "No."}}, []edit{{"reason_message": absent{}}, {"reason_message": ""}, {"reason_message": strings.Repeat("x", 4097)}}},
	{"HS-43", asError, aaep.TypeSubscriptionRejected, []edit{{"retry_after_seconds": 0}, {"retry_after_seconds": 86400}}, []edit{{"retry_after_seconds": -1}, {"retry_after_seconds": 86401}, {"alternative_manifest_uri": "x"}, {"subscription_id": "sub_1"}}},

	{"HS-60", asError, aaep.TypeSubscriptionRenegotiate, []edit{{"capabilities": edit{}}}, []edit{{"subscription_id": absent{}}, {"subscription_id": "x"}, {"capabilities": absent{}}, {"aaep_version": "1.0.0"}}},
	{"CAP-12", asError, aaep.TypeSubscriptionRenegotiate, nil, []edit{capable("pace_wpm", 5)}},
	{"HS-66", asError, aaep.TypeSubscriptionClose, []edit{{"reason_code": "subscriber_shutdown"}, {"reason_code": absent{}, "reason_message": absent{}}}, []edit{{"subscription_id": absent{}}, {"reason_code": "Bye"}, {"reason_message": strings.Repeat("x", 4097)}, {"capabilities": edit{}}}},
}

func manyURIs(n int) []any {
	uris := make([]any, n)
	for i := range uris {
		uris[i] = fmt.Sprintf("urn:x:%d", i)
	}
	return uris
}

const (
	request     = `{"type":"subscription.request","aaep_version":"1.0.0","subscriber_id":"reader","capabilities":{}}`
	accepted    = `{"type":"subscription.accepted","subscription_id":"sub_1","aaep_version":"1.0.0","producer":{"agent_id":"tidy"},"honored_capabilities":{}}`
	rejected    = `{"type":"subscription.rejected","reason_code":"unknown","reason_message":"No."}`
	renegotiate = `{"type":"subscription.renegotiate","subscription_id":"sub_1","capabilities":{}}`
	closing     = `{"type":"subscription.close","subscription_id":"sub_1"}`
)

// coder is one message of the handshake, read and written.
type coder struct {
	bare   string
	decode func(raw []byte) (any, error)
	encode func(message any) ([]byte, error)
}

func coderOf[M interface{ Encode() ([]byte, error) }](bare string, decode func([]byte) (M, error)) coder {
	return coder{
		bare,
		func(raw []byte) (any, error) { return decode(raw) },
		func(message any) ([]byte, error) { return message.(M).Encode() },
	}
}

// coders are the messages of the handshake by their type.
func coders() map[string]coder {
	return map[string]coder{
		aaep.TypeSubscriptionRequest:     coderOf(request, aaep.DecodeSubscriptionRequest),
		aaep.TypeSubscriptionAccepted:    coderOf(accepted, aaep.DecodeSubscriptionAccepted),
		aaep.TypeSubscriptionRejected:    coderOf(rejected, aaep.DecodeSubscriptionRejected),
		aaep.TypeSubscriptionRenegotiate: coderOf(renegotiate, aaep.DecodeSubscriptionRenegotiate),
		aaep.TypeSubscriptionClose:       coderOf(closing, aaep.DecodeSubscriptionClose),
	}
}

// TestHandshakeRoundTrip: what is read is written as it was, in the order of the
// table; the whole message survives too.
func TestHandshakeRoundTrip(t *testing.T) {
	t.Parallel()
	for name, c := range coders() {
		message, err := c.decode([]byte(c.bare))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if raw, err := c.encode(message); err != nil || string(raw) != c.bare {
			t.Errorf("%s, %v:\nwant %s\ngot  %s", name, err, c.bare, raw)
		}
		m, _ := aaep.Lookup(name)
		whole, err := c.decode(encode(t, whole(t, m)))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		raw, err := c.encode(whole)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		again, err := c.decode(raw)
		if err != nil || !reflect.DeepEqual(whole, again) {
			t.Errorf("%s, %v:\n%+v\n%+v", name, err, whole, again)
		}
	}
}

// TestCapabilitiesAreKept: every capability is read, also that of an extension; one
// that is not an object is ignored (CAP-14), and any notation of a number counts (C-18).
func TestCapabilitiesAreKept(t *testing.T) {
	t.Parallel()
	const asked = `"capabilities":{"max_events_per_second":5e0,"preferred_verbosity":"terse","languages":["yo-NG","en"],"supports_confirmation_reply":true,` +
		`"supports_clarification_reply":false,"coalesce_boundaries":["sentence"],"event_filters":{"include":[],"exclude":["aaep:agent.tool.*"]},` +
		`"supported_conformance_levels":[1,2.0],"supported_extensions":["urn:x"],"cognitive_load":"low","pace_wpm":180,"accept_signed_manifests_only":false,` +
		`"haptic":true,"earshot":{"session_ids":["sess_1"]},"future":"x"},"tempo":1`
	got, err := aaep.DecodeSubscriptionRequest([]byte(strings.Replace(request, `"capabilities":{}`, asked, 1)))
	if err != nil {
		t.Fatal(err)
	}
	want := aaep.Capabilities{
		MaxEventsPerSecond: 5, PreferredVerbosity: aaep.VerbosityTerse, Languages: []string{"yo-NG", "en"},
		SupportsConfirmationReply: new(true), SupportsClarificationReply: new(false), CoalesceBoundaries: []aaep.CoalesceHint{aaep.BoundarySentence},
		EventFilters:               &aaep.EventFilters{Include: []string{}, Exclude: []string{"aaep:agent.tool.*"}},
		SupportedConformanceLevels: []int{1, 2}, SupportedExtensions: []string{"urn:x"}, CognitiveLoad: aaep.LoadLow, PaceWPM: 180,
		AcceptSignedManifestsOnly: new(false), Extensions: map[string]jsontext.Value{"earshot": jsontext.Value(`{"session_ids":["sess_1"]}`)},
	}
	if !reflect.DeepEqual(got.Capabilities, want) {
		t.Errorf("want %+v\ngot  %+v", want, got.Capabilities)
	}
	raw, err := got.Encode()
	if err != nil || !strings.Contains(string(raw), `"event_filters":{"include":[],"exclude":["aaep:agent.tool.*"]}`) || !strings.Contains(string(raw), `"earshot":{"session_ids":["sess_1"]}}`) {
		t.Errorf("%v: %s", err, raw)
	}
	copied := want.Clone()
	if !reflect.DeepEqual(copied, want) {
		t.Errorf("a copy differs: %+v", copied)
	}
	copied.Languages[0], copied.EventFilters.Exclude[0], *copied.SupportsConfirmationReply = "x", "x", false
	copied.Extensions["earshot"][2] = 'X'
	if want.Languages[0] == "x" || want.EventFilters.Exclude[0] == "x" || !*want.SupportsConfirmationReply || want.Extensions["earshot"][2] == 'X' {
		t.Error("a copy shares with its original")
	}
}

// TestAnotherType: a decoder names the rule of the type that it expected.
func TestAnotherType(t *testing.T) {
	t.Parallel()
	for rule, decode := range map[string]func([]byte) error{
		"CONF-30": func(raw []byte) error { _, err := aaep.DecodeConfirmationReply(raw); return err },
		"CLA-02":  func(raw []byte) error { _, err := aaep.DecodeClarificationReply(raw); return err },
		"HS-01":   func(raw []byte) error { _, err := aaep.DecodeSubscriptionRequest(raw); return err },
		"HS-20":   func(raw []byte) error { _, err := aaep.DecodeSubscriptionAccepted(raw); return err },
		"HS-40":   func(raw []byte) error { _, err := aaep.DecodeSubscriptionRejected(raw); return err },
	} {
		for _, raw := range []string{`{}`, `{"type":7}`, `{"type":"whatever.reply"}`} {
			refused, ok := errors.AsType[*aaep.Error](decode([]byte(raw)))
			if !ok || len(refused.Violations) != 1 || refused.Violations[0].Rule != rule || refused.Violations[0].Path != "/type" {
				t.Errorf("%s: %s: %v", rule, raw, refused)
			}
		}
	}
}

// TestUnknownCapabilityIsIgnored: to a reader it is not worth a word (C-52).
func TestUnknownCapabilityIsIgnored(t *testing.T) {
	t.Parallel()
	raw := strings.Replace(request, `"capabilities":{}`, `"capabilities":{"haptic":true,"supported_conformance_levels":[2]}`, 1)
	if found := aaep.Validate([]byte(raw), aaep.ModeConsumer); len(found) > 0 {
		t.Errorf("found %v", found)
	}
}

// TestHandshakeIsRead: what a reader must bear (HS-49, C-52), and what it must not
// act on.
func TestHandshakeIsRead(t *testing.T) {
	t.Parallel()
	edits := []struct{ of, from, to string }{
		{aaep.TypeSubscriptionRequest, `"capabilities":{}`, `"capabilities":{},"mood":1`},
		{aaep.TypeSubscriptionRequest, `"capabilities":{}`, `"capabilities":{"mood":null}`},
		{aaep.TypeSubscriptionRequest, `"capabilities":{}`, `"capabilities":{"event_filters":{"include":["a*b"]}}`},
		{aaep.TypeSubscriptionAccepted, `"honored_capabilities":{}`, `"honored_capabilities":{"cognitive_load":"tiny","mood":1},"mood":[]`},
		{aaep.TypeSubscriptionRejected, `"unknown"`, `"too_busy"`},
		{aaep.TypeSubscriptionClose, `"sub_1"`, `"sub_1","reason_code":"Bye now"`},
	}
	for _, e := range edits {
		c := coders()[e.of]
		if _, err := c.decode([]byte(strings.Replace(c.bare, e.from, e.to, 1))); err != nil {
			t.Errorf("%s with %s: %v", e.of, e.to, err)
		}
	}
	for name, c := range coders() {
		for _, raw := range []string{
			``, `null`, `[]`, c.bare + c.bare, "\xef\xbb\xbf" + c.bare, goodReply,
			strings.Replace(c.bare, `"type"`, `"type":"x","type"`, 1),
			strings.Replace(c.bare, `"type"`, `"Type":"x","type"`, 1),
			strings.Replace(c.bare, `subscription.`, `subscription_`, 1),
			strings.Replace(c.bare, `:"`, `:"`+"\xff", 2),
		} {
			got, err := c.decode([]byte(raw))
			refused, ok := errors.AsType[*aaep.Error](err)
			if !ok || refused.Code != aaep.CodeBadMessage || !reflect.ValueOf(got).IsZero() {
				t.Errorf("%s from %s: got %+v, %v", name, raw, got, err)
			}
		}
	}
	if raw := strings.Replace(request, `"capabilities":{}`, `"capabilities":{},"extensions":{"a":1}`, 1); len(aaep.Errors(aaep.Validate([]byte(raw), aaep.ModeConsumer))) == 0 {
		t.Errorf("%s is read", raw)
	}
	for _, capability := range []string{`"max_events_per_second":0`, `"languages":[]`, `"supports_confirmation_reply":null`, `"Supports_Confirmation_Reply":true`, `"languages":["en"],"languages":["de"]`, `"event_filters":{"exlude":[],"Exclude":[]}`} {
		for _, name := range []string{aaep.TypeSubscriptionRequest, aaep.TypeSubscriptionRenegotiate} {
			c := coders()[name]
			raw := []byte(strings.Replace(c.bare, `"capabilities":{}`, `"capabilities":{`+capability+`}`, 1))
			if _, err := c.decode(raw); err == nil {
				t.Errorf("%s is read", raw)
			}
		}
	}
}

// TestHandshakeRefusesToWrite: a message that breaks a rule does not leave.
func TestHandshakeRefusesToWrite(t *testing.T) {
	t.Parallel()
	for rule, message := range map[string]interface{ Encode() ([]byte, error) }{
		"HS-03":  aaep.SubscriptionRequest{AAEPVersion: aaep.Version},
		"CAP-14": aaep.SubscriptionRequest{AAEPVersion: aaep.Version, SubscriberID: "a", Capabilities: aaep.Capabilities{Extensions: map[string]jsontext.Value{"x": jsontext.Value("1")}}},
		"ENV-60": aaep.SubscriptionRequest{AAEPVersion: aaep.Version, SubscriberID: "a", Capabilities: aaep.Capabilities{Extensions: map[string]jsontext.Value{"Languages": jsontext.Value("{}")}}},
		"CAP-03": aaep.SubscriptionRenegotiate{SubscriptionID: "sub_1", Capabilities: aaep.Capabilities{Languages: []string{}}},
		"HS-21":  aaep.SubscriptionAccepted{AAEPVersion: aaep.Version, Producer: aaep.Producer{AgentID: "a"}},
		"ENV-29": aaep.SubscriptionAccepted{SubscriptionID: "sub_1", AAEPVersion: aaep.Version},
		"HS-41":  aaep.SubscriptionRejected{ReasonCode: "busy", ReasonMessage: "x"},
		"HS-66":  aaep.SubscriptionClose{SubscriptionID: "x"},
	} {
		_, err := message.Encode()
		refused, ok := errors.AsType[*aaep.Error](err)
		if !ok || refused.Code != aaep.CodeBadEvent || !names(refused.Violations, asError, rule) {
			t.Errorf("%s: got %v", rule, err)
		}
	}
	broken := aaep.SubscriptionRequest{AAEPVersion: aaep.Version, SubscriberID: "\xff"}
	if _, err := broken.Encode(); err == nil {
		t.Error("a text that is not UTF-8 is written")
	}
}

// FuzzHandshake: no text makes a reader panic, and what it reads, and can be written,
// reads the same again.
func FuzzHandshake(f *testing.F) {
	seeds(f)
	for _, c := range coders() {
		f.Add([]byte(c.bare))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		for name, c := range coders() {
			message, err := c.decode(raw)
			if err != nil {
				continue
			}
			written, err := c.encode(message)
			if err != nil {
				continue // a reader bears more than a sender may send
			}
			again, err := c.decode(written)
			if err != nil || !bytes.ContainsAny(raw, "\r\n") && !reflect.DeepEqual(message, again) {
				t.Errorf("%s, %v:\n%+v\n%+v", name, err, message, again)
			}
			if twice, err := c.encode(again); err != nil || !bytes.Equal(written, twice) {
				t.Errorf("%s, %v:\n%s\n%s", name, err, written, twice)
			}
		}
	})
}
