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
