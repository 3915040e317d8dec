package announce

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/earshot-dev/earshot/aaep"
)

// TestMemoryIsBounded hears far more of everything than is kept.
func TestMemoryIsBounded(t *testing.T) {
	t.Parallel()
	a := New(Preferences{Since: time.Unix(13_000, 0)})
	long := strings.Repeat("x", 5000)
	for i := range 9_000 {
		id := strconv.Itoa(i)
		e := aaep.Event{ID: "evt_" + id, SessionID: "sess_" + strconv.Itoa(i/50), Time: time.Unix(int64(i)*3, 0)}
		switch i % 3 {
		case 0:
			e.Payload = aaep.AwaitingConfirmation{Action: id + long, ReplyToken: id, TimeoutSeconds: 300}
		case 1:
			e.Payload = aaep.OutputStreaming{Chunk: long, OutputID: id}
		default:
			e.Payload = aaep.ToolCompleted{Tool: "x", Status: aaep.ToolError, SummaryNormal: id + long}
		}
		a.Event(e.Time, e, int64(i))
	}
	for _, kept := range []struct {
		what       string
		have, most int
	}{
		{"sessions", len(a.sessions), MaxSessions},
		{"open questions", len(a.open), MaxQuestions},
		{"event ids", len(a.seen.has), MaxSeen},
		{"event ids in order", cap(a.seen.keys), MaxSeen},
		{"announcements", len(a.history), MaxHistory},
		{"room for announcements", cap(a.history), 2 * MaxHistory},
		{"sentences", len(a.recent), recentMost},
	} {
		if kept.have == 0 || kept.have > kept.most {
			t.Errorf("%d %s are kept, at most %d are allowed", kept.have, kept.what, kept.most)
		}
	}
	for _, s := range a.sessions {
		if len(s.outputs) > maxOutputs || len(s.missed.alarms) > maxAlarms {
			t.Errorf("%d outputs, %d alarms", len(s.outputs), len(s.missed.alarms))
		}
	}
	for _, n := range a.history {
		if len([]rune(n.Text)) > MaxText+100 {
			t.Errorf("a text of %d characters", len([]rune(n.Text)))
		}
	}
}
