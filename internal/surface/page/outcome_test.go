package page_test

import (
	"testing"
	"time"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/internal/surface/page"
)

// TestTail: the last events of a session say what it is at, or how it ended: by the turn's exact status where it is known.
func TestTail(t *testing.T) {
	t.Parallel()
	thinking := aaep.StateChanged{FromState: "idle", ToState: "thinking", SummaryNormal: "Working out what to do next."}
	half := 50.0
	progress := aaep.ProgressUpdated{Progress: aaep.Progress{Percent: &half}, SummaryNormal: "Half is done."}
	for name, tt := range map[string]struct {
		events  []aaep.Payload
		status  string
		step    string
		outcome page.Outcome
		tone    string
	}{
		"nothing yet":      {},
		"at work":          {events: []aaep.Payload{thinking}, step: "Working out what to do next."},
		"progress":         {events: []aaep.Payload{thinking, progress}, step: "50 percent done. Half is done."},
		"done":             {events: []aaep.Payload{thinking, aaep.SessionCompleted{SummaryNormal: "Done."}}, outcome: page.Done, tone: "good"},
		"done in part":     {events: []aaep.Payload{aaep.SessionCompleted{SummaryNormal: "Some."}}, status: "partial", outcome: page.Partly, tone: "bad"},
		"stopped":          {events: []aaep.Payload{aaep.SessionCancelled{SummaryNormal: "Stopped.", CancelledBy: "user"}}, outcome: page.Stopped},
		"no event of ours": {events: []aaep.Payload{nil}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var tail page.Tail
			for _, p := range tt.events {
				tail.Add(encode(t, p, tt.status))
			}
			if tail.Step != tt.step || tail.Outcome != tt.outcome || tail.Outcome.Tone() != tt.tone {
				t.Errorf("%+v, in the tone %q", tail, tail.Outcome.Tone())
			}
		})
	}
}

// encode is an event with a payload, and the status of its turn; a nil payload is no event.
func encode(t testing.TB, p aaep.Payload, status string) []byte {
	t.Helper()
	if p == nil {
		return []byte("{}")
	}
	e := aaep.Event{
		ID: "evt_1", SessionID: "sess_1", Time: time.Unix(0, 0).UTC(), Producer: aaep.Producer{AgentID: "tidy"}, Payload: p,
		Hints: &aaep.LocalizationHints{PrimaryLanguage: "en", TextDirection: aaep.DirectionLTR},
	}
	var err error
	if status != "" {
		if e, err = e.Extend(aaep.PrefixUTP, "status", status); err != nil {
			t.Fatal(err)
		}
	}
	raw, err := e.Encode()
	if err != nil {
		t.Fatal(err)
	}
	return raw
}
