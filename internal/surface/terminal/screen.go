package terminal

import (
	"fmt"
	"slices"
	"time"

	"github.com/earshot-dev/earshot/aaep/legible"
)

const (
	// backgroundEvery is how often a background event may take a line.
	backgroundEvery = time.Second
	// heldEvery is how often the number of held lines is told while it grows.
	heldEvery = 10 * time.Second
	// maxHeld bounds the held lines; of more, the oldest are only counted.
	maxHeld = 1000
)

// entry is one line of narration before wrapping.
type entry struct {
	text string
	// background entries give way to later ones.
	background bool
	// progress entries give way to each other only, and go before the rest.
	progress bool
	// tool entries are counted when they give way: a person must be able to know
	// that tools ran (L1S-3).
	tool bool
	left int // tool entries that gave way to this one
}

func (e entry) line() string {
	if e.left == 0 {
		return e.text
	}

	return fmt.Sprintf("%s (%s left out)", e.text, legible.Counted(int64(e.left), "earlier tool line"))
}

// screen is what has been printed, what waits and what is held.
type screen struct {
	progress   *entry    // the latest of these: how far the work is, nothing else tells
	waiting    *entry    // the latest other background entry
	background time.Time // when a background entry was last printed

	held     []entry
	dropped  int       // held entries beyond maxHeld
	told     time.Time // when the number of held entries was last told
	toldMany int       // what was told then
}

// narrate prints an entry, or lets it wait or holds it.
func (t *Terminal) narrate(e entry) {
	if !e.background || (e.tool && t.holding()) { // what is held has no rate to keep
		t.giveWay()
		t.emit(e)

		return
	}

	s := &t.screen
	if e.progress {
		s.progress = &e

		return
	}

	if s.waiting != nil {
		e.left = s.waiting.left
		if s.waiting.tool {
			e.left++
		}
	}

	s.waiting = &e
}

// interrupt prints critical text at once, past everything that is held.
func (t *Terminal) interrupt(text string) {
	if !t.holding() {
		t.giveWay()
	}

	t.print(Narration, text)
}

// giveWay ends the wait of a background entry because something else follows:
// progress and states are superseded, tools are told.
func (t *Terminal) giveWay() {
	s := &t.screen
	s.progress = nil

	if s.waiting == nil {
		return
	}

	waiting := *s.waiting
	s.waiting = nil

	if waiting.tool || waiting.left > 0 {
		t.emit(waiting)
	}
}

func (t *Terminal) emit(e entry) {
	if !t.holding() {
		t.print(Narration, e.line())

		return
	}

	s := &t.screen
	s.held = append(s.held, e)

	if len(s.held) > maxHeld {
		s.held = slices.Delete(s.held, 0, 1)
		s.dropped++
	}
}

// holding is true while a question is open: its text and the answer to it are
// not to be torn apart.
func (t *Terminal) holding() bool { return len(t.open()) > 0 }

// heldCount is how many entries wait for "go on".
func (t *Terminal) heldCount() int {
	n := len(t.screen.held) + t.screen.dropped

	for _, e := range []*entry{t.screen.waiting, t.screen.progress} {
		if e != nil {
			n++
		}
	}

	return n
}

// release prints everything that was held.
func (t *Terminal) release() {
	s := &t.screen

	if s.dropped > 0 {
		t.print(Narration, fmt.Sprintf("%s left out.", legible.Counted(int64(s.dropped), "earlier line")))
	}

	for _, e := range s.held {
		t.print(Narration, e.line())
	}

	for _, e := range []*entry{s.waiting, s.progress} {
		if e != nil {
			t.print(Narration, e.line())
			s.background = t.now
		}
	}

	s.waiting, s.progress, s.held, s.dropped, s.toldMany = nil, nil, nil, 0, 0
}

// refresh says what the time has come for: the latest background entry, or that
// lines are held.
func (t *Terminal) refresh() {
	s := &t.screen

	if due := t.screenDue(); due.IsZero() || due.After(t.now) {
		return
	}

	if t.holding() {
		t.tellHeld()

		return
	}

	next := &s.waiting
	if s.progress != nil {
		next = &s.progress
	}

	t.print(Narration, (*next).line())
	*next, s.background = nil, t.now
}

func (t *Terminal) tellHeld() {
	s := &t.screen
	s.told, s.toldMany = t.now, t.heldCount()
	t.promptf("%s held; type go on.", legible.Counted(int64(s.toldMany), "line"))
}

func (t *Terminal) screenDue() time.Time {
	s := &t.screen

	switch {
	case t.holding() && t.heldCount() == s.toldMany:
		return time.Time{}
	case t.holding() && s.told.IsZero():
		return t.now
	case t.holding():
		return s.told.Add(heldEvery)
	case s.waiting == nil && s.progress == nil:
		return time.Time{}
	case s.background.IsZero():
		return t.now
	default:
		return s.background.Add(backgroundEvery)
	}
}

func (t *Terminal) print(to Stream, text string) {
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
