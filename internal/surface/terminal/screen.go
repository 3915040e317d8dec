package terminal

import (
	"fmt"
	"slices"
	"time"

	"github.com/earshot-dev/earshot/aaep/legible"
)

const (
	// heldEvery is how often the number of held lines is told while it grows.
	heldEvery = 10 * time.Second
	// maxHeld bounds the held lines; of more, the oldest are only counted.
	maxHeld = 1000
)

// screen is what waits to be printed.
type screen struct {
	held     []string  // while a question is open
	dropped  int       // held lines beyond maxHeld
	told     time.Time // when the number of held lines was last told
	toldMany int       // what was told then

	behind []string // while a line is being typed
}

// narrate prints a line, or holds it.
func (t *Terminal) narrate(text string) {
	if !t.holding() {
		t.releaseIfClosed()
		t.aside(text)

		return
	}

	s := &t.screen
	s.held = append(s.held, text)

	if len(s.held) > maxHeld {
		s.held = slices.Delete(s.held, 0, 1)
		s.dropped++
	}
}

// aside prints a line of narration, or, while somebody types, lets it wait for the end of what they type.
func (t *Terminal) aside(text string) {
	if t.typing() && len(t.screen.behind) < maxHeld {
		t.screen.behind = append(t.screen.behind, text)

		return
	}

	t.print(Narration, text)
}

// interrupt prints critical text at once, past everything that is held, even below a line that is being typed.
func (t *Terminal) interrupt(text string) { t.print(Narration, text) }

// holding is true while a question is open: its text and the answer to it are
// not to be torn apart.
func (t *Terminal) holding() bool { return len(t.open()) > 0 }

// heldCount is how many lines wait for "go on".
func (t *Terminal) heldCount() int { return len(t.screen.held) + t.screen.dropped }

// release prints everything that was held.
func (t *Terminal) release() {
	s := &t.screen

	if s.dropped > 0 {
		t.aside(fmt.Sprintf("%s left out.", legible.Counted(int64(s.dropped), "earlier line")))
	}

	for _, line := range s.held {
		t.aside(line)
	}

	s.held, s.dropped, s.toldMany = nil, 0, 0
}

// refresh says what the time has come for: that lines are held, and what waited for a line that is no longer
// being typed.
func (t *Terminal) refresh() {
	if !t.typing() {
		for _, line := range t.screen.behind {
			t.print(Narration, line)
		}

		t.screen.behind = nil
	}

	if due := t.heldDue(); !due.IsZero() && !due.After(t.now) {
		t.tellHeld()
	}
}

func (t *Terminal) tellHeld() {
	s := &t.screen
	s.told, s.toldMany = t.now, t.heldCount()
	t.promptf("%s held; type go on.", legible.Counted(int64(s.toldMany), "line"))
}

// heldDue is when it is told next that lines are held. It waits for the end of a line that is being typed.
func (t *Terminal) heldDue() time.Time {
	s := &t.screen

	switch {
	case !t.holding() || t.heldCount() == s.toldMany:
		return time.Time{}
	case t.typing():
		return t.edit.until()
	case s.told.IsZero():
		return t.now
	default:
		return s.told.Add(heldEvery)
	}
}

func (t *Terminal) screenDue() time.Time {
	if len(t.screen.behind) > 0 && t.typing() {
		return t.edit.until()
	}

	return t.heldDue()
}

func (t *Terminal) print(to Stream, text string) {
	t.leaveTyped()

	lines := wrap(text, t.settings.Width)

	if n := len(t.out); n > 0 {
		if last, ok := t.out[n-1].(Print); ok && last.Stream == to {
			last.Lines = append(last.Lines, lines...)
			t.out[n-1] = last

			return
		}
	}

	t.out = append(t.out, Print{Stream: to, Lines: lines})
}

// promptf says something about questions and answers. Arguments that are texts
// of others must have been made visible.
func (t *Terminal) promptf(format string, args ...any) { t.print(Prompt, fmt.Sprintf(format, args...)) }
