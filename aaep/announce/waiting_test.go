package announce_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/aaep/announce"
)

// asked is a question of so many minutes, so many seconds after noon.
func asked(second, number, minutes int) aaep.Event {
	p := aaep.AwaitingConfirmation{Action: fmt.Sprintf("Send letter %d.", number), ReplyToken: fmt.Sprintf("rpl_%d", second), TimeoutSeconds: int64(minutes) * 60}
	return event(second, p, fmt.Sprintf(`{"question":%d}`, number))
}

func settled(second, number int, how string) aaep.Event {
	return event(second, aaep.StateChanged{}, fmt.Sprintf(`{"question":%d,"resolution":%q,"by":"ben"}`, number, how))
}

// single is a listener who wants one question at a time.
func single(since time.Time) *announce.Announcer {
	return announce.New(announce.Preferences{
		OneQuestion: true, Zone: time.UTC, Since: since, Surface: announce.Surface{Controls: announce.ControlsButtons},
	})
}

// TestOneQuestionAtATime: a question that comes while one is open is announced in short, with the end of its time where
// that is soon, and in full when the first has ended, however that came.
func TestOneQuestionAtATime(t *testing.T) {
	t.Parallel()
	other := asked(3, 4, 60)
	other.SessionID = "sess_2"
	french := event(1, aaep.AwaitingConfirmation{Action: "Envoyer.", SummaryTerse: "Question 2 : envoyer ?", TimeoutSeconds: 3600}, `{"question":2}`)
	french.Hints = &aaep.LocalizationHints{PrimaryLanguage: "fr"}
	first := "assertive: Question 1: Send letter 1. Answer by 13:00."
	for _, tt := range []struct {
		name   string
		events []aaep.Event
		want   []string
	}{
		{"a second and a third", []aaep.Event{asked(0, 1, 60), asked(1, 2, 60), asked(2, 3, 5), settled(3, 1, "rejected"), settled(4, 2, "withdrawn"), settled(5, 3, "expired")}, []string{
			first, "assertive: Another question waits: 2 in all.", "assertive: Another question waits: 3 in all. It has to be answered by 12:05.",
			"assertive: Question 1 was rejected by ben. It is not done.", "assertive: Question 2: Send letter 2. Answer by 13:00.",
			"assertive: Question 2 is no longer asked.", "assertive: Question 3: Send letter 3. Answer by 12:05.", "assertive: Nobody answered question 3 in time, so it is not done.",
		}},
		{"one that waits ends first", []aaep.Event{asked(0, 1, 60), asked(1, 2, 60), settled(2, 2, "rejected"), asked(3, 2, 60), settled(4, 1, "rejected")}, []string{
			first, "assertive: Another question waits: 2 in all.", "assertive: Question 2 was rejected by ben. It is not done.",
			"assertive: Another question waits: 2 in all.", "assertive: Question 1 was rejected by ben. It is not done.", "assertive: Question 2: Send letter 2. Answer by 13:00.",
		}},
		{"more time for both", []aaep.Event{asked(0, 1, 5), asked(1, 2, 5), settled(2, 1, "extended"), asked(2, 1, 10), settled(3, 2, "extended"), asked(3, 2, 10), settled(4, 1, "rejected")}, []string{
			"assertive: Question 1: Send letter 1. Answer by 12:05.", "assertive: Another question waits: 2 in all. It has to be answered by 12:05.",
			"assertive: Question 1 has more time. Answer by 12:10.", "assertive: Question 2 has more time. Answer by 12:10.",
			"assertive: Question 1 was rejected by ben. It is not done.", "assertive: Question 2: Send letter 2. Answer by 12:10.",
		}},
		{"the first ends with its session", []aaep.Event{asked(0, 1, 60), other, event(5, aaep.SessionCompleted{SummaryNormal: "Finished."}, "")}, []string{
			first, "assertive: Another question waits: 2 in all.", "polite: agent 1: Finished. Question 1 is no longer asked.",
			"assertive: Question 4, agent 2: Send letter 4. Answer by 13:00.",
		}},
		{"in another language", []aaep.Event{asked(0, 1, 60), french, settled(2, 1, "rejected")}, []string{
			first, "assertive: Another question waits: 2 in all.", "assertive: Question 1 was rejected by ben. It is not done.", "assertive: Question 2 : envoyer ?",
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			a := single(time.Time{})
			var all []announce.Announcement
			for i, e := range tt.events {
				if e.SessionID == "sess_1" { // ids of their own
					e.ID = fmt.Sprint("evt_one_", i)
				}
				all = append(all, hear(a, e, int64(i+1))...)
			}
			if got, want := texts(all), strings.Join(tt.want, "\n"); got != want {
				t.Errorf("heard is\n%s\nwant\n%s", got, want)
			}
			ids := map[string]bool{}
			for _, n := range all {
				if ids[n.ID] {
					t.Errorf("the id %s is given twice", n.ID)
				}
				ids[n.ID] = true
				if n.Waits != strings.HasPrefix(n.Text, "Another") && !strings.Contains(n.Text, "2 has more time") {
					t.Errorf("it waits: %t, and is %q", n.Waits, n.Text)
				}
			}
		})
	}
}

// TestOneQuestionIsWarnedOf: the time of a question that waits does not run out unheard, nor unreachable.
func TestOneQuestionIsWarnedOf(t *testing.T) {
	t.Parallel()
	for controls, hint := range map[announce.Controls]string{
		announce.ControlsButtons: "The link More questions leads to it.", announce.ControlsWords: "Type more time 2 to get more.",
	} {
		a := announce.New(announce.Preferences{OneQuestion: true, Zone: time.UTC, Surface: announce.Surface{Controls: controls}})
		hear(a, asked(0, 1, 60), 1)
		hear(a, asked(1, 2, 10), 2)
		want := "assertive: 30 seconds left to answer question 2. Without an answer it is not done. " + hint
		if got := texts(a.Tick(a.Wake())); got != want {
			t.Errorf("heard is %s, want %s", got, want)
		}
	}
	a := announce.New(announce.Preferences{OneQuestion: true, Zone: time.UTC, Surface: announce.Surface{Controls: announce.ControlsWords}})
	hear(a, asked(0, 1, 5), 1)
	hear(a, asked(1, 2, 60), 2)
	if got := texts(a.Tick(a.Wake())); !strings.HasSuffix(got, "Type more time to get more.") { // it is the only one that was told
		t.Errorf("heard is %s", got)
	}
}

// TestOneQuestionOfMissedOnes: somebody who comes late, or comes again, is told the first in full, and how many others wait.
func TestOneQuestionOfMissedOnes(t *testing.T) {
	t.Parallel()
	a := single(noon.Add(time.Minute))
	for i := range 3 {
		hear(a, asked(i, i+1, 4+i), int64(i+1))
	}
	want := "assertive: Question 1: Send letter 1. Answer by 12:04.\nassertive: 2 more questions wait: 3 in all. One of them has to be answered by 12:05."
	got := texts(a.Tick(noon.Add(2 * time.Minute)))
	if _, questions, _ := strings.Cut(got, "\n"); questions != want {
		t.Errorf("heard is\n%s\nwant a summary, then\n%s", got, want)
	}
	if got := texts(a.Recap(0)); got != strings.ReplaceAll(want, "assertive", "polite") {
		t.Errorf("the recap is\n%s", got)
	}
	where := texts(a.Where(noon.Add(2 * time.Minute)))
	if _, questions, _ := strings.Cut(where, "\n"); questions != "polite: Question 1: Send letter 1. Answer by 12:04.\n"+
		"polite: 2 more questions wait: 3 in all. One of them has to be answered by 12:05." {
		t.Errorf("things stand like this:\n%s", where)
	}

	a = single(time.Time{})
	a.Observe(asked(0, 1, 60), 1) // on the page that was there before
	if got := texts(hear(a, asked(1, 2, 60), 2)); got != "assertive: Another question waits: 2 in all." {
		t.Errorf("behind one that was observed: %s", got)
	}
}
