package aaep_test

import (
	"testing"
	"time"

	"github.com/earshot-dev/earshot/aaep"
)

// BenchmarkEncode measures writing one event, which includes holding it against the
// table.
func BenchmarkEncode(b *testing.B) {
	event := aaep.Event{
		ID: "evt_1", SessionID: "sess_1", Time: time.Now(), Producer: aaep.Producer{AgentID: "tidy"},
		Hints:   &aaep.LocalizationHints{PrimaryLanguage: "en"},
		Payload: aaep.ToolCompleted{Tool: "files.scan", Status: aaep.ToolSuccess, SummaryNormal: "Scanned 1,000 files.", ToolCallID: "call_1"},
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := event.Encode(); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkDecode measures reading one event.
func BenchmarkDecode(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := aaep.DecodeEvent([]byte(valid)); err != nil {
			b.Fatal(err)
		}
	}
}

// mix is the example of every message.
func mix(b *testing.B) [][]byte {
	b.Helper()
	var texts [][]byte
	for _, m := range aaep.Messages() {
		texts = append(texts, compact(b, m))
	}
	return texts
}

// BenchmarkValidate measures judging one message, from its bytes to the verdict.
func BenchmarkValidate(b *testing.B) {
	texts := mix(b)
	var v aaep.Validator
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		if found := v.Validate(texts[i%len(texts)], aaep.ModeProducer); len(found) > 0 {
			b.Fatal(found)
		}
	}
}

// BenchmarkRead measures the part of it that only reads.
func BenchmarkRead(b *testing.B) {
	texts := mix(b)
	var v aaep.Validator
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		if !v.Read(texts[i%len(texts)]).Readable() {
			b.Fatal("not read")
		}
	}
}

func BenchmarkContent(b *testing.B) {
	seed := uint64(0x1234567890abcdef)
	raw := []byte(`{"@context":"https://aaep-protocol.org/context/v1","aaep_version":"1.0.0","type":"aaep:agent.tool.invoked","event_id":"evt_019e59db64f8745303ab12cd","session_id":"sess_019e59db64f8745303ab12cd","timestamp":"2026-05-24T14:22:11.342Z","producer":{"agent_id":"earshot.tidy","agent_version":"1.0.0","agent_name":"tidy"},"verbosity":"normal","urgency":"normal","localization_hints":{"primary_language":"en","text_direction":"ltr"},"summary_terse":"Comparing.","summary_detailed":"Comparing the files. The agent tidy works in /home/anna for anna.","tool":"files.hash","summary_normal":"Comparing the files.","irreversible":false,"tool_call_id":"call_b00000001"}`)
	d := aaep.Read(raw)
	b.ReportAllocs()
	b.Run("content", func(b *testing.B) {
		for b.Loop() {
			d.Content(seed)
		}
	})
}
