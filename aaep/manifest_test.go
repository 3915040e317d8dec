package aaep_test

import (
	"bytes"
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/aaep"
)

// manifestCases are cases of [TestRules] like those of ruleCases, for the manifest.
var manifestCases = []ruleCase{
	{"MAN-02", asError, aaep.TypeManifest, []edit{{}, {"@context": core, "extensions": absent{}}}, []edit{{"type": "aaep:manifest"}, {"type": absent{}}, {"@context": absent{}}, {"@context": 5}}},
	{"ENV-08", asError, aaep.TypeManifest, nil, []edit{{"@context": other}, {"@context": contexts(other, core)}}},
	{"MAN-03", asError, aaep.TypeManifest, []edit{{"conformance_levels_supported": []any{3}}, {"max_concurrent_subscriptions": 1}}, []edit{{"agent_id": absent{}}, {"agent_id": ""}, {"mood": 1}, {"path_prefix": "/aaep/v1"}, {"conformance_levels_supported": []any{4}}, {"languages_supported": []any{"en", "en"}}, {"default_verbosity": "epic"}, {"max_concurrent_subscriptions": 0}, {"extensions_supported": []any{"earshot"}}, {"contact": ""}}},
	{"VER-08", asError, aaep.TypeManifest, []edit{{"aaep_versions_supported": []any{"1.0.0", "0.1.0-draft"}}}, []edit{{"aaep_versions_supported": absent{}}, {"aaep_versions_supported": []any{}}, {"aaep_versions_supported": []any{"1.0"}}, {"aaep_versions_supported": "1.0.0"}}},
	{"MAN-04", asWarning, aaep.TypeManifest, []edit{{"transports_supported": []any{"sse", "websocket", "stdio-jsonrpc"}}, {"transports_supported": []any{"named-pipe", "grpc"}}}, []edit{{"transports_supported": []any{"pigeon"}}}},
	{"MAN-05", asWarning, aaep.TypeManifest, []edit{{"transports_supported": []any{"stdio-jsonrpc"}, "extensions": absent{}}, {"transports_supported": absent{}, "extensions": absent{}}, {"transports_supported": []any{"unix-socket"}, "extensions": edit{"earshot": edit{"framing": "length"}}}}, []edit{{"extensions": absent{}}, {"extensions": edit{"earshot": edit{}}}, {"transports_supported": []any{"unix-socket"}}}},
	{"MAN-05", asError, aaep.TypeManifest, nil, []edit{{"extensions": edit{"earshot": "x"}}}},
	{"MAN-09", asError, aaep.TypeManifest, []edit{{"max_concurrent_subscriptions": 16}}, nil},
	{"ENV-42", asError, aaep.TypeManifest, nil, []edit{{"@context": core}, {"extensions": edit{"earshot": edit{"path_prefix": "/"}}, "@context": contexts(core, other)}}}, // C-93
	{"EXT-10", asError, aaep.TypeManifest, nil, []edit{{"extensions": edit{"aaep": edit{"path_prefix": "/"}}}}},
	{"CAP-08", asError, aaep.TypeManifest, []edit{{"event_types_emitted": []any{"aaep:agent.*", "aaep:agent.state.changed"}}}, []edit{{"event_types_emitted": []any{"*.state"}}}},
	{"I18N-03", asError, aaep.TypeManifest, []edit{{"languages_supported": []any{"yo-NG"}}}, []edit{{"languages_supported": []any{"en_US"}}}},
	{"ENV-60", asError, aaep.TypeManifest, nil, []edit{{"Agent_ID": "x"}}},
}

// exampleManifest is the example as one line.
func exampleManifest(t *testing.T) string {
	t.Helper()
	line := jsontext.Value(aaep.Documents()[0].Example)
	if err := line.Compact(); err != nil {
		t.Fatal(err)
	}
	return string(line)
}

// TestManifestIsNoEvent: C-19.
func TestManifestIsNoEvent(t *testing.T) {
	t.Parallel()
	m := aaep.Documents()[0]
	for _, mode := range []aaep.Mode{aaep.ModeProducer, aaep.ModeConsumer} {
		if found := aaep.Validate([]byte(m.Example), mode); len(aaep.Errors(found)) == 0 {
			t.Errorf("a manifest passes as an event in mode %d", mode)
		}
	}
	if _, err := aaep.DecodeEvent([]byte(m.Example)); err == nil {
		t.Error("a manifest is decoded as an event")
	}
	if _, known := aaep.Lookup(aaep.TypeManifest); known {
		t.Error("a manifest is among the messages")
	}
}

// TestManifestRoundTrip: what is read is written as it was, also in its extensions
// and contexts.
func TestManifestRoundTrip(t *testing.T) {
	t.Parallel()
	for _, raw := range []string{
		exampleManifest(t),
		`{"@context":"https://aaep-protocol.org/context/v1","type":"aaep:producer.manifest","agent_id":"a","aaep_versions_supported":["1.0.0"]}`,
		`{"@context":["https://aaep-protocol.org/context/v1","https://example.org/medai"],"type":"aaep:producer.manifest","agent_id":"a","aaep_versions_supported":["1.0.0"],"extensions":{"medai":{"n":1.50}}}`,
	} {
		m, err := aaep.DecodeManifest([]byte(raw))
		if err != nil {
			t.Fatal(err)
		}
		written, err := m.Encode()
		if err != nil || string(written) != raw {
			t.Errorf("%v:\nwant %s\ngot  %s", err, raw, written)
		}
		again, err := aaep.DecodeManifest(written)
		if err != nil || !reflect.DeepEqual(m, again) {
			t.Errorf("%v:\n%+v\n%+v", err, m, again)
		}
	}
}

// TestManifestIsRead: what a reader must bear, and what it must not use.
func TestManifestIsRead(t *testing.T) {
	t.Parallel()
	example := exampleManifest(t)
	for _, edit := range [][2]string{
		{`"contact"`, `"mood":1,"contact"`},
		{`["sse"]`, `["pigeon"]`},
		{`"normal"`, `"epic"`},
		{`64`, `6.4e1`},
		{`{"earshot":`, `{"medai":{},"earshot":`},
	} {
		if _, err := aaep.DecodeManifest([]byte(strings.Replace(example, edit[0], edit[1], 1))); err != nil {
			t.Errorf("%v: %v", edit, err)
		}
	}
	for _, raw := range []string{
		``, `[]`, `{}`, aaep.Messages()[0].Example, example + example,
		strings.Replace(example, `"agent_id":"tidy"`, `"agent_id":""`, 1),
		strings.Replace(example, `"agent_id":"tidy"`, `"agent_id":"tidy","agent_id":"tide"`, 1),
		strings.Replace(example, `"agent_id":"tidy"`, `"Agent_ID":"tide","agent_id":"tidy"`, 1),
	} {
		m, err := aaep.DecodeManifest([]byte(raw))
		refused, ok := errors.AsType[*aaep.Error](err)
		if !ok || refused.Code != aaep.CodeBadMessage || !reflect.ValueOf(m).IsZero() {
			t.Errorf("from %s: got %+v, %v", raw, m, err)
		}
	}
}

// TestManifestRefusesToWrite: one that breaks a rule is not published; what is
// extended does not change the original.
func TestManifestRefusesToWrite(t *testing.T) {
	t.Parallel()
	base := aaep.Manifest{AgentID: "a", AAEPVersionsSupported: []string{aaep.Version}}
	extended, err := base.Extend(aaep.PrefixEarshot, aaep.ManifestPathPrefix, "/aaep/v1")
	if err != nil || base.Extensions != nil {
		t.Errorf("%v: %v", err, base.Extensions)
	}
	raw, err := extended.Encode()
	if err != nil || !strings.Contains(string(raw), aaep.ExtensionContext) || !strings.Contains(string(raw), `"extensions":{"earshot":{"path_prefix":"/aaep/v1"}}`) {
		t.Errorf("%v: %s", err, raw)
	}
	if _, err := base.Extend(aaep.PrefixEarshot, "x", func() {}); err == nil {
		t.Error("a function is written as JSON")
	}
	for rule, m := range map[string]aaep.Manifest{
		"VER-08": {AgentID: "a"},
		"MAN-03": {AAEPVersionsSupported: []string{aaep.Version}},
		"ENV-42": {AgentID: "a", AAEPVersionsSupported: []string{aaep.Version}, Extensions: map[string]jsontext.Value{"medai": jsontext.Value("{}")}},
	} {
		_, err := m.Encode()
		refused, ok := errors.AsType[*aaep.Error](err)
		if !ok || refused.Code != aaep.CodeBadEvent || !names(refused.Violations, asError, rule) {
			t.Errorf("%s: got %v", rule, err)
		}
	}
	broken := base
	broken.Contact = "\xff"
	if _, err := broken.Encode(); err == nil {
		t.Error("a text that is not UTF-8 is written")
	}
}

// FuzzManifest: no text makes the reader panic, and what it reads, and can be written,
// is written the same again.
func FuzzManifest(f *testing.F) {
	seeds(f)
	f.Add([]byte(aaep.Documents()[0].Example))
	f.Fuzz(func(t *testing.T, raw []byte) {
		m, err := aaep.DecodeManifest(raw)
		if err != nil {
			return
		}
		written, err := m.Encode()
		if err != nil {
			return // a reader bears more than a producer may publish
		}
		again, err := aaep.DecodeManifest(written)
		if err != nil {
			t.Fatal(err)
		}
		if twice, err := again.Encode(); err != nil || !bytes.Equal(written, twice) {
			t.Errorf("%v:\n%s\n%s", err, written, twice)
		}
	})
}
