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

// TestWhoDecidedInEachLanguage: who said yes, and where, is a sentence of the page, which it translates. The event's own summary in another
// language is for who has just answered: it does not say who that was.
func TestWhoDecidedInEachLanguage(t *testing.T) {
	for _, tag := range []string{"en", "es"} {
		var r page.Record
		for i, how := range []string{"accepted", "stopped"} {
			r.Add(resolved(t, tag, how), int64(i+1))
		}
		v := r.View(page.Session{Session: api.Session{ID: "sess_1"}}, page.Tree{}, page.Selection{}, time.UTC)
		if len(v.Calls) != 1 {
			t.Fatalf("%s: %d calls", tag, len(v.Calls))
		}
		const want = "Question 3 was accepted by ada on the page. Question 3 was stopped by ada on the page. Nothing was done."
		var tail page.Tail
		tail.Add(resolved(t, tag, "accepted"))
		for _, line := range []string{v.Lines[0].Text, tail.Step} {
			if line != "Question 3 was accepted by ada on the page." {
				t.Errorf("%s: a line says %q", tag, line)
			}
		}
		if got := v.Calls[0].Consent; got.Text != want || got.Language != "" {
			t.Errorf("%s: it says %q in the language %q, expected %q, for the page to translate", tag, got.Text, got.Language, want)
		}
	}
}

// resolved is an event by which question 3 has ended in such a way.
func resolved(t testing.TB, tag, how string) []byte {
	t.Helper()
	e := aaep.Event{
		ID: "evt_1", SessionID: "sess_1", Time: time.Unix(0, 0).UTC(), Producer: aaep.Producer{AgentID: "tidy"},
		Payload: aaep.StateChanged{FromState: aaep.StateIdle, ToState: aaep.StateThinking, SummaryNormal: "Anotado."},
		Hints:   &aaep.LocalizationHints{PrimaryLanguage: tag},
	}
	var err error
	for name, value := range map[string]any{
		"resolution": how, "question": 3, "by": "ada", "surface": "page", "tool_call_id": "call_1", "tool": "files.delete",
	} {
		if e, err = e.Extend(aaep.PrefixEarshot, name, value); err != nil {
			t.Fatal(err)
		}
	}
	if e, err = e.Extend(aaep.PrefixUTP, "code", "stopped"); err != nil {
		t.Fatal(err)
	}
	raw, err := e.Encode()
	if err != nil {
		t.Fatal(err)
	}
	return raw
}
