package page_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/aaep/announce"
	"github.com/earshot-dev/earshot/internal/surface/page"
)

// recorded are the events of the sessions that were recorded for the announcer, as if they told them in another language.
func recorded(t *testing.T, pattern, tag string) []aaep.Event {
	t.Helper()
	var all []aaep.Event
	for _, name := range files(t, "../../../aaep/announce/testdata/sessions/"+pattern+"/events.jsonl") {
		for line := range strings.Lines(read(t, name)) {
			e, err := aaep.DecodeEvent([]byte(strings.TrimSpace(line)))
			if err != nil {
				t.Fatalf("%s: %v", filepath.Dir(name), err)
			}
			e.Hints = &aaep.LocalizationHints{PrimaryLanguage: tag}
			all = append(all, e)
		}
	}
	slices.SortStableFunc(all, func(x, y aaep.Event) int { return x.Time.Compare(y.Time) })
	return all
}

// TestAnnouncerSpeaksEachLanguage: everything that an announcer says of its own around the events of the recorded sessions has a
// translation.
func TestAnnouncerSpeaksEachLanguage(t *testing.T) {
	t.Parallel()
	assets, err := page.Load()
	if err != nil {
		t.Fatal(err)
	}
	for _, tag := range []string{"ar", "es", "fr", "yo"} {
		t.Run(tag, func(t *testing.T) {
			t.Parallel()
			heard, missing := 0, map[string]bool{}
			translation := assets.In(tag).Announcers()
			say := translation.Say
			translation.Say = func(english string) (string, bool) {
				text, ok := say(english)
				if !ok {
					missing[english] = true
				}
				return text, ok
			}
			for _, p := range listeners() {
				p.Translation = translation
				heard += inOne(t, tag, hear(p, recorded(t, "*", tag)))
			}
			for _, pattern := range []string{"run_*", "flood", "two_questions_at_once"} {
				p := listeners()[0]
				p.Translation = translation
				heard += inOne(t, tag, hear(p, recorded(t, pattern, tag)))
			}
			for english := range missing {
				t.Errorf("%q is not translated", english)
			}
			if heard == 0 {
				t.Error("nothing was said")
			}
		})
	}
}

// TestUndoIsNotedAsItIsSaid: the line of the page and its announcement have the same words in each language. Its script compares them, so that
// one who has taken a yes back is told once.
func TestUndoIsNotedAsItIsSaid(t *testing.T) {
	t.Parallel()
	assets, err := page.Load()
	if err != nil {
		t.Fatal(err)
	}
	for _, tag := range []string{"en", "ar", "es", "fr", "yo"} {
		in := assets.In(tag)
		want := in.Say(announce.Recorded(1, aaep.ResolutionStopped))
		said := hear(announce.Preferences{Person: "anna", Language: tag, Translation: in.Announcers()}, recorded(t, "run_undo", tag))
		if !slices.ContainsFunc(said, func(n announce.Announcement) bool { return page.Announcement(n).Text == want }) {
			t.Errorf("%s: no announcement is %q, in %+v", tag, want, said)
		}
	}
}

// inOne requires that all announcements are in one language, and counts them.
func inOne(t *testing.T, tag string, all []announce.Announcement) int {
	t.Helper()
	for _, n := range all {
		// The text of an agent says no language, and a question whose event has no summary is asked as it stands there.
		if n.Language != tag && n.Language != "" && n.Kind != announce.KindQuestion {
			t.Errorf("%q is in %q", n.Text, n.Language)
		}
	}
	return len(all)
}

// listeners are people with different surfaces and wishes.
func listeners() []announce.Preferences {
	joined := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	return []announce.Preferences{
		{Surface: page.Surface, Zone: time.UTC},
		{Surface: page.Surface, Zone: time.UTC, Person: "ada", OneQuestion: true, Verbosity: aaep.VerbosityDetailed},
		{Surface: page.Surface, Person: "anna", Since: joined.AddDate(100, 0, 0)},
		{Surface: announce.Surface{Output: announce.OutputAsItComes}, Person: "ada", Pace: announce.PaceSlower},
	}
}

// hear plays events to a listener, with everything that is due between them.
func hear(p announce.Preferences, events []aaep.Event) []announce.Announcement {
	a := announce.New(p)
	var all []announce.Announcement
	now := time.Time{}
	for i, e := range events {
		now = e.Time
		for due := a.Wake(); !due.IsZero() && due.Before(now) && i > 0; due = a.Wake() {
			all = append(all, a.Tick(due)...)
		}
		all = append(all, a.Event(now, e, int64(i+1))...)
		all = append(all, a.Waiting(now)...)
	}
	return append(append(all, a.CatchUp()...), a.Flush(now)...)
}
