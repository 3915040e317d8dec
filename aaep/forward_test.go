package aaep_test

import (
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/aaep"
)

// TestForward: an event that passes through loses nothing of what this package does not
// know, and the values are written as they were.
func TestForward(t *testing.T) {
	t.Parallel()
	raw := `{"@context":["https://aaep-protocol.org/context/v1","https://example.org/medai/v1"],"aaep_version":"1.3.0","type":"aaep:agent.progress.updated","event_id":"evt_1","session_id":"sess_1",` +
		`"timestamp":"2026-05-24T14:22:11.342Z","producer":{"agent_id":"tidy","mood":{"x":1.0}},"verbosity":"normal","urgency":"background","localization_hints":{"primary_language":"en","tone":"\u0041"},` +
		`"progress":{"percent":50,"lap":9007199254740991},"summary_normal":"Half.","summary_normal_de":"H\u00e4lfte.","eta":{"big" : 1.50e+3, "text":"a\/b"},"extensions":{"medai":{"z": 1, "a":"\u0041"}}}`
	event, err := aaep.DecodeEvent([]byte(raw))
	if err != nil {
		t.Fatal(err)
	}
	if got := string(event.Unknown["eta"]); got != `{"big" : 1.50e+3, "text":"a\/b"}` || len(event.Unknown) != 1 {
		t.Errorf("unknown: %s", event.Unknown)
	}
	written, err := event.Forward()
	if want := strings.Replace(raw, `H\u00e4lfte`, "Hälfte", 1); err != nil || string(written) != want {
		t.Errorf("%v:\nwant %s\ngot  %s", err, want, written)
	}
	event.Version = aaep.Version
	if _, err := event.Encode(); err == nil {
		t.Error("a stray member is sent as one's own (ENV-47)")
	}
	event.Unknown = map[string]jsontext.Value{"eta": jsontext.Value(" {\n\"a\" : 1\r\n} ")}
	if written, err = event.Forward(); err != nil || !strings.Contains(string(written), `"eta":{"a":1}`) {
		t.Errorf("a line end is kept: %s, %v", written, err)
	}
	for _, smuggled := range []string{`1,"to_state":2`, ``, `{}}`, `{"a":1}{}`, `"`} {
		event.Unknown = map[string]jsontext.Value{"eta": jsontext.Value(smuggled)}
		if written, err := event.Forward(); err == nil {
			t.Errorf("%s is written: %s", smuggled, written)
		}
	}
	event.Unknown, event.SessionID = nil, "x"
	if _, err := event.Forward(); err == nil {
		t.Error("an event without a session is passed on")
	}
}

// TestDocumentValues: values and names are there as they are written.
func TestDocumentValues(t *testing.T) {
	t.Parallel()
	d := aaep.Read([]byte(`{"a":{ "b" : "\u0041" ,"n":1.50e1, "l":[1, 2],"b2":true},"a2":"x","é\n":null}`))
	for path, want := range map[string]string{"b": `"\u0041"`, "n": `1.50e1`, "l": `[1, 2]`, "b2": "true"} {
		if got, ok := d.Value("a", path); !ok || string(got) != want {
			t.Errorf("a.%s is %s, want %s", path, got, want)
		}
	}
	if got, ok := d.Bytes("a", "b"); !ok || string(got) != "A" {
		t.Errorf("a.b reads as %q", got)
	}
	if names := strings.Join(d.Names(), " ") + "|" + strings.Join(d.Names("a"), " "); names != "a a2 é\n|b n l b2" {
		t.Errorf("names are %q", names)
	}
	if _, ok := d.Value("a", "x"); ok || d.Names("a", "l") != nil || d.Names("x") != nil {
		t.Error("what is not there has a value or names")
	}
}

// TestRepliesAreWritten: a reply that breaks a rule does not leave, and its type is
// filled in.
func TestRepliesAreWritten(t *testing.T) {
	t.Parallel()
	reply, err := aaep.DecodeConfirmationReply([]byte(goodReply))
	if err != nil {
		t.Fatal(err)
	}
	reply.Type = ""
	if raw, err := reply.Encode(); err != nil || string(raw) != strings.Replace(goodReply, "11Z", "11.000Z", 1) {
		t.Errorf("%v: %s", err, raw)
	}
	for name, message := range map[string]interface{ Encode() ([]byte, error) }{
		"no token":       aaep.ConfirmationReply{Decision: aaep.DecisionAccept, SubscriptionID: "sub_1"},
		"a maybe":        aaep.ConfirmationReply{Decision: "maybe", ReplyToken: "rpl_1", SubscriptionID: "sub_1"},
		"no answer":      aaep.ClarificationReply{ReplyToken: "rpl_1", SubscriptionID: "sub_1"},
		"no subscriber":  aaep.QuestionExtend{ReplyToken: "rpl_1"},
		"not quite text": aaep.ConfirmationReply{Decision: aaep.DecisionAccept, ReplyToken: "rpl_1", SubscriptionID: "sub_1", DecidedBy: "\xff"},
	} {
		if raw, err := message.Encode(); err == nil {
			t.Errorf("%s: %s", name, raw)
		}
	}
}

// TestTermsAnswered: terms are never more than what was asked (HS-27 to HS-32).
func TestTermsAnswered(t *testing.T) {
	t.Parallel()
	asked := aaep.Capabilities{
		MaxEventsPerSecond: 5, Languages: []string{"en", "yo-NG"}, SupportsConfirmationReply: new(true), SupportsClarificationReply: new(false),
		CoalesceBoundaries: []aaep.CoalesceHint{aaep.BoundarySentence}, SupportedConformanceLevels: []int{1, 2}, SupportedExtensions: []string{"urn:x"}, AcceptSignedManifestsOnly: new(true),
		EventFilters: &aaep.EventFilters{Include: []string{"aaep:agent.*"}, Exclude: []string{"aaep:agent.tool.*"}},
	}
	less := aaep.Capabilities{
		MaxEventsPerSecond: 5, Languages: []string{"EN"}, SupportsConfirmationReply: new(false), CoalesceBoundaries: asked.CoalesceBoundaries, SupportedConformanceLevels: []int{1},
		SupportedExtensions: []string{}, AcceptSignedManifestsOnly: new(true),
		EventFilters: &aaep.EventFilters{Include: []string{"https://aaep-protocol.org/types/agent.session.*"}, Exclude: []string{"aaep:agent.tool*"}},
	}
	for name, granted := range map[string]aaep.Capabilities{"nothing": {}, "the same": asked, "less": less} {
		if found := granted.Exceeds(asked); len(found) > 0 {
			t.Errorf("%s: found%s", name, list(found))
		}
	}
	for rule, spoil := range map[string]func(c *aaep.Capabilities){
		"HS-28 /honored_capabilities/max_events_per_second": func(c *aaep.Capabilities) { c.MaxEventsPerSecond = 6 },
		"HS-29 /honored_capabilities/languages":             func(c *aaep.Capabilities) { c.Languages = []string{"en", "en-US"} },
		"HS-30 /honored_capabilities/coalesce_boundaries":   func(c *aaep.Capabilities) { c.CoalesceBoundaries = []aaep.CoalesceHint{"none"} },
		"HS-31 /honored_capabilities/event_filters/include": func(c *aaep.Capabilities) {
			c.EventFilters = &aaep.EventFilters{Include: []string{"aaep:*"}, Exclude: []string{"*"}}
		},
		"HS-31 /honored_capabilities/event_filters/exclude": func(c *aaep.Capabilities) {
			c.EventFilters = &aaep.EventFilters{Exclude: []string{"aaep:agent.tool.invoked"}}
		},
		"HS-32 /honored_capabilities/supports_clarification_reply": func(c *aaep.Capabilities) { c.SupportsClarificationReply = new(true) },
		"HS-32 /honored_capabilities/accept_signed_manifests_only": func(c *aaep.Capabilities) { c.AcceptSignedManifestsOnly = new(false) },
		"HS-32 /honored_capabilities/supported_conformance_levels": func(c *aaep.Capabilities) { c.SupportedConformanceLevels = []int{3} },
		"HS-32 /honored_capabilities/supported_extensions":         func(c *aaep.Capabilities) { c.SupportedExtensions = []string{"urn:y"} },
	} {
		granted := less.Clone()
		spoil(&granted)
		found := granted.Exceeds(asked)
		if len(found) != 1 || found[0].Rule+" "+found[0].Path != rule {
			t.Errorf("want %s, found%s", rule, list(found))
		}
	}
	if found := (aaep.Capabilities{Languages: []string{"en-US"}, SupportsConfirmationReply: new(true)}).Exceeds(aaep.Capabilities{}); len(found) != 1 {
		t.Errorf("against the defaults: found%s", list(found))
	}
	request := aaep.SubscriptionRequest{Capabilities: asked}
	if found := (aaep.SubscriptionAccepted{SignedManifest: "a.b.c"}).Answers(request); len(found) > 0 {
		t.Errorf("signed: found%s", list(found))
	}
	if found := (aaep.SubscriptionAccepted{}).Answers(request); !names(found, asError, "HS-27") {
		t.Errorf("not signed: found%s", list(found))
	}
}
