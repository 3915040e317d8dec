package terminal_test

import (
	"strings"
	"testing"
	"time"

	"github.com/earshot-dev/earshot/internal/surface/terminal"
)

// TestOver: the server says that a question's time is over; where the connection to it is lost, the terminal says so, once, also where the
// loss is noticed after the deadline.
func TestOver(t *testing.T) {
	t.Parallel()
	for _, lostAfter := range []time.Duration{-time.Minute, time.Second, 7 * time.Second} {
		away := false
		asked := question().Event
		m := terminal.New(terminal.Settings{Away: func() bool { return away }})
		now := asked.Time
		m.Event(now, asked)
		deadline := m.Wake()
		for deadline.Sub(now) < time.Minute { // what comes first is not the deadline
			m.Tick(deadline)
			deadline = m.Wake()
		}
		var said []string
		for at := deadline.Add(min(lostAfter, 0)); at.Before(deadline.Add(time.Minute)); at = at.Add(time.Second) {
			away = !at.Before(deadline.Add(lostAfter))
			if due := m.Wake(); due.IsZero() || due.After(at) {
				continue
			}
			if text := printed(m.Tick(at)); text != "" {
				said = append(said, text)
				if at.Before(deadline) {
					t.Errorf("said %v before the time is over", deadline.Sub(at))
				}
			}
		}
		want := "The time to answer question 1 is over, and the connection is lost. Nothing is done without an answer; what became of it is told once the connection is back."
		if len(said) != 1 || strings.Join(strings.Fields(said[0]), " ") != want {
			t.Errorf("lost %v after the deadline: said %q", lostAfter, said)
		}
	}
}
