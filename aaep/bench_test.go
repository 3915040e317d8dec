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
