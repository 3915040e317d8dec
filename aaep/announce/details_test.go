package announce_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/aaep/announce"
)

const confirmation = `"action":"Delete 2 files.","consequence":"They are gone for good.","reply_token":"rpl_1","timeout_seconds":300,` +
	`"default_decision":"reject","risk_level":"high","irreversible":true,"summary_normal":"Question 1. Delete 2 files.",` +
	`"summary_detailed":"Question 1. Delete 2 files. They are gone for good. The tool is files.delete."`

// decoded is an event of a kind with its members as JSON.
func decoded(t *testing.T, kind, id, members string) aaep.Event {
	t.Helper()
	e, err := aaep.DecodeEvent([]byte(`{"@context":"https://aaep-protocol.org/context/v1","aaep_version":"1.0.0","type":"aaep:agent.` + kind + `","event_id":"evt_` + id +
		`","session_id":"sess_1","timestamp":"2026-11-21T12:00:00.000Z","producer":{"agent_id":"x"},` + members + `}`))
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// TestQuestionInFull gives a question line by line, and in one line; nothing else is a question.
func TestQuestionInFull(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	values := `,"extensions":{"earshot":{"question":1,"session_name":"tidy, photos","request":"Tidy up.","items":2,"bytes":12,"hint":"Or not.","arguments":{"values":[` +
		`{"path":"/to","kind":"text","value":"x\u202ey"},{"path":"/key","kind":"secret"},{"path":"/n","kind":"literal","value":"3"},{"path":"/t","kind":"masked"},` +
		`{"path":"/w","kind":"text","value":"one","more":4},{"path":"/o","kind":"empty","value":"{}"}],"said":["/n"],"left":7,"size":1,"sha256":"aa"}}}`
	for _, tt := range []struct {
		name, kind, members, line string
		want                      []string
	}{
		{
			"a consent", "awaiting.confirmation", confirmation, "A question: Delete 2 files. Answer by 12:05. This cannot be undone.",
			[]string{
				"A question: Delete 2 files.", "What happens: They are gone for good.", "This cannot be undone.",
				"Answer by 12:05, in 5 minutes. Without an answer it is not done.",
			},
		},
		{
			"values", "awaiting.confirmation", confirmation + values, "Question 1, tidy, photos: Delete 2 files. Answer by 12:05. This cannot be undone.",
			[]string{
				"Question 1, tidy, photos: Delete 2 files.", "More values: to: “x<U+202E>y”", "  key: a secret, which is not shown",
				"  one value is not shown, because its name says that it is a credential", "  w: “one” and 4 more characters", "  o: an empty object",
				"7 values are not shown here in full.", "What happens: They are gone for good.", "How many: 2 items, 12 bytes.", "This cannot be undone.",
				"Request: Tidy up.", "Hint: Or not.", "Answer by 12:05, in 5 minutes. Without an answer it is not done.",
			},
		},
		{
			"a tool of the agent's own", "awaiting.confirmation", strings.Replace(confirmation, "They are gone for good.", "claude does this itself; Earshot can neither stop nor undo it.", 1) +
				`,"extensions":{"earshot":{"question":1,"own_tool":true,"enforcement":"advisory"}}`,
			"Question 1: Delete 2 files. Answer by 12:05. Earshot cannot undo it.",
			[]string{
				"Question 1: Delete 2 files.", "What happens: claude does this itself; Earshot can neither stop nor undo it.",
				"Answer by 12:05, in 5 minutes. Without an answer it is not done.",
			},
		},
		{
			"a clarification", "awaiting.clarification", `"question":"Which one?","reply_token":"rpl_2","timeout_seconds":60,` +
				`"choices":[{"value":"a","label":"The first."}],"accepted_response_kinds":["multiple_choice"],"default_response":"a"`,
			"A question: Which one? Answer by 12:01:00. Answers: a.",
			[]string{"A question: Which one?", "Answer by 12:01:00, in 1 minute. Without an answer it is: a."},
		},
	} {
		q, asks := announce.ReadQuestion(decoded(t, tt.kind, "1", tt.members))
		if got := q.Lines(now, time.UTC); !asks || !slices.Equal(got, tt.want) {
			t.Errorf("%s: %q", tt.name, got)
		}
		if got := q.Line(now, time.UTC); got != tt.line {
			t.Errorf("%s in one line: %q", tt.name, got)
		}
	}
	if _, asks := announce.ReadQuestion(decoded(t, "state.changed", "3", `"from_state":"idle","to_state":"thinking"`)); asks {
		t.Error("a state asks nothing")
	}
}

// TestWhyAddsFacts: what a question has said already is not said again where its producer
// gives what is more on its own.
func TestWhyAddsFacts(t *testing.T) {
	t.Parallel()
	for extension, want := range map[string][]string{
		"": {"Why: Question 1. Delete 2 files. They are gone for good. The tool is files.delete.", "Risk: high."},
		`,"extensions":{"earshot":{"question":1,"tool":"files.delete","detail":"The tool is files.delete, with two paths."}}`: {
			"Why question 1: The tool is files.delete, with two paths.", "Risk: high.",
		},
	} {
		q, _ := announce.ReadQuestion(decoded(t, "awaiting.confirmation", "1", confirmation+extension))
		if got := q.Why(); !slices.Equal(got, want) {
			t.Errorf("%s\ngot  %q\nwant %q", strings.TrimPrefix(extension, ","), got, want)
		}
	}
}

// TestSameQuestion: one that comes again with more time is the same, one about anything else is not.
func TestSameQuestion(t *testing.T) {
	t.Parallel()
	read := func(members string) announce.Question {
		q, _ := announce.ReadQuestion(decoded(t, "awaiting.confirmation", "1", members))
		return q
	}
	first := read(confirmation)
	later := strings.NewReplacer("rpl_1", "rpl_2", ":300", ":600", "The tool is", "More time. The tool is").Replace(confirmation)
	if !first.SameAs(read(later)) {
		t.Error("more time makes another question")
	}
	for _, other := range []string{"Delete 3 files", "are gone", `"high"`} {
		changed := strings.Replace(confirmation, other, map[string]string{"Delete 3 files": "", "are gone": "stay", `"high"`: `"low"`}[other], 1)
		if other == "Delete 3 files" {
			changed = strings.Replace(confirmation, "Delete 2 files.", "Delete 3 files.", 1)
		}
		if first.SameAs(read(changed)) {
			t.Errorf("%s is taken for the same", other)
		}
	}
}

// TestEntries: a line of a record says what held and still holds: who answered, and nothing that can no longer be done.
func TestEntries(t *testing.T) {
	t.Parallel()
	for members, want := range map[string]string{
		`"summary_normal":"Recorded: yes. It starts in 3 seconds; say undo.","extensions":{"earshot":{"question":3,"resolution":"accepted","by":"ada","surface":"page","starts_at":"2026-11-21T12:00:03Z"}}`: "Question 3 was accepted by ada on the page.",
		`"summary_normal":"More time.","extensions":{"earshot":{"question":3,"resolution":"extended"}}`:                                                                                                      "More time.",
		`"summary_normal":"Noch Zeit.","localization_hints":{"primary_language":"de","text_direction":"ltr"},"extensions":{"earshot":{"question":3,"resolution":"accepted"}}`:                                "Noch Zeit.",
		`"summary_normal":"Thinking."`: "Thinking.",
	} {
		if got := announce.Entry(decoded(t, "state.changed", "1", `"from_state":"idle","to_state":"thinking",`+members)); got != want {
			t.Errorf("%s: %q, want %q", members, got, want)
		}
	}
	if got := announce.Entry(decoded(t, "awaiting.confirmation", "1", confirmation)); got != "A question: Delete 2 files. They are gone for good." {
		t.Errorf("a question: %q", got)
	}
	if got := announce.Entry(decoded(t, "progress.updated", "1", `"progress":{"percent":40},"summary_normal":"Deleting."`)); got != "" {
		t.Errorf("progress is not an entry: %q", got)
	}
	progress := aaep.ProgressUpdated{Progress: aaep.Progress{Percent: new(40.0)}, SummaryNormal: "Deleting."}
	if got := announce.Progress(progress); got != "40 percent done. Deleting." {
		t.Errorf("progress: %q", got)
	}
}
