package announce_test

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/aaep/announce"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// event makes one event of sess_1, so many seconds after noon.
func event(id int, p aaep.Payload, ours string) aaep.Event {
	e := aaep.Event{ID: "evt_" + strconv.Itoa(id), SessionID: "sess_1", Time: noon.Add(time.Duration(id) * time.Second), Payload: p}
	if ours != "" {
		e.Extensions = map[string]jsontext.Value{aaep.PrefixEarshot: jsontext.Value(ours)}
	}
	return e
}

// hear gives an event to an announcer at its own time.
func hear(a *announce.Announcer, e aaep.Event, seq int64) []announce.Announcement {
	return a.Event(e.Time, e, seq)
}

func texts(list []announce.Announcement) string {
	var out []string
	for _, n := range list {
		out = append(out, string(n.Priority)+": "+n.Text)
	}
	return strings.Join(out, "\n")
}

// TestEvents says what one event alone sounds like.
func TestEvents(t *testing.T) {
	t.Parallel()
	confirm := aaep.AwaitingConfirmation{Action: "Send the letter", TimeoutSeconds: 60, DefaultDecision: aaep.DecisionReject}
	known := aaep.AwaitingConfirmation{
		Action: "Let claude use its own tool Bash.", Consequence: "claude does this itself; Earshot can neither stop nor undo it.", TimeoutSeconds: 600,
		Reversibility: aaep.Irreversible, Irreversible: true,
	}
	french := func(e aaep.Event) aaep.Event {
		e.Hints = &aaep.LocalizationHints{PrimaryLanguage: "fr"}
		return e
	}
	urgent := func(e aaep.Event) aaep.Event {
		e.Urgency = aaep.UrgencyCritical
		return e
	}
	tests := []struct {
		name  string
		wish  announce.Preferences
		event aaep.Event
		want  string
	}{
		{"a question without a number", announce.Preferences{Zone: time.UTC}, event(0, confirm, ""), "assertive: A question: Send the letter. Answer by 12:01:00."},
		{"a deadline on another day", announce.Preferences{}, event(0, aaep.AwaitingConfirmation{Action: "Send it.", TimeoutSeconds: 86400}, `{"question":3}`), "assertive: Question 3: Send it. Answer by 12:00 UTC on 2 March."},
		{"a size that was said", announce.Preferences{Zone: time.UTC}, event(0, aaep.AwaitingConfirmation{Action: "Delete 35.1 kB.", TimeoutSeconds: 600}, `{"question":3,"bytes":35108}`), "assertive: Question 3: Delete 35.1 kB. Answer by 12:10."},
		{"facts behind several sentences", announce.Preferences{Zone: time.UTC}, event(0, aaep.AwaitingConfirmation{Action: "Run x. It says of itself: “ok.”", Irreversible: true, TimeoutSeconds: 600}, `{"question":3}`), "assertive: Question 3: Run x. It says of itself: “ok.” Cannot be undone. Answer by 12:10."},
		{"the agent's own tool", announce.Preferences{Zone: time.UTC}, event(0, known, `{"question":3,"own_tool":true}`), "assertive: Question 3: Let claude use its own tool Bash. Earshot cannot undo it. Answer by 12:10."},
		{"the agent's own tool at length", announce.Preferences{Verbosity: aaep.VerbosityDetailed, Zone: time.UTC}, event(0, known, `{"question":3,"own_tool":true}`), "assertive: Question 3: Let claude use its own tool Bash. claude does this itself; Earshot can neither stop nor undo it. Answer by 12:10."},
		{"a yes that was not used", announce.Preferences{}, event(0, aaep.StateChanged{SummaryNormal: "Your yes to question 3 was not used: claude was no longer waiting for it."}, `{"question":3,"resolution":"withdrawn","by":"ada","changed":"gone"}`), "assertive: Your yes to question 3 was not used: claude was no longer waiting for it."},
		{"a question in another language", announce.Preferences{}, french(event(0, aaep.AwaitingConfirmation{Action: "Envoyer.", SummaryTerse: "Question 3 : envoyer ?", TimeoutSeconds: 60}, `{"question":3}`)), "assertive: Question 3 : envoyer ?"},
		{"an answer in another language", announce.Preferences{}, french(event(0, aaep.StateChanged{SummaryNormal: "Enregistré : oui."}, `{"question":3,"resolution":"accepted","by":"ada"}`)), "assertive: Enregistré : oui."},
		{"a clarification at length", announce.Preferences{Verbosity: aaep.VerbosityDetailed, Zone: time.UTC}, event(0, aaep.AwaitingClarification{
			Question: "Which one?", Context: "There are two.", TimeoutSeconds: 600, Choices: []aaep.Choice{{Value: "a", Label: "The first"}, {Value: "b", Label: "The second"}},
		}, `{"question":3}`), "assertive: Question 3: Which one? There are two. 1: The first. 2: The second. Answer by 12:10."},
		{"rejected on the page", announce.Preferences{}, event(0, aaep.StateChanged{}, `{"question":3,"resolution":"rejected","by":"ada","surface":"page"}`), "assertive: Question 3 was rejected by ada on the page. It is not done."},
		{"answered on a strange surface", announce.Preferences{}, event(0, aaep.StateChanged{}, `{"question":3,"resolution":"answered","by":"ada","surface":"watch"}`), "assertive: Question 3 was answered by ada at watch."},
		{"a name that would be a sentence", announce.Preferences{}, event(0, aaep.StateChanged{}, `{"question":3,"resolution":"accepted","by":"ada. It can be undone"}`), "assertive: Question 3 was accepted by “ada. It can be undone”."},
		{"an unknown resolution", announce.Preferences{}, event(0, aaep.StateChanged{}, `{"question":3,"resolution":"evaporated"}`), "assertive: Question 3 has ended."},
		{"extended says nothing yet", announce.Preferences{}, event(0, aaep.StateChanged{SummaryNormal: "More time."}, `{"question":3,"resolution":"extended"}`), ""},
		{"a standard state", announce.Preferences{}, event(0, aaep.StateChanged{ToState: aaep.StateThinking, SummaryNormal: "Thinking."}, ""), ""},
		{"another state (STATE-08)", announce.Preferences{}, event(0, aaep.StateChanged{ToState: "warming_up"}, ""), "polite: Now in the state: warming up."},
		{"a critical state", announce.Preferences{}, urgent(event(0, aaep.StateChanged{ToState: aaep.StateDeciding, SummaryNormal: "The ledger is old."}, "")), "assertive: The ledger is old."},
		{"critical without a word", announce.Preferences{}, urgent(event(0, aaep.OutputStreaming{Chunk: "x"}, "")), "assertive: Something needs your attention, but does not say what."},
		{"no payload at all", announce.Preferences{}, event(0, nil, ""), ""},
		{"a failed tool without words", announce.Preferences{}, event(0, aaep.ToolCompleted{Tool: "mail.send", Status: aaep.ToolError, ErrorMessage: "no route"}, ""), "assertive: The tool mail.send did not succeed. No route."},
		{"a timeout", announce.Preferences{}, event(0, aaep.ToolCompleted{Tool: "x", Status: aaep.ToolTimeout, SummaryNormal: "x took too long"}, ""), "assertive: x took too long."},
		{"an error says its hint (ERR-10)", announce.Preferences{}, event(0, aaep.SessionErrored{SummaryNormal: "It failed.", RemediationHint: "Log in again."}, ""), "assertive: It failed. Log in again."},
		{"a hand-off", announce.Preferences{}, event(0, aaep.HandoffRequested{Reason: "it is beyond me"}, ""), "assertive: The agent wants someone else to take over. It is beyond me."},
		{"an unknown type with words (EXT-14)", announce.Preferences{}, event(0, aaep.Other{Type: "acme:ping", Members: map[string]jsontext.Value{"summary_normal": jsontext.Value(`"Ping."`)}}, ""), "polite: Ping."},
		{"an unknown type without (ENV-17)", announce.Preferences{}, event(0, aaep.Other{Type: "acme:ping"}, ""), "polite: An event of another kind: “acme:ping”."},
		{"hidden characters are named", announce.Preferences{}, event(0, aaep.ToolInvoked{Tool: "x", SummaryNormal: "Look\u202e at\u200b \u2068this"}, ""), "polite: Look<U+202E> at<U+200B> <U+2068>this."},
		{"line ends are blanks", announce.Preferences{}, event(0, aaep.ToolInvoked{Tool: "x", SummaryNormal: " a\n\tb\r\n"}, ""), "polite: a b."},
		{"an empty output", announce.Preferences{}, event(0, aaep.OutputStreaming{Chunk: " \n", Complete: true}, ""), ""},
		{"an output of another kind", announce.Preferences{}, event(0, aaep.OutputStreaming{Chunk: "<p>", Complete: true, ContentType: "text/html"}, ""), "polite: The answer is ready."},
		{"an output whose start was missed", announce.Preferences{}, event(0, aaep.OutputStreaming{Chunk: "c", Position: 9, Complete: true}, ""), "polite: The answer is ready."},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := texts(hear(announce.New(tt.wish), tt.event, 1)); got != tt.want {
				t.Errorf("got  %q\nwant %q", got, tt.want)
			}
		})
	}
}

// TestLanguages: an event is said in the wanted language where it has it (PAY-01, C-102).
func TestLanguages(t *testing.T) {
	t.Parallel()
	e := event(1, aaep.ToolInvoked{Tool: "x", SummaryNormal: "Looking."}, "")
	e.Hints = &aaep.LocalizationHints{PrimaryLanguage: "en-US"}
	e.Variants = map[string]string{"summary_normal_yo": "Ó ń wò", "summary_normal_pt_br": "Olhando"}
	for want, said := range map[string]string{"": "en-US Looking.", "en-GB": "en-US Looking.", "yo-NG": "yo Ó ń wò", "pt-BR": "pt-BR Olhando", "de": "en-US Looking."} {
		got := hear(announce.New(announce.Preferences{Language: want}), e, 1)
		if len(got) != 1 || got[0].Language+" "+got[0].Text != said {
			t.Errorf("%q: %+v, want %s", want, got, said)
		}
	}
}

// TestProgress: every ten percent, not within five seconds, never the same twice.
func TestProgress(t *testing.T) {
	t.Parallel()
	a := announce.New(announce.Preferences{})
	percent := func(v float64) aaep.Payload { return aaep.ProgressUpdated{Progress: aaep.Progress{Percent: &v}} }
	step := func(n, of int64) aaep.Payload {
		return aaep.ProgressUpdated{Progress: aaep.Progress{Step: &n, TotalSteps: &of, Description: "Copying."}}
	}
	for _, tt := range []struct {
		at   int
		p    aaep.Payload
		want string
	}{
		{1, percent(3), ""},
		{2, percent(12.9), "polite: 12 percent done."},
		{3, percent(25), ""}, // too soon
		{8, percent(25), "polite: 25 percent done."},
		{14, percent(29), ""}, // not ten more
		{20, percent(25), ""},
		{26, percent(math.NaN()), ""},
		{32, percent(99.99), "polite: 99 percent done."},
		{40, aaep.ToolInvoked{Tool: "x", SummaryNormal: "Next."}, "polite: Next."},
		{41, step(1, 12), ""},
		{42, step(4, 12), "polite: Step 4 of 12. Copying."},
		{50, step(5, 12), "polite: Step 5 of 12. Copying."},
		{51, aaep.ToolCompleted{Tool: "x", Status: aaep.ToolSuccess, SummaryNormal: "Copied."}, "polite: Copied."},
		{60, step(1, 12), ""},
	} {
		if got := texts(hear(a, event(tt.at, tt.p, ""), int64(tt.at))); got != tt.want {
			t.Errorf("second %d: got %q, want %q", tt.at, got, tt.want)
		}
	}
}

// TestOnce: an event that comes again says nothing (SEQ-45), and neither does another
// one with the same words a moment later, unless it is urgent.
func TestOnce(t *testing.T) {
	t.Parallel()
	a := announce.New(announce.Preferences{})
	say := func(id, second int, urgency aaep.Urgency) string {
		e := event(id, aaep.Other{Type: "acme:x", Members: map[string]jsontext.Value{"summary_normal": jsontext.Value(`"Hello."`)}}, "")
		e.Time, e.Urgency = noon.Add(time.Duration(second)*time.Second), urgency
		return texts(hear(a, e, int64(id)))
	}
	for i, step := range []struct{ got, want string }{
		{say(1, 0, aaep.UrgencyNormal), "polite: Hello."},
		{say(1, 0, aaep.UrgencyNormal), ""},
		{say(2, 3, aaep.UrgencyNormal), ""},
		{say(3, 3, aaep.UrgencyCritical), "assertive: Hello."},
		{say(4, 9, aaep.UrgencyNormal), "polite: Hello."},
	} {
		if step.got != step.want {
			t.Errorf("step %d: got %q, want %q", i, step.got, step.want)
		}
	}
}

// TestOutput: its arrival is told once, in the number of its lines, and never itself.
func TestOutput(t *testing.T) {
	t.Parallel()
	a := announce.New(announce.Preferences{})
	got := texts(hear(a, event(1, aaep.OutputStreaming{Chunk: "One.\nTw", OutputID: "a"}, ""), 1)) +
		texts(hear(a, event(2, aaep.OutputStreaming{Chunk: "o.\n\nThree.", Position: 7, OutputID: "a"}, ""), 2))
	if got != "" {
		t.Errorf("said before it was complete: %q", got)
	}
	if got = texts(hear(a, event(3, aaep.OutputStreaming{Position: 17, Complete: true, OutputID: "a"}, ""), 3)); got != "polite: The answer is ready: 3 lines." {
		t.Error(got)
	}
	hear(a, event(4, aaep.OutputStreaming{Chunk: "Half", OutputID: "b"}, ""), 4)
	hear(a, event(5, aaep.AwaitingConfirmation{Action: "Go on?", TimeoutSeconds: 60}, `{"question":7}`), 5)
	want := "polite: A part of an answer is there: 1 line.\nassertive: Stopped. Question 7 is no longer asked."
	if got = texts(hear(a, event(6, aaep.SessionCancelled{SummaryNormal: "Stopped."}, ""), 6)); got != want {
		t.Error(got)
	}
	if !a.Wake().IsZero() {
		t.Error("warns of a question whose session has ended")
	}
}

// TestRepeatAndRecap: what was said can be had again, under ids of its own.
func TestRepeatAndRecap(t *testing.T) {
	t.Parallel()
	a := announce.New(announce.Preferences{Zone: time.UTC})
	if _, ok := a.Repeat(); ok || len(a.Recap(3)) != 0 {
		t.Error("repeats what was never said")
	}
	all := play(a, capture(t, "two_questions_at_once")[:7])
	x, _ := a.Repeat()
	y, ok := a.Repeat()
	if !ok || x.Text != all[len(all)-1].Text || x.ID == y.ID || x.ID == all[len(all)-1].ID {
		t.Errorf("%+v\n%+v", x, y)
	}
	want := `polite: Question 2 was accepted by anna in the terminal.
polite: Waiting for your answer to question 1.
polite: Question 1, tidy, home/anna: Delete 2 duplicate files in /home/anna, 12.3 MB, cannot be undone. ` +
		`This is for the request “find duplicates in /home/anna”. Answer by 12:05.`
	recap := a.Recap(2)
	if got := texts(recap); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	for _, n := range recap {
		if n.Kind != announce.KindRecap {
			t.Errorf("%+v", n)
		}
	}
	if got := len(a.Recap(math.MaxInt)); got != len(all) {
		t.Errorf("%d in all, want %d", got, len(all))
	}
	if got := len(a.Recap(-1)); got != 1 {
		t.Errorf("%d open, want 1", got)
	}
}

// TestRecapOffersNoUndo: what could be taken back when it was said is retold without the offer, which is over by then.
func TestRecapOffersNoUndo(t *testing.T) {
	t.Parallel()
	a := announce.New(announce.Preferences{Zone: time.UTC, Surface: announce.Surface{Controls: announce.ControlsButtons}})
	accepted := event(0, aaep.StateChanged{}, `{"question":3,"resolution":"accepted","by":"ada","starts_at":"2026-03-01T12:00:09Z"}`)
	const offer = "assertive: Question 3 was accepted by ada. Starts in 9 seconds. Undo takes it back."
	if got := texts(hear(a, accepted, 1)); got != offer {
		t.Errorf("it says %q", got)
	}
	if got := texts(a.Recap(1)); got != "polite: Question 3 was accepted by ada." {
		t.Errorf("the recap says %q", got)
	}
}

// TestLongText: what is too long is cut at a word, with its isolates closed.
func TestLongText(t *testing.T) {
	t.Parallel()
	long := "Found \u2068" + strings.Repeat("a very long name ", 500) + "\u2069."
	got := hear(announce.New(announce.Preferences{}), event(1, aaep.ToolCompleted{Tool: "x", Status: aaep.ToolSuccess, SummaryNormal: long}, ""), 1)
	if len(got) != 1 || len([]rune(got[0].Text)) > announce.MaxText+2 || !strings.HasSuffix(got[0].Text, " long…\u2069") {
		t.Errorf("%+v", got)
	}
}

// TestLongToolIsTold: a tool that only looks says its end when it took its time.
func TestLongToolIsTold(t *testing.T) {
	t.Parallel()
	for took, want := range map[int64]string{20: "", 5000: "polite: Found 35 files."} {
		e := event(1, aaep.ToolCompleted{Tool: "x", Status: aaep.ToolSuccess, SummaryNormal: "Found 35 files.", DurationMS: new(took)}, "")
		e.Urgency = aaep.UrgencyBackground
		if got := texts(hear(announce.New(announce.Preferences{}), e, 1)); got != want {
			t.Errorf("%d ms: %q", took, got)
		}
	}
}

// TestAnsweredTwice: a question that is asked and answered again within seconds has its answer
// confirmed again. One's own yes interrupts while it can be taken back, one's own no does not.
func TestAnsweredTwice(t *testing.T) {
	t.Parallel()
	a := announce.New(announce.Preferences{Zone: time.UTC, Person: "ada", Surface: announce.Surface{Name: "page", Controls: announce.ControlsButtons}})
	critical := func(n int, ours string) aaep.Event {
		e := event(n, aaep.StateChanged{}, ours)
		e.Urgency = aaep.UrgencyCritical
		return e
	}
	const accepted = `{"question":3,"resolution":"accepted","by":"ada","starts_at":"2026-03-01T12:00:09Z"}`
	const first, no = "assertive: Recorded: question 3 is accepted. Starts in 9 seconds. Undo takes it back.", "polite: Recorded: question 3 is rejected. It is not done."
	for n, tt := range []struct{ ours, want string }{
		{accepted, first}, {accepted, first}, {`{"question":3,"resolution":"rejected","by":"ada"}`, no}, {`{"question":3,"resolution":"rejected","by":"ada"}`, no},
	} {
		e := critical(0, tt.ours)
		e.ID = fmt.Sprintf("evt_%d", n)
		if got := texts(hear(a, e, int64(n+1))); got != tt.want {
			t.Errorf("%d: it says %q, want %q", n, got, tt.want)
		}
	}
}
