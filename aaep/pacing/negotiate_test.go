package pacing_test

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/aaep/pacing"
)

func offer() pacing.Offer {
	return pacing.Offer{
		Producer: aaep.Producer{AgentID: "earshot"}, Languages: []string{"en", "zh-Hans", "pt-BR"}, Levels: []int{1, 2},
		Extensions: []string{aaep.ExtensionContext, "urn:one", "urn:two"}, Prefixes: map[string][]string{"urn:one": {"x"}, "urn:two": {"x", "y"}},
		ManifestURI: "https://example.org/m",
	}
}

func asking(c aaep.Capabilities) aaep.SubscriptionRequest {
	return aaep.SubscriptionRequest{AAEPVersion: aaep.Version, SubscriberID: "reader", Capabilities: c}
}

func earshot(object string) map[string]jsontext.Value {
	return map[string]jsontext.Value{aaep.PrefixEarshot: jsontext.Value(object)}
}

// TestHonored: what is asked, what is offered, and what is honoured of it.
func TestHonored(t *testing.T) {
	t.Parallel()
	limited := offer()
	limited.MaxRate = 10
	signing := offer()
	signing.SignedManifest = "a.b.c"
	filters := &aaep.EventFilters{Include: []string{"aaep:agent.tool.*"}, Exclude: []string{"aaep:agent.tool.invoked"}}
	cases := []struct {
		rule  string
		asked aaep.Capabilities
		offer pacing.Offer
		want  aaep.Capabilities
	}{
		{"HS-24", aaep.Capabilities{}, offer(), aaep.Capabilities{}},
		{"HS-28", aaep.Capabilities{MaxEventsPerSecond: 3}, limited, aaep.Capabilities{MaxEventsPerSecond: 3}},
		{"HS-33", aaep.Capabilities{MaxEventsPerSecond: 30}, limited, aaep.Capabilities{MaxEventsPerSecond: 10}},
		{"HS-33", aaep.Capabilities{}, limited, aaep.Capabilities{MaxEventsPerSecond: 10}},
		{"HS-28", aaep.Capabilities{MaxEventsPerSecond: 30}, offer(), aaep.Capabilities{MaxEventsPerSecond: 30}},
		{"HS-29", aaep.Capabilities{Languages: []string{"yo-NG", "EN-gb", "pt"}}, offer(), aaep.Capabilities{Languages: []string{"EN-gb", "pt"}}},
		{"HS-29", aaep.Capabilities{Languages: []string{"yo-NG"}}, offer(), aaep.Capabilities{}}, // C-51
		{"HS-30", aaep.Capabilities{CoalesceBoundaries: []aaep.CoalesceHint{aaep.BoundaryNone}}, offer(), aaep.Capabilities{CoalesceBoundaries: []aaep.CoalesceHint{aaep.BoundaryNone}}},
		{"HS-31", aaep.Capabilities{EventFilters: filters}, offer(), aaep.Capabilities{EventFilters: filters}},
		{"HS-32", aaep.Capabilities{SupportsConfirmationReply: new(false), SupportsClarificationReply: new(true)}, offer(), aaep.Capabilities{SupportsConfirmationReply: new(false), SupportsClarificationReply: new(true)}},
		{"HS-32", aaep.Capabilities{SupportedConformanceLevels: []int{3, 2}}, offer(), aaep.Capabilities{SupportedConformanceLevels: []int{2}}},
		{"HS-32", aaep.Capabilities{SupportedConformanceLevels: []int{3}}, offer(), aaep.Capabilities{}},
		{"HS-32", aaep.Capabilities{SupportedExtensions: []string{"urn:none", "urn:one"}}, offer(), aaep.Capabilities{SupportedExtensions: []string{"urn:one"}}},
		{"HS-27", aaep.Capabilities{AcceptSignedManifestsOnly: new(true)}, signing, aaep.Capabilities{AcceptSignedManifestsOnly: new(true)}},
		{"CAP-02", aaep.Capabilities{PreferredVerbosity: aaep.VerbosityTerse}, offer(), aaep.Capabilities{}}, // nothing acts on it
		{"CAP-12", aaep.Capabilities{CognitiveLoad: aaep.LoadLow, PaceWPM: 90}, offer(), aaep.Capabilities{CognitiveLoad: aaep.LoadLow, PaceWPM: 90}},
		{"CAP-14", aaep.Capabilities{Extensions: map[string]jsontext.Value{"haptics": jsontext.Value(`{}`)}}, offer(), aaep.Capabilities{}},
		{"CAP-14", aaep.Capabilities{Extensions: earshot(`{"mood":1}`)}, offer(), aaep.Capabilities{}},
		{"CAP-14", aaep.Capabilities{Extensions: earshot(`{"session_ids":["sess_1"],"observe_questions":true,"mood":1}`)}, offer(), aaep.Capabilities{Extensions: earshot(`{"session_ids":["sess_1"],"observe_questions":true}`)}},
		{"CAP-14", aaep.Capabilities{Extensions: earshot(`{"session_ids":[]}`)}, offer(), aaep.Capabilities{Extensions: earshot(`{"session_ids":[]}`)}},
	}
	for _, c := range cases {
		terms, accepted, rejected := pacing.Negotiate(asking(c.asked), c.offer, "sub_1")
		if rejected != nil {
			t.Errorf("%s: %+v is refused: %+v", c.rule, c.asked, rejected)
			continue
		}
		if !reflect.DeepEqual(accepted.HonoredCapabilities, c.want) || !reflect.DeepEqual(terms.Honored, c.want) {
			t.Errorf("%s:\nwant %+v\ngot  %+v", c.rule, c.want, accepted.HonoredCapabilities)
		}
		if _, err := accepted.Encode(); err != nil {
			t.Errorf("%s: %v", c.rule, err)
		}
		if accepted.SubscriptionID != "sub_1" || accepted.Producer.AgentID != "earshot" || accepted.AAEPVersion != aaep.Version || accepted.ManifestURI == "" { // HS-21 to HS-25
			t.Errorf("%s: got %+v", c.rule, accepted)
		}
		if asksSigned := c.asked.AcceptSignedManifestsOnly != nil; asksSigned != (accepted.SignedManifest != "") {
			t.Errorf("%s: signed manifest %q", c.rule, accepted.SignedManifest)
		}
		unkept := c.asked.PreferredVerbosity != "" || c.asked.Languages != nil && c.want.Languages == nil
		if unkept != (accepted.NegotiationNotes != "") {
			t.Errorf("%s: notes %q", c.rule, accepted.NegotiationNotes)
		}
	}
}

// TestUnkept: what is asked for and not acted on is named, and nothing else is.
func TestUnkept(t *testing.T) {
	t.Parallel()
	for want, asked := range map[string]aaep.Capabilities{
		"": {MaxEventsPerSecond: 5, Languages: []string{"en"}, CoalesceBoundaries: []aaep.CoalesceHint{aaep.BoundaryWord}, CognitiveLoad: aaep.LoadLow, PaceWPM: 90},
		"Not acted on: preferred_verbosity (every event has all lengths).": {PreferredVerbosity: aaep.VerbosityTerse},
	} {
		if _, accepted, _ := pacing.Negotiate(asking(asked), offer(), "sub_1"); accepted.NegotiationNotes != want {
			t.Errorf("notes %q, want %q", accepted.NegotiationNotes, want)
		}
	}
}

// TestRefused: each reason to refuse, and beside it what is just not one.
func TestRefused(t *testing.T) {
	t.Parallel()
	version := func(v string) aaep.SubscriptionRequest {
		return aaep.SubscriptionRequest{AAEPVersion: v, SubscriberID: "reader"}
	}
	cases := []struct {
		rule   string
		reason aaep.ReasonCode
		names  string
		passes aaep.SubscriptionRequest
		fails  aaep.SubscriptionRequest
	}{
		{"HS-44", aaep.ReasonVersionUnsupported, "99.99.99", version("1.9.0"), version("99.99.99")},
		{"HS-44", aaep.ReasonVersionUnsupported, "0.1.0-draft", version("1.0.0"), version("0.1.0-draft")},
		{"HS-44", aaep.ReasonVersionUnsupported, "1.0.0-rc.1", version("1.0.0"), version("1.0.0-rc.1")},
		{"HS-44", aaep.ReasonVersionUnsupported, "…", version("1.0.1"), version("1" + strings.Repeat("0", 5000) + ".0.0")},
		{"HS-45", aaep.ReasonManifestSignatureRequired, "signed", asking(aaep.Capabilities{AcceptSignedManifestsOnly: new(false)}), asking(aaep.Capabilities{AcceptSignedManifestsOnly: new(true)})},
		{"HS-46", aaep.ReasonCapabilitiesIncompatible, `"x"`, asking(aaep.Capabilities{SupportedExtensions: []string{"urn:two", aaep.ExtensionContext, "urn:three"}}), asking(aaep.Capabilities{SupportedExtensions: []string{"urn:one", "urn:two"}})},
		{"CAP-14", aaep.ReasonCapabilitiesIncompatible, "session_ids", asking(aaep.Capabilities{Extensions: earshot(`{"session_ids":["sess_1"]}`)}), asking(aaep.Capabilities{Extensions: earshot(`{"session_ids":["one"]}`)})},
		{"CAP-14", aaep.ReasonCapabilitiesIncompatible, "session_ids", asking(aaep.Capabilities{Extensions: earshot(`{}`)}), asking(aaep.Capabilities{Extensions: earshot(`{"session_ids":null}`)})},
		{"CAP-14", aaep.ReasonCapabilitiesIncompatible, "session_ids", asking(aaep.Capabilities{}), asking(aaep.Capabilities{Extensions: earshot(`{"session_ids":["sess_1",5]}`)})},
		{"CAP-14", aaep.ReasonCapabilitiesIncompatible, "observe_questions", asking(aaep.Capabilities{Extensions: earshot(`{"observe_questions":false}`)}), asking(aaep.Capabilities{Extensions: earshot(`{"observe_questions":"yes"}`)})},
		{"CAP-14", aaep.ReasonCapabilitiesIncompatible, "earshot", asking(aaep.Capabilities{}), asking(aaep.Capabilities{Extensions: earshot(`{"session_ids":["sess_1"],"session_ids":["sess_2"]}`)})},
	}
	for _, c := range cases {
		if _, _, rejected := pacing.Negotiate(c.passes, offer(), "sub_1"); rejected != nil {
			t.Errorf("%s: %+v is refused: %+v", c.rule, c.passes, rejected)
		}
		terms, accepted, rejected := pacing.Negotiate(c.fails, offer(), "sub_1")
		if rejected == nil || rejected.ReasonCode != c.reason || !strings.Contains(rejected.ReasonMessage, c.names) {
			t.Errorf("%s: want %s with %s, got %+v", c.rule, c.reason, c.names, rejected)
			continue
		}
		if !reflect.DeepEqual(terms, pacing.Terms{}) || !reflect.DeepEqual(accepted, aaep.SubscriptionAccepted{}) {
			t.Errorf("%s: refused, and yet %+v, %+v", c.rule, terms, accepted)
		}
		if _, err := rejected.Encode(); err != nil { // HS-40 to HS-43
			t.Errorf("%s: %v", c.rule, err)
		}
	}
}

// TestVersions: C-55, HS-22.
func TestVersions(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ spoken, asked, want string }{
		{"1.0.0", "1.0.0", "1.0.0"},
		{"1.0.0", "1.4.2", "1.0.0"},
		{"1.2.0", "1.0.0", "1.0.0"},
		{"1.0.0 1.1.0 1.3.0", "1.2.0", "1.1.0"},
		{"1.3.0 1.10.0", "1.9.0", "1.3.0"},
		{"1.0.0 2.0.0", "2.1.0", "2.0.0"},
		{"1.0.0 2.0.0-beta", "2.0.0-beta", "2.0.0-beta"},
		{"1.0.0 2.0.0-beta", "2.0.0", ""},
		{"1.0.0", "10.0.0", ""},
		{"1.0.0", "1.0.0-beta", ""},
		{"", "1.0.0", ""},
	} {
		o := offer()
		o.Versions = strings.Fields(c.spoken)
		terms, accepted, rejected := pacing.Negotiate(aaep.SubscriptionRequest{AAEPVersion: c.asked}, o, "sub_1")
		if terms.Version != c.want || accepted.AAEPVersion != c.want || (rejected == nil) == (c.want == "") {
			t.Errorf("%s of %s: want %q, got %q, %+v", c.asked, c.spoken, c.want, terms.Version, rejected)
		}
	}
}

// TestLanguages: C-100, HS-29, and I18N-09, I18N-10, I18N-11, I18N-12 and I18N-13.
func TestLanguages(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ offered, asked, want string }{
		{"en", "", "en"}, // the default is en-US (CAP-03)
		{"de", "", ""},
		{"en de", "de-AT fr en", "de"},
		{"en-US", "en", "en-US"},
		{"en-US", "en-GB", ""},
		{"en-US", "EN-us", "en-US"},
		{"zh-Hans", "zh-Hant", ""},
		{"zh", "zh-Hant", "zh"},
		{"zh", "zh-Hant-TW", "zh"},
		{"zh", "zh-TW", "zh"},
		{"zh-Hans zh", "zh-Hant", "zh"},
		{"zh-Hans", "zh-Hant-TW fr zh", "zh-Hans"},
		{"zh-Hant", "zh", "zh-Hant"},
		{"zh-Hant", "zh-TW", ""},
		{"sr", "sr-Latn", "sr"},
		{"az-Cyrl", "az-Latn", ""},
		{"zh-Hant", "zh-Hant-TW", "zh-Hant"},
		{"zh-Hant zh-Hans", "zh", "zh-Hans"},
		{"pt pt-BR", "pt-BR", "pt-BR"},
		{"eng", "en", ""},
		{"xzq", "xzq-x-a", "xzq"},
		{"", "en", ""},
	} {
		o := offer()
		o.Languages = strings.Fields(c.offered)
		asked := aaep.Capabilities{Languages: strings.Fields(c.asked)}
		if c.asked == "" {
			asked.Languages = nil
		}
		if terms, _, _ := pacing.Negotiate(asking(asked), o, "sub_1"); terms.Language != c.want {
			t.Errorf("%s of %s: want %q, got %q", c.asked, c.offered, c.want, terms.Language)
		}
	}
}

// TestRenegotiate: HS-60 to HS-63, C-56.
func TestRenegotiate(t *testing.T) {
	t.Parallel()
	limited := offer()
	limited.MaxRate = 10
	first, _, rejected := pacing.Negotiate(asking(aaep.Capabilities{
		MaxEventsPerSecond: 3, Languages: []string{"en", "pt"}, SupportsConfirmationReply: new(true), SupportedExtensions: []string{aaep.ExtensionContext},
		EventFilters: &aaep.EventFilters{Include: []string{"a"}, Exclude: []string{"b"}}, Extensions: earshot(`{"session_ids":["sess_1"]}`),
	}), limited, "sub_1")
	if rejected != nil {
		t.Fatal(rejected)
	}
	before := first.Honored.Clone()
	second, accepted, rejected := first.Renegotiate(aaep.Capabilities{
		MaxEventsPerSecond: 8, Languages: []string{"pt"}, EventFilters: &aaep.EventFilters{Exclude: []string{"c"}}, PreferredVerbosity: aaep.VerbosityDetailed,
	}, limited)
	want := aaep.Capabilities{
		MaxEventsPerSecond: 8, Languages: []string{"pt"}, SupportsConfirmationReply: new(true), SupportedExtensions: []string{aaep.ExtensionContext},
		EventFilters: &aaep.EventFilters{Exclude: []string{"c"}}, Extensions: earshot(`{"session_ids":["sess_1"]}`),
	}
	if rejected != nil || !reflect.DeepEqual(accepted.HonoredCapabilities, want) || accepted.SubscriptionID != "sub_1" || accepted.AAEPVersion != aaep.Version { // HS-62
		t.Errorf("want %+v\ngot  %+v, %+v", want, accepted, rejected)
	}
	if second.Hears("sess_2") || !second.Hears("sess_1") || second.Language != "pt-BR" || second.SubscriptionID != "sub_1" {
		t.Errorf("got %+v", second)
	}
	if !reflect.DeepEqual(first.Honored, before) {
		t.Error("the old terms have changed")
	}
	if third, _, _ := second.Renegotiate(aaep.Capabilities{Extensions: earshot(`{}`)}, limited); !third.Hears("sess_2") {
		t.Error("a replaced capability of an extension still holds")
	}
	if same, _, _ := second.Renegotiate(aaep.Capabilities{}, limited); !reflect.DeepEqual(same, second) {
		t.Errorf("nothing was asked, and yet\nwas %+v\nis  %+v", second, same)
	}
	if _, _, rejected := second.Renegotiate(aaep.Capabilities{AcceptSignedManifestsOnly: new(true)}, limited); rejected == nil || rejected.ReasonCode != aaep.ReasonManifestSignatureRequired { // HS-61
		t.Errorf("got %+v", rejected)
	}
}

// TestMalformed: a message that cannot be read is answered too (C-53), and nothing of
// what it says comes back.
func TestMalformed(t *testing.T) {
	t.Parallel()
	read := func(capabilities string) error {
		_, err := aaep.DecodeSubscriptionRequest([]byte(`{"type":"subscription.request","aaep_version":"1.0.0","subscriber_id":"secret"` + capabilities + `}`))
		return err
	}
	for _, c := range []struct {
		err    error
		reason aaep.ReasonCode
		names  string
	}{
		{read(`,"capabilities":{"pace_wpm":5}`), aaep.ReasonCapabilitiesIncompatible, "CAP-12"},
		{read(`,"capabilities":5`), aaep.ReasonCapabilitiesIncompatible, "HS-04"},
		{read(``), aaep.ReasonCapabilitiesIncompatible, "HS-04"},
		{read(`,"capabilities":{},"subscriber_id":"secret"`), aaep.ReasonUnknown, "ENV-60"},
		{read(`,`), aaep.ReasonUnknown, "ENV-02"},
		{errors.New("secret"), aaep.ReasonUnknown, "schema"},
	} {
		rejected := pacing.Malformed(c.err)
		if rejected.ReasonCode != c.reason || !strings.Contains(rejected.ReasonMessage, c.names) || strings.Contains(rejected.ReasonMessage, "secret") {
			t.Errorf("%v: want %s with %s, got %+v", c.err, c.reason, c.names, rejected)
		}
		if _, err := rejected.Encode(); err != nil {
			t.Error(err)
		}
	}
}
