package announce_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/aaep/announce"
)

// TestWarnAt: for every length there is a warning with at least 20 seconds left, or the time
// is hardly longer than that.
func TestWarnAt(t *testing.T) {
	t.Parallel()
	asked := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for length := time.Second; length <= 24*time.Hour; length += max(time.Second, length/100).Truncate(time.Second) {
		deadline := asked.Add(length)
		at := announce.WarnAt(asked, deadline)
		if length < 24*time.Second {
			if !at.IsZero() {
				t.Errorf("%v: warned at %v", length, at)
			}
			continue
		}
		if left := deadline.Sub(at); left < 21*time.Second || left > 30*time.Second || !at.After(asked) {
			t.Errorf("%v: warned %v before the end", length, left)
		}
	}
}

// TestWarnedInTime: the warning of an announcer says how much is left and how to get more,
// once for each end, also for a short time.
func TestWarnedInTime(t *testing.T) {
	t.Parallel()
	asked := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for _, seconds := range []int64{25, 40, 60, 300, 86_400} {
		a := announce.New(announce.Preferences{Surface: announce.Surface{Controls: announce.ControlsWords}})
		hear(a, aaep.Event{
			ID: "evt_1", SessionID: "sess_1", Time: asked, Hints: &aaep.LocalizationHints{PrimaryLanguage: "en"},
			Payload: aaep.AwaitingConfirmation{Action: "Delete it.", ReplyToken: "rpl_1", TimeoutSeconds: seconds, DefaultDecision: aaep.DecisionReject},
		}, 1)
		due := a.Wake()
		if left := asked.Add(time.Duration(seconds) * time.Second).Sub(due); left < 20*time.Second {
			t.Errorf("%d s: warned %v before the end", seconds, left)
		}
		said := a.Tick(due)
		if len(said) != 1 || said[0].Kind != announce.KindWarning || said[0].Priority != announce.Assertive ||
			!strings.Contains(said[0].Text, "seconds left to answer a question.") || !strings.Contains(said[0].Text, "Type more time to get more.") {
			t.Errorf("%d s: %+v", seconds, said)
		}
		if again := a.Tick(due.Add(time.Second)); len(again) != 0 || !a.Wake().IsZero() {
			t.Errorf("%d s: warned again: %+v", seconds, again)
		}
	}
}

// TestCountdown: that half, or a tenth, of the time is left is said at once, with how to get more, and never beside the listener's own
// warning; not of a question that was answered, of other questions, late, or where there is hardly time to hear it (CONF-73).
func TestCountdown(t *testing.T) {
	t.Parallel()
	asked := aaep.AwaitingConfirmation{Action: "Delete it.", ReplyToken: "rpl_1", TimeoutSeconds: 300, DefaultDecision: aaep.DecisionReject}
	counted := func(left int64, question int) aaep.Event {
		e := event(int(300-left), aaep.ProgressUpdated{Progress: aaep.Progress{Description: "x"}, SummaryNormal: "Time is left."},
			fmt.Sprintf(`{"question":%d,"left_seconds":%d}`, question, left))
		e.Urgency, e.Time = aaep.UrgencyNormal, noon.Add(time.Duration(300-left)*time.Second)
		return e
	}
	begin := func() *announce.Announcer {
		a := announce.New(announce.Preferences{Surface: announce.Surface{Controls: announce.ControlsWords}})
		a.Event(noon, event(0, asked, `{"question":1}`), 1)
		return a
	}
	said := func(a *announce.Announcer, e aaep.Event, late time.Duration) string {
		return texts(a.Event(e.Time.Add(late), e, 2))
	}
	const warning = "assertive: Time is left. Type more time to get more."
	if got := said(begin(), counted(150, 1), 0); got != warning {
		t.Errorf("half: %s", got)
	}
	a := begin()
	if got := said(a, counted(30, 1), 0); got != warning || len(a.Tick(noon.Add(270*time.Second))) != 0 || len(a.Tick(noon.Add(299*time.Second))) != 0 {
		t.Errorf("a tenth, before the own warning: %s", got)
	}
	a = begin()
	if own := a.Tick(noon.Add(270 * time.Second)); len(own) != 1 {
		t.Errorf("the own warning: %+v", own)
	}
	if got := said(a, counted(30, 1), time.Second); got != "" {
		t.Errorf("a tenth, after the own warning: %s", got)
	}
	a = begin()
	a.Event(noon.Add(time.Minute), event(9, aaep.StateChanged{}, `{"question":1,"resolution":"rejected","by":"ada"}`), 2)
	if got := said(a, counted(150, 1), 0); got != "" {
		t.Errorf("after an answer: %s", got)
	}
	for name, got := range map[string]string{
		"another question": said(begin(), counted(150, 2), 0), "late": said(begin(), counted(150, 1), time.Minute), "hardly any time": said(begin(), counted(12, 1), 0),
	} {
		if got != "" {
			t.Errorf("%s: %s", name, got)
		}
	}
}
