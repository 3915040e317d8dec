package page_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/surface/page"
)

// plotted is the plot of a session with so many calls, a second apart: each third one fails, and the last one runs.
func plotted(t *testing.T, calls int, apart time.Duration) *page.Plot {
	t.Helper()
	var r page.Record
	seq := int64(0)
	at := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	add := func(p aaep.Payload) {
		t.Helper()
		seq++
		raw, err := aaep.Event{ID: fmt.Sprintf("evt_%d", seq), SessionID: "sess_1", Time: at, Producer: aaep.Producer{AgentID: "tidy"}, Payload: p}.Encode()
		if err != nil {
			t.Fatal(err)
		}
		r.Add(raw, seq)
	}
	took := int64(500)
	for n := range calls {
		call, status := fmt.Sprintf("call_%d", n), aaep.ToolSuccess
		if n%3 == 2 {
			status = aaep.ToolError
		}
		add(aaep.ToolInvoked{Tool: "files.scan", ToolCallID: call, SummaryNormal: "Looking."})
		if n < calls-1 {
			add(aaep.ToolCompleted{Tool: "files.scan", ToolCallID: call, Status: status, DurationMS: &took, SummaryNormal: "Found it."})
		}
		at = at.Add(apart)
	}
	return r.View(page.Session{Session: api.Session{ID: "sess_1"}}, page.Tree{}, page.Selection{}, time.UTC).Plot
}

// TestPlot: from 20 calls on there is a plot, in which each state has a row with its name and number, and each call a bar.
func TestPlot(t *testing.T) {
	t.Parallel()
	if p := plotted(t, 19, time.Second); p != nil {
		t.Errorf("19 calls: %+v", p)
	}
	p := plotted(t, 20, time.Second)
	if p == nil {
		t.Fatal("20 calls: none")
	}
	if p.Caption != "20 calls, from 09:00:00 to 09:00:19" {
		t.Errorf("found %q", p.Caption)
	}
	const says = "Time runs from left to right, and each state of the calls has a row. done: 13, failed: 6, running: 1. The table has each call."
	if p.Description != says {
		t.Errorf("found %q\nwant  %q", p.Description, says)
	}
	for i, want := range []page.PlotBar{
		{From: "2.00%", To: "4.53%", Text: "09:00:00, files.scan, done, 500 milliseconds"},
		{From: "12.11%", To: "14.63%", Text: "09:00:02, files.scan, failed, 500 milliseconds"},
		{From: "98.00%", To: "98.00%", Text: "09:00:19, files.scan, running"},
	} {
		if got := p.Rows[i].Bars[0]; got != want {
			t.Errorf("row %d: found %+v, want %+v", i, got, want)
		}
	}
	if p.Rows[1].Tone != "bad" || p.Rows[1].Line != "4.625rem" || p.Height != "9.75rem" {
		t.Errorf("found %+v, height %s", p.Rows[1], p.Height)
	}
}

// TestPlotOfAMoment: calls of one moment stand in one place, and those of several days have their day.
func TestPlotOfAMoment(t *testing.T) {
	t.Parallel()
	if bar := plotted(t, 20, 0).Rows[2].Bars[0]; bar.From != "2.00%" || bar.To != "98.00%" {
		t.Errorf("found %+v", bar)
	}
	if p := plotted(t, 20, 2*time.Hour); p.Begin != "1 March, 09:00" || p.End != "2 March, 23:00" {
		t.Errorf("found %s to %s", p.Begin, p.End)
	}
}
