package announce_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/aaep/announce"
)

// steps are tools that begin and end, many in a second.
func steps(n int, every time.Duration) []aaep.Event {
	var list []aaep.Event
	for i := range n {
		begins := event(i, aaep.ToolInvoked{Tool: "x", SummaryNormal: fmt.Sprintf("Reading the file number %d of a folder with many others in it.", i+1)}, "")
		begins.ID, begins.Time = fmt.Sprintf("evt_b%d", i), noon.Add(time.Duration(i)*every)
		ends := event(i, aaep.ToolCompleted{Tool: "x", Status: aaep.ToolSuccess, SummaryNormal: "Read."}, "")
		ends.ID, ends.Time, ends.Urgency = fmt.Sprintf("evt_e%d", i), begins.Time.Add(every/2), aaep.UrgencyBackground
		list = append(list, begins, ends)
	}
	return list
}

func words(list []announce.Announcement) int {
	n := 0
	for _, one := range list {
		n += len(strings.Fields(one.Text))
	}
	return n
}

// TestFlood: more than can be said in the time is summed up, nothing is left out of the count, and what
// interrupts is told at once, before what waits (BP-07, BP-08, BP-20).
func TestFlood(t *testing.T) {
	t.Parallel()
	a := announce.New(announce.Preferences{})
	var all []announce.Announcement
	for _, e := range steps(30, 100*time.Millisecond) { // 390 words in 3 seconds
		all = append(all, hear(a, e, 1)...)
	}
	if n := words(all); n > 90 || n < 60 {
		t.Errorf("%d words in 3 seconds:\n%s", n, texts(all))
	}
	failed := hear(a, event(3, aaep.ToolCompleted{Tool: "x", Status: aaep.ToolError, SummaryNormal: "It failed."}, ""), 1)
	if got := texts(failed); got != "assertive: It failed." {
		t.Errorf("a failure waits: %s", got)
	}
	due := a.Wake()
	if wait := due.Sub(noon.Add(3 * time.Second)); wait <= 0 || wait > 10*time.Second {
		t.Errorf("it is summed up after %v", wait)
	}
	want := fmt.Sprintf("polite: %d steps, %d done. Now: Reading the file number 30 of a folder with many others in it.", 30-len(all), 30-len(all))
	if got := texts(a.Tick(due)); got != want {
		t.Errorf("it is summed up as %s\nwant %s", got, want)
	}
	if !a.Wake().IsZero() {
		t.Errorf("something is left for %v", a.Wake())
	}
	if recap := a.Recap(40); len(recap) != 31 {
		t.Errorf("the recap has %d, want all 31", len(recap))
	}
}

// TestFloodAtTheEnd: what was counted is told before the end, in the order of the session; and one that waits
// alone is told as it is.
func TestFloodAtTheEnd(t *testing.T) {
	t.Parallel()
	a := announce.New(announce.Preferences{})
	var all []announce.Announcement
	list := steps(12, 100*time.Millisecond)
	for _, e := range list {
		all = append(all, hear(a, e, 1)...)
	}
	end := hear(a, event(2, aaep.SessionCompleted{SummaryNormal: "Finished."}, ""), 1)
	want := fmt.Sprintf("polite: %d steps, %d done. Now: Reading the file number 12 of a folder with many others in it.\npolite: Finished.", 12-len(all), 12-len(all))
	if got := texts(end); got != want {
		t.Errorf("the end: %s\nwant %s", got, want)
	}

	a, all = announce.New(announce.Preferences{}), nil
	for _, e := range steps(7, 100*time.Millisecond) {
		all = append(all, hear(a, e, 1)...)
	}
	end = hear(a, event(2, aaep.SessionErrored{SummaryNormal: "It failed."}, ""), 1)
	if got := texts(end); got != "assertive: It failed.\npolite: Reading the file number 7 of a folder with many others in it." {
		t.Errorf("after %d: %s", len(all), got)
	}
}

// TestPaces: slower tells less, quiet only what has to be told, and each says what it does.
func TestPaces(t *testing.T) {
	t.Parallel()
	said := map[announce.Pace]int{}
	for _, pace := range []announce.Pace{announce.PaceUsual, announce.PaceSlower, announce.PaceQuiet} {
		a := announce.New(announce.Preferences{Pace: pace})
		var all []announce.Announcement
		for _, e := range steps(30, 4*time.Second) {
			for due := a.Wake(); !due.IsZero() && due.Before(e.Time); due = a.Wake() {
				all = append(all, a.Tick(due)...)
			}
			all = append(all, hear(a, e, 1)...)
		}
		said[pace] = words(all)
	}
	if said[announce.PaceUsual] < 300 || said[announce.PaceSlower] > 200 || said[announce.PaceSlower] < 60 || said[announce.PaceQuiet] != 0 {
		t.Errorf("words in two minutes: %v", said)
	}

	a := announce.New(announce.Preferences{Surface: announce.Surface{Controls: announce.ControlsWords}})
	for _, step := range []struct {
		to   announce.Pace
		want string
	}{
		{a.Pace().Slower(), "Slower: fewer single steps; the others are summed up."},
		{announce.PaceSlower.Slower(), "Quiet: only questions, urgent news and the end. Type faster to hear more."},
		{announce.PaceQuiet.Slower(), "Quiet: only questions, urgent news and the end. Type faster to hear more."},
		{announce.PaceQuiet.Faster(), "Slower: fewer single steps; the others are summed up."},
		{announce.PaceSlower.Faster(), "Back to the usual pace."},
	} {
		if got := a.SetPace(step.to, noon); got.Text != step.want || a.Pace() != step.to {
			t.Errorf("%q: %+v", step.to, got)
		}
	}
	a.SetPace(announce.PaceQuiet, noon)
	hear(a, event(0, aaep.ToolInvoked{Tool: "x", SummaryNormal: "Looking."}, ""), 1)
	hear(a, event(1, aaep.ToolInvoked{Tool: "x", SummaryNormal: "Looking again."}, ""), 2)
	asked := hear(a, event(2, aaep.AwaitingConfirmation{Action: "Do it.", TimeoutSeconds: 600}, `{"question":4}`), 3)
	if got := texts(asked); got != "assertive: Question 4: Do it. Answer by 12:10 UTC." {
		t.Error(got)
	}
	end := hear(a, event(3, aaep.SessionCompleted{SummaryNormal: "Finished."}, ""), 4)
	if got := texts(end); got != "polite: 2 steps. Now: Looking again.\npolite: Finished. Question 4 is no longer asked." {
		t.Error(got)
	}
}
