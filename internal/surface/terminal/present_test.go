package terminal_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/internal/surface/terminal"
)

const confirmation = `"action":"Delete 2 files.","consequence":"They are gone for good.","reply_token":"rpl_1","timeout_seconds":300,` +
	`"default_decision":"reject","risk_level":"high","irreversible":true,"summary_normal":"Question 1. Delete 2 files.",` +
	`"summary_detailed":"Question 1. Delete 2 files. They are gone for good. The tool is files.delete."`

// decoded is an event of a kind with its members as JSON.
func decoded(t *testing.T, kind, id, members string) aaep.Event {
	t.Helper()
	event, err := aaep.DecodeEvent([]byte(`{"@context":"https://aaep-protocol.org/context/v1","aaep_version":"1.0.0","type":"aaep:agent.` + kind + `","event_id":"evt_` + id +
		`","session_id":"sess_1","timestamp":"2026-11-21T12:00:00.000Z","producer":{"agent_id":"x"},` + members + `}`))
	if err != nil {
		t.Fatal(err)
	}
	return event
}

// TestPresent gives a question as it is shown, without the words of a terminal; nothing else
// is a question.
func TestPresent(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	ask := decoded(t, "awaiting.confirmation", "1", confirmation)
	want := []string{
		"Question 0: Delete 2 files.", "What happens: They are gone for good.", "This cannot be undone.",
		"Answer until 12:05:00, in 5 minutes. Without an answer it will not be done.",
	}
	if got := terminal.Present(terminal.Settings{}, now, ask); !slices.Equal(got, want) {
		t.Errorf("a consent: %q", got)
	}
	words := decoded(t, "awaiting.clarification", "2", `"question":"Which one?","reply_token":"rpl_2","timeout_seconds":60,`+
		`"choices":[{"value":"a","label":"The first."}],"accepted_response_kinds":["multiple_choice"],"default_response":"a"`)
	want = []string{"Question 0: Which one?", "Type a for: The first.", "Answer until 12:01:00, in 1 minute. Without an answer it is: a."}
	if got := terminal.Present(terminal.Settings{Width: 200}, now, words); !slices.Equal(got, want) {
		t.Errorf("a clarification: %q", got)
	}
	if got := terminal.Present(terminal.Settings{}, now, decoded(t, "state.changed", "3", `"from_state":"idle","to_state":"thinking"`)); got != nil {
		t.Errorf("no question: %q", got)
	}
}

// TestWhyAddsFacts: what a question has said already is not said again where its producer
// gives what is more on its own.
func TestWhyAddsFacts(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	for extension, want := range map[string][]string{
		"": {"Why: Question 1. Delete 2 files. They are gone for good. The tool is files.delete.", "Risk: high."},
		`,"extensions":{"earshot":{"question":1,"tool":"files.delete","detail":"The tool is files.delete, with two paths."}}`: {
			"Why question 1: The tool is files.delete, with two paths.", "Risk: high.",
		},
	} {
		machine := terminal.New(terminal.Settings{Width: 200, Typed: true})
		machine.Event(now, decoded(t, "awaiting.confirmation", "1", confirmation+extension))
		var lines []string
		for _, effect := range machine.Line(now, "why") {
			if p, is := effect.(terminal.Print); is {
				lines = append(lines, p.Lines...)
			}
		}
		if !slices.Equal(lines, want) {
			t.Errorf("%s\ngot  %q\nwant %q", strings.TrimPrefix(extension, ","), lines, want)
		}
	}
}
