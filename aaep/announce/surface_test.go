package announce_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/aaep/announce"
)

// TestHints: a hint names only what can be done on the surface, and a number only where several
// questions are open.
func TestHints(t *testing.T) {
	t.Parallel()
	for controls, want := range map[announce.Controls][3]string{
		announce.ControlsNone:     {"", "", ""},
		announce.ControlsWords:    {" Type more time to get more.", " Type more time 2 to get more.", " Type undo to take it back."},
		announce.ControlsButtons:  {" The button More time for question 1 gets more.", " The button More time for question 2 gets more.", " Undo takes it back."},
		announce.ControlsCommands: {" `earshot extend 1` gets more.", " `earshot extend 2` gets more.", " `earshot undo 1` takes it back."},
	} {
		a := announce.New(announce.Preferences{Zone: time.UTC, Surface: announce.Surface{Controls: controls}})
		ask := func(n int) {
			hear(a, event(n, aaep.AwaitingConfirmation{Action: "Do it.", TimeoutSeconds: 60}, fmt.Sprintf(`{"question":%d}`, n)), 1)
		}
		const left = "assertive: 30 seconds left to answer question %d. Without an answer it is not done.%s"
		ask(1)
		if got := texts(a.Tick(a.Wake())); got != fmt.Sprintf(left, 1, want[0]) {
			t.Errorf("%s: %s", controls, got)
		}
		ask(2)
		if got := texts(a.Tick(a.Wake())); got != fmt.Sprintf(left, 2, want[1]) {
			t.Errorf("%s: %s", controls, got)
		}
		got := texts(hear(a, event(3, aaep.StateChanged{}, `{"question":1,"resolution":"accepted","by":"ada","starts_at":"2026-03-01T12:00:12Z"}`), 1))
		if got != "assertive: Question 1 was accepted by ada. Starts in 9 seconds."+want[2] {
			t.Errorf("%s: %s", controls, got)
		}
		a.SetControls(announce.ControlsNone)
		ask(4)
		if got := texts(a.Tick(a.Wake())); got != fmt.Sprintf(left, 4, "") {
			t.Errorf("%s, nothing can be done any more: %s", controls, got)
		}
	}
}

// TestOwnAnswers: an own answer that was given on this surface is told as recorded, one from elsewhere
// with its place, and each once: what the surface has said itself is not told again.
func TestOwnAnswers(t *testing.T) {
	t.Parallel()
	ended := func(n int, how, by, surface, starts string) aaep.Event {
		return event(n, aaep.StateChanged{}, fmt.Sprintf(`{"question":3,"resolution":%q,"by":%q,"surface":%q,"starts_at":%q}`, how, by, surface, starts))
	}
	const starts = "2026-03-01T12:00:09Z"
	listener := func() *announce.Announcer {
		return announce.New(announce.Preferences{Person: "ada", Surface: announce.Surface{Name: "terminal", Controls: announce.ControlsWords}})
	}
	for _, tt := range []struct{ name, got, want string }{
		{"here", texts(hear(listener(), ended(0, "rejected", "ada", "terminal", ""), 1)), "polite: Recorded: question 3 is rejected. It is not done."},
		{"on the page", texts(hear(listener(), ended(0, "rejected", "ada", "page", ""), 1)), "polite: You rejected question 3 on the page. It is not done."},
		{
			"a yes on the page", texts(hear(listener(), ended(0, "accepted", "ada", "page", starts), 1)),
			"assertive: You accepted question 3 on the page. Starts in 9 seconds. Type undo to take it back.",
		},
		{"somebody else", texts(hear(listener(), ended(0, "rejected", "ben", "page", ""), 1)), "assertive: Question 3 was rejected by ben on the page. It is not done."},
	} {
		if tt.got != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, tt.got, tt.want)
		}
	}

	a := listener()
	a.Answered(3, aaep.ResolutionAccepted)
	if got := texts(hear(a, ended(0, "accepted", "ada", "terminal", starts), 1)); got != "assertive: Starts in 9 seconds. Type undo to take it back." {
		t.Errorf("recorded by the surface: %s", got)
	}
	if got := a.Resolved(noon, 3, aaep.ResolutionAccepted, true); got != nil {
		t.Errorf("it counted: %s", texts(got))
	}
	a.Answered(3, aaep.ResolutionRejected)
	a.Resolved(noon, 3, aaep.ResolutionRejected, true)
	if got := texts(hear(a, ended(1, "rejected", "ada", "terminal", ""), 1)); got != "none: Recorded: question 3 is rejected. It is not done." {
		t.Errorf("recorded before it was heard: %s", got)
	}
	a.Answered(3, aaep.ResolutionRejected)
	hear(a, ended(2, "rejected", "ben", "page", ""), 1)
	if got := texts(a.Resolved(noon, 3, aaep.ResolutionRejected, false)); got != "polite: Question 3 was rejected by ben on the page. It is not done." {
		t.Errorf("somebody else was first: %s", got)
	}
	if got := a.Resolved(noon, 3, aaep.ResolutionRejected, false); got != nil {
		t.Errorf("told twice: %s", texts(got))
	}
}

// TestTakenBack: a yes that its listener takes back here is told as the surface notes it. The end of the session then tells only that it is
// one, unless something had been done. Anyone else hears both in full.
func TestTakenBack(t *testing.T) {
	t.Parallel()
	const accepted, stopped = `{"question":3,"resolution":"accepted","by":"ada","surface":"page"}`, `{"question":3,"resolution":"stopped","by":"ada","surface":"page"}`
	const said, noted, ended = "Question 3 was stopped. Nothing was done.", "polite: Recorded: the yes to question 3 is taken back. Nothing was done.", "Taken back, and stopped."
	after := func(p announce.Preferences, done string, all ...string) string {
		p.Zone = time.UTC
		a := announce.New(p)
		var heard []string
		for n, ours := range all {
			e := event(n, aaep.StateChanged{}, ours)
			e, err := e.Extend(aaep.PrefixUTP, "code", "stopped")
			if err != nil {
				t.Fatal(err)
			}
			heard = append(heard, texts(hear(a, e, int64(n+1))))
		}
		end := aaep.SessionCancelled{CancelledBy: aaep.CancelledByUser, CancellationReason: "undone", SummaryNormal: ended, PartialResult: done}
		return strings.Join(append(heard[len(heard)-1:], texts(hear(a, event(9, end, ""), 9))), "\n")
	}
	page := announce.Surface{Name: "page", Controls: announce.ControlsButtons}
	here, terminal := announce.Preferences{Person: "ada", Surface: page}, announce.Preferences{Person: "ada", Surface: announce.Surface{Name: "terminal"}}
	for what, tt := range map[string]struct{ got, want string }{
		"here":                    {after(here, "", accepted, stopped), noted + "\npolite: The work was stopped."},
		"here, after other calls": {after(here, "2 files.", accepted, stopped), noted + "\npolite: " + ended},
		"never accepted":          {after(here, "", stopped), "polite: " + said + "\nassertive: " + ended},
		"elsewhere":               {after(terminal, "", accepted, stopped), "polite: " + said + "\nassertive: " + ended},
		"by somebody else": {
			after(announce.Preferences{Person: "ben", Surface: page}, "", accepted, stopped),
			"assertive: Question 3 was stopped by ada on the page. Nothing was done.\nassertive: " + ended,
		},
	} {
		if tt.got != tt.want {
			t.Errorf("%s: it says\n%s\nwant\n%s", what, tt.got, tt.want)
		}
	}
}

// TestTakenBackBefore: an accept of which the listener has been told that it is taken back does not start, though its event comes after.
func TestTakenBackBefore(t *testing.T) {
	t.Parallel()
	for counted, want := range map[bool]string{true: "none: Recorded: question 3 is accepted.", false: "assertive: Starts in 3 seconds. Type undo to take it back."} {
		a := announce.New(announce.Preferences{Person: "ada", Surface: announce.Surface{Name: "terminal", Controls: announce.ControlsWords}})
		hear(a, event(0, aaep.StateChanged{ToState: aaep.StateThinking}, `{}`), 1)
		a.Answered(3, aaep.ResolutionAccepted)
		a.Resolved(noon, 3, aaep.ResolutionAccepted, true)
		a.Answered(3, aaep.ResolutionStopped)
		a.Resolved(noon, 3, aaep.ResolutionStopped, counted)
		e := event(1, aaep.StateChanged{}, `{"question":3,"resolution":"accepted","by":"ada","surface":"terminal","starts_at":"2026-03-01T12:00:04Z"}`)
		if got := texts(hear(a, e, 2)); got != want {
			t.Errorf("counted %v: %s, want %s", counted, got, want)
		}
	}
}

// TestHeardLate: the time to take a yes back begins when it has been told, so a busy moment does not take the
// offer away; what was agreed to long ago has started.
func TestHeardLate(t *testing.T) {
	t.Parallel()
	for late, want := range map[time.Duration]string{
		0:               " Starts in 3 seconds. Undo takes it back.",
		5 * time.Second: " Starts in 3 seconds. Undo takes it back.",
		time.Minute:     "",
	} {
		a := announce.New(announce.Preferences{Surface: announce.Surface{Controls: announce.ControlsButtons}})
		a.Event(noon, event(0, aaep.StateChanged{ToState: aaep.StateThinking}, `{}`), 1)
		e := event(1, aaep.StateChanged{}, `{"question":3,"resolution":"accepted","by":"ada","starts_at":"2026-03-01T12:00:04Z"}`)
		if got := texts(a.Event(noon.Add(time.Second+late), e, 2)); got != "assertive: Question 3 was accepted by ada."+want {
			t.Errorf("%v late: %s", late, got)
		}
	}
}

// TestLongOutput: while a long text is being written there is a sign of life every ten seconds, and
// the text can be had on request, in pieces that keep their lines.
func TestLongOutput(t *testing.T) {
	t.Parallel()
	a := announce.New(announce.Preferences{Surface: announce.Surface{Controls: announce.ControlsWords, Output: announce.OutputOnRequest}})
	if got := a.Answer(); got != nil {
		t.Errorf("there is none: %+v", got)
	}
	var got []string
	position := int64(0)
	write := func(second int, text string, complete bool) {
		e := event(second, aaep.OutputStreaming{Chunk: text, Position: position, OutputID: "a", Complete: complete}, "")
		got = append(got, strings.Split(texts(hear(a, e, 1)), "\n")...)
		position += int64(len(text))
	}
	for second := range 25 {
		write(second, "one two three four\n", false)
	}
	write(25, "    code at the end", true)
	want := "polite: Still writing: 44 words so far. | polite: Still writing: 84 words so far. | polite: The answer is ready: 26 lines. Type read to read it."
	said := strings.Join(strings.FieldsFunc(strings.Join(got, "\n"), func(r rune) bool { return r == '\n' }), " | ")
	if said != want {
		t.Errorf("it says %s\nwant %s", said, want)
	}
	var read []string
	for _, n := range a.Answer() {
		if n.Kind != announce.KindOutput || len(n.Text) > announce.MaxText {
			t.Errorf("%+v", n)
		}
		read = append(read, n.Text)
	}
	if text := strings.Join(read, "\n"); text != strings.Repeat("one two three four\n", 25)+"    code at the end" {
		t.Errorf("the answer is\n%s", text)
	}
}

// TestOutputInLanguages: each announcement of a text has the language of its chunk, and a sentence that breaks off where the
// language changes is said in its own (I18N-27). A chunk that only completes the text says nothing about its language.
func TestOutputInLanguages(t *testing.T) {
	t.Parallel()
	chunks := []aaep.OutputStreaming{
		{Chunk: "He mirado", Language: "es"},
		{Chunk: " las fotos. ", Position: 9, Language: "es", CoalesceHint: aaep.BoundarySentence},
		{Chunk: "Ahora", Position: 21, Language: "es"},
		{Chunk: "نظرت. ", Position: 26, Language: "ar", CoalesceHint: aaep.BoundarySentence},
		{Chunk: "Nobody knows", Position: 32},
		{Position: 44, Language: "fr", Complete: true},
	}
	want := []string{"es He mirado las fotos.", "es Ahora", "ar نظرت.", " Nobody knows"}
	list := func(all []announce.Announcement) (out []string) {
		for _, n := range all {
			if n.Kind == announce.KindOutput {
				out = append(out, n.Language+" "+n.Text)
			}
		}
		return out
	}
	heard := announce.New(announce.Preferences{Surface: announce.Surface{Output: announce.OutputAsItComes}})
	read := announce.New(announce.Preferences{Surface: announce.Surface{Output: announce.OutputOnRequest}})
	var all []announce.Announcement
	for second, p := range chunks {
		all = append(all, hear(heard, event(second, p, ""), 1)...)
		hear(read, event(second, p, ""), 1)
	}
	if got := list(all); !slices.Equal(got, want) {
		t.Errorf("it says %q\nwant %q", got, want)
	}
	if got := list(read.Answer()); !slices.Equal(got, []string{"es He mirado las fotos. Ahora", "ar نظرت.", " Nobody knows"}) {
		t.Errorf("the answer is %q", got)
	}
}

// TestAnswerIsBounded: of a text that is too long the end is kept.
func TestAnswerIsBounded(t *testing.T) {
	t.Parallel()
	a := announce.New(announce.Preferences{Surface: announce.Surface{Output: announce.OutputOnRequest}})
	hear(a, event(0, aaep.OutputStreaming{Chunk: strings.Repeat("ä", announce.MaxAnswer) + "the end", Complete: true}, ""), 1)
	all := 0
	list := a.Answer()
	for _, n := range list {
		all += len(n.Text)
	}
	if all > announce.MaxAnswer || !strings.HasSuffix(list[len(list)-1].Text, "the end") {
		t.Errorf("%d bytes, ending in %q", all, list[len(list)-1].Text)
	}
}

// TestOutputAsItComes: where a surface has no other place for it, the text itself is announced, at the ends
// of sentences and not before (OUT-08); a quiet listener reads it on request.
func TestOutputAsItComes(t *testing.T) {
	t.Parallel()
	chunks := []aaep.OutputStreaming{
		{Chunk: "Half a"}, {Chunk: " sentence.\n\tx := 1\n", Position: 6, CoalesceHint: aaep.BoundarySentence}, {Chunk: "The end", Position: 25, Complete: true},
	}
	for pace, want := range map[announce.Pace]string{
		announce.PaceUsual: "polite: Half a sentence.\n    x := 1\npolite: The end",
		announce.PaceQuiet: "polite: The answer is ready: 3 lines. Type read to read it.",
	} {
		a := announce.New(announce.Preferences{Pace: pace, Surface: announce.Surface{Controls: announce.ControlsWords, Output: announce.OutputAsItComes}})
		var all []announce.Announcement
		for i, c := range chunks {
			all = append(all, hear(a, event(i, c, ""), 1)...)
		}
		if got := texts(all); got != want {
			t.Errorf("%s: %q, want %q", pace, got, want)
		}
	}
}

// TestWhere says what is under way and what is asked.
func TestWhere(t *testing.T) {
	t.Parallel()
	a := announce.New(announce.Preferences{Zone: time.UTC})
	if got := texts(a.Where(noon)); got != "polite: Nothing is under way." {
		t.Error(got)
	}
	percent := 40.0
	e := event(0, aaep.SessionStarted{SummaryNormal: "Started."}, "")
	e.Producer.AgentName = "tidy"
	hear(a, e, 1)
	hear(a, event(1, aaep.ToolInvoked{Tool: "x", SummaryNormal: "Comparing 27 files."}, ""), 2)
	hear(a, event(2, aaep.ProgressUpdated{Progress: aaep.Progress{Percent: &percent}}, ""), 3)
	if got := texts(a.Where(noon.Add(2 * time.Minute))); got != "polite: tidy, working since 12:00. Comparing 27 files. 40 percent done." {
		t.Error(got)
	}
	want := "polite: tidy, working since 12:00. Comparing 27 files. 40 percent done. Nothing new since 12:00."
	if got := texts(a.Where(noon.Add(time.Hour))); got != want {
		t.Error(got)
	}
	hear(a, event(3, aaep.AwaitingConfirmation{Action: "Do it.", TimeoutSeconds: 600, Irreversible: true}, `{"question":4}`), 4)
	want = "polite: tidy, working since 12:00. It waits for an answer to question 4.\npolite: Question 4: Do it. Answer by 12:10. This cannot be undone."
	if got := texts(a.Where(noon.Add(5 * time.Minute))); got != want {
		t.Error(got)
	}
}
