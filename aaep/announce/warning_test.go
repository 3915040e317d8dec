package announce_test

import (
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
