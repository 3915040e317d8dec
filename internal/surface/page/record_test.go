package page_test

import (
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/surface/page"
)

// long is a session of n events: half of them are an answer that is written bit by bit, the others are calls and what is
// said between.
func long(t testing.TB, n int) [][]byte {
	t.Helper()
	events := make([][]byte, 0, n)
	add := func(p aaep.Payload) { events = append(events, encode(t, p, "")) }
	took := int64(1500)
	add(aaep.SessionStarted{SummaryNormal: "Looking for it."})
	for i := 0; len(events) < n; i++ {
		call := fmt.Sprintf("call_%d", i)
		add(aaep.ToolInvoked{Tool: "files.scan", ToolCallID: call, SummaryNormal: fmt.Sprintf("Looking through folder %d.", i), ArgsSummary: "root: “/home/ada”."})
		add(aaep.OutputStreaming{Chunk: "One sentence of an answer that is written bit by bit. ", OutputID: "out_1"})
		add(aaep.ToolCompleted{Tool: "files.scan", ToolCallID: call, Status: aaep.ToolSuccess, DurationMS: &took, SummaryNormal: "Found 2 files."})
		add(aaep.OutputStreaming{Chunk: "Another one. ", OutputID: "out_1"})
	}
	return events[:n]
}

// show reads a session through, and shows its newest lines.
func show(t testing.TB, events [][]byte) page.View {
	t.Helper()
	var r page.Record
	for i, raw := range events {
		r.Add(raw, int64(i+1))
	}
	v := r.View(page.Session{Session: api.Session{ID: "sess_1"}}, page.Tree{}, page.Selection{}, time.UTC)
	if len(v.Lines) != 200 || len(v.Outputs) != 1 {
		t.Fatalf("%d lines, %d outputs", len(v.Lines), len(v.Outputs))
	}
	return v
}

// TestRecordGrowsWithItsSession: a session that is four times as long takes about four times the memory to show, and not
// sixteen times, as it does where a growing text is copied for each of its pieces.
func TestRecordGrowsWithItsSession(t *testing.T) { //nolint:paralleltest // it counts what the whole program allocates
	allocated := func(events [][]byte) uint64 {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		show(t, events)
		runtime.ReadMemStats(&after)
		return after.TotalAlloc - before.TotalAlloc
	}
	events := long(t, 8000)
	show(t, events[:1000]) // what is made once
	short, all := allocated(events[:2000]), allocated(events)
	if all > 5*short {
		t.Errorf("2000 events take %d bytes, 8000 take %d", short, all)
	}
	if perEvent := all / 8000; perEvent > 12<<10 {
		t.Errorf("an event takes %d bytes", perEvent)
	}
}

func BenchmarkRecord(b *testing.B) {
	events := long(b, 5000)
	b.ReportAllocs()
	for b.Loop() {
		show(b, events)
	}
}
