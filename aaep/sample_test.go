package aaep_test

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/earshot-dev/earshot/aaep"
)

// samples holds a string for each pattern and format.
var samples = map[any]string{
	aaep.PatternEventID: "evt_1", aaep.PatternSessionID: "sess_1", aaep.PatternReplyToken: "rpl_1", aaep.PatternSubscriptionID: "sub_1",
	aaep.PatternCallID: "call_1", aaep.PatternOutputID: "out_1", aaep.PatternTool: "files.scan", aaep.PatternErrorCode: "TOOL_TIMEOUT",
	aaep.PatternReason: "user_stop", aaep.PatternContentType: "text/plain", aaep.PatternLanguage: "en", aaep.PatternScript: "Latn",
	aaep.PatternVersion: "1.0.0", aaep.PatternSignedManifest: "e30.e30.c2ln", aaep.FormatURI: "https://example.org/x", aaep.FormatTimestamp: "2026-05-24T14:22:11.342Z", aaep.FormatLanguage: "en",
}

// sample is a legal value of a row.
func sample(f aaep.Field) any {
	switch f.Kind {
	case aaep.KindString, aaep.KindScalar:
		return sampleText(f)
	case aaep.KindInteger, aaep.KindNumber:
		return f.Low
	case aaep.KindBoolean:
		return true
	case aaep.KindArray:
		return sampleItems(f, max(f.MinLen, 1))
	case aaep.KindObject:
		object := map[string]any{}
		for _, inner := range f.Members {
			object[inner.Name] = sample(inner)
		}
		return object
	case aaep.KindContext:
		return aaep.CoreContext
	default:
		panic("no sample of kind " + f.Kind)
	}
}

func sampleText(f aaep.Field) string {
	switch {
	case f.Enum != nil:
		return f.Enum[len(f.Enum)-1]
	case f.Pattern != "":
		return samples[f.Pattern]
	case f.Format != "":
		return samples[f.Format]
	case f.Name == "type":
		return aaep.TypeStateChanged
	default:
		return strings.Repeat("x", max(f.MinLen, 1))
	}
}

// sampleItems is a legal array of n items, all different.
func sampleItems(f aaep.Field, n int) []any {
	items := make([]any, n)
	for i := range items {
		item := sample(*f.Item)
		switch value := item.(type) {
		case string:
			switch {
			case f.Item.Enum != nil:
				item = f.Item.Enum[min(i, len(f.Item.Enum)-1)]
			case f.Item.Pattern == aaep.PatternLanguage:
				item = fmt.Sprintf("en-x-%d", i)
			default:
				item = fmt.Sprintf("%s%d", value, i)
			}
		case float64:
			item = value + float64(i)
		case map[string]any:
			value["value"] = fmt.Sprint(i)
		}
		items[i] = item
	}
	return items
}

// everything is all that the table describes, sent or fetched.
func everything() []aaep.Message { return slices.Concat(aaep.Messages(), aaep.Documents()) }

// judge judges a message, or a document, as a producer.
func judge(m aaep.Message, raw []byte) []aaep.Violation {
	if m.Type == aaep.TypeManifest {
		return aaep.ValidateManifest(raw, aaep.ModeProducer)
	}
	return aaep.Validate(raw, aaep.ModeProducer)
}

// whole is a message with every member.
func whole(t testing.TB, m aaep.Message) map[string]any {
	t.Helper()
	message := map[string]any{}
	if m.Event {
		for _, f := range aaep.Envelope() {
			message[f.Name] = sample(f)
		}
		message["urgency"] = string(m.Urgency)
		message["extensions"] = map[string]any{}
	}
	for _, f := range m.Fields {
		message[f.Name] = sample(f)
	}
	message["type"] = m.Type
	switch m.Type { // what spans fields
	case aaep.TypeOutputStreaming:
		message["coalesce_hint"] = "completion"
	case aaep.TypeAwaitingConfirmation:
		message["allowed_replies"] = []any{"accept", "reject"}
		message["timeout_seconds"] = 300
	case aaep.TypeAwaitingClarification:
		message["accepted_response_kinds"] = []any{"freetext", "multiple_choice"}
		message["timeout_seconds"] = 120
	case aaep.TypeManifest:
		message["@context"] = []any{aaep.CoreContext, aaep.ExtensionContext}
		message["transports_supported"] = []any{"sse"}
		message["extensions"] = map[string]any{"earshot": map[string]any{"path_prefix": "/aaep/v1"}}
	}
	return message
}

// bare is a message with its required members only.
func bare(t testing.TB, m aaep.Message) map[string]any {
	t.Helper()
	message := whole(t, m)
	fields := m.Fields
	if m.Event {
		fields = slices.Concat(aaep.Envelope(), fields)
	}
	for _, f := range fields {
		if !f.Required && (f.Name != "urgency" || m.Critical == "") {
			delete(message, f.Name)
		}
	}
	return message
}

// encode writes a message in the recommended order, so that only what a test is about
// is wrong with it.
func encode(t testing.TB, message map[string]any) []byte {
	t.Helper()
	rank := map[string]int{}
	for i, f := range aaep.Envelope() {
		rank[f.Name] = i - 100
	}
	rank["extensions"] = 1
	names := slices.SortedFunc(maps.Keys(message), func(a, b string) int {
		return cmp.Or(cmp.Compare(rank[a], rank[b]), strings.Compare(a, b))
	})
	members := make([]string, 0, len(names))
	for _, name := range names {
		raw, err := json.Marshal(map[string]any{name: message[name]}, json.Deterministic(true))
		if err != nil {
			t.Fatal(err)
		}
		members = append(members, string(raw[1:len(raw)-1]))
	}
	return []byte("{" + strings.Join(members, ",") + "}")
}
