package terminal

import (
	"fmt"
	"slices"
	"time"

	"github.com/earshot-dev/earshot/aaep/announce"
	"github.com/earshot-dev/earshot/aaep/legible"
)

const (
	// reportEvery is the interval at which the growing number of held lines is reported.
	reportEvery = 10 * time.Second
	// maxBuffered limits the held lines; beyond it, the oldest are only counted.
	maxBuffered = 1000
)

// screen holds what waits to be printed.
type screen struct {
	buffered      []string  // while a question is open
	dropped       int       // held lines beyond maxBuffered
	reportedAt    time.Time // when the number of held lines was last reported
	reportedCount int       // the last reported number

	behind []string // while a line is being typed

	heard announce.Announcement // the last one that is not held
}

// narrate prints a line, or holds it.
func (t *Terminal) narrate(text string) {
	if !t.holding() {
		t.releaseIfClosed()
		t.aside(text)

		return
	}

	s := &t.screen
	s.buffered = append(s.buffered, text)

	if len(s.buffered) > maxBuffered {
		s.buffered = slices.Delete(s.buffered, 0, 1)
		s.dropped++
	}
}

// aside prints a line of narration, or delays it while somebody types a line. Where too many wait, all are printed below what is typed.
func (t *Terminal) aside(text string) {
	s := &t.screen
	s.behind = append(s.behind, text)

	if !t.typing() || len(s.behind) > maxBuffered {
		t.releaseBehind()
	}
}

// interrupt prints critical text at once, before everything that is held, even below a line that is being typed.
func (t *Terminal) interrupt(text string) { t.print(Narration, text) }

// holding reports whether a question is open: its text and its answer must stay together.
func (t *Terminal) holding() bool { return len(t.open()) > 0 }

// bufferedCount returns how many lines wait for "go on".
func (t *Terminal) bufferedCount() int { return len(t.screen.buffered) + t.screen.dropped }

// release prints everything that was held.
func (t *Terminal) release() {
	s := &t.screen

	if s.dropped > 0 {
		t.aside(fmt.Sprintf("%s left out.", legible.Counted(int64(s.dropped), "earlier line")))
	}

	for _, line := range s.buffered {
		t.aside(line)
	}

	s.buffered, s.dropped, s.reportedCount = nil, 0, 0
}

// refresh does what is due: it reports that lines are held, and prints what waited for a line that is no longer being
// typed.
func (t *Terminal) refresh() {
	if !t.typing() {
		t.releaseBehind()
	}

	if due := t.reportDue(); !due.IsZero() && !due.After(t.now) {
		t.reportBuffered()
	}
}

// releaseBehind prints what waited for a line that was being typed.
func (t *Terminal) releaseBehind() {
	for _, line := range t.screen.behind {
		t.print(Narration, line)
	}

	t.screen.behind = nil
}

// last returns what was told last: not what is held, which nobody has heard yet.
func (t *Terminal) last() (announce.Announcement, bool) {
	if t.bufferedCount() > 0 && t.screen.heard.Text != "" {
		return t.screen.heard, true
	}

	return t.announcer.Repeat()
}

func (t *Terminal) reportBuffered() {
	s := &t.screen
	s.reportedAt, s.reportedCount = t.now, t.bufferedCount()
	t.promptf("%s held; type go on.", legible.Counted(int64(s.reportedCount), "line"))
}

// reportDue returns when held lines are reported next. It waits for the end of a line that is being typed.
func (t *Terminal) reportDue() time.Time {
	s := &t.screen

	switch {
	case !t.holding() || t.bufferedCount() == s.reportedCount:
		return time.Time{}
	case t.typing():
		return t.edit.until()
	case s.reportedAt.IsZero():
		return t.now
	default:
		return s.reportedAt.Add(reportEvery)
	}
}

func (t *Terminal) screenDue() time.Time {
	if len(t.screen.behind) > 0 && t.typing() {
		return t.edit.until()
	}

	return t.reportDue()
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

// promptf prints something about questions and answers. Foreign text in the arguments must already be made visible.
func (t *Terminal) promptf(format string, args ...any) { t.print(Prompt, fmt.Sprintf(format, args...)) }
