package terminal

import (
	"time"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/aaep/announce"
)

// Settings configure a [Terminal]. The zero value is usable.
type Settings struct {
	// Width of the lines in columns; 80 when 0, and at least 20.
	Width int
	// Zone for the times that are shown; UTC when nil.
	Zone *time.Location
	// Verbosity is the length of the narration, normal when empty. Questions are always asked in full.
	Verbosity aaep.Verbosity
	// OneQuestion shows a question only once no other one is open; until then it is said to wait.
	OneQuestion bool
	// Person is the recorded name of the person who answers here; "" if unknown.
	Person string
	// Typed means that a person types the lines. What was typed before a question is then discarded, and a command
	// without a question gets a message. Otherwise the lines come from a pipe, and wait until there is a question for
	// them.
	Typed bool
	// Keys means that the terminal sends every key, to [Terminal.Keys], and an [Echo] displays it: then nothing is
	// printed inside the line that is being typed.
	Keys bool
	// Prompts means that the agent takes requests, see [Prompter].
	Prompts bool
	// Permits means that standing permissions can be given here, see [Permitter].
	Permits bool
	// NoInput is the flag by which nothing is read here, "" if there is none. Alone means that nobody answers anywhere else
	// either: then the end of a question says so, and nothing does before.
	NoInput string
	Alone   bool
	// Away reports whether the connection to the server is lost, so that what is known may be old. Nil is never.
	Away func() bool
}

// Terminal determines what a person at a terminal reads and what their commands do. The texts about events and
// questions come from an [announce.Announcer]; a Terminal lays them out, and reports the outcome of typed commands. It
// is a state machine without clock or I/O: every method takes the time, and returns effects. It is not safe for
// concurrent use.
type Terminal struct {
	settings  Settings
	now       time.Time
	out       []Effect
	announcer *announce.Announcer
	seen      aaep.Seen

	questions []*question // open ones, and accepted ones until they start
	highest   int         // highest number of a question
	screen    screen
	edit      editor
	code      bool   // the agent's text is within a block of code
	codeOf    string // the session whose text that is

	sent   map[int]request
	lastID int
	prompt int // the Send with the request that the agent works on; 0 is none
	// proposal waits for the next line; nil is none
	proposal *proposal

	queue      []string // lines of a pipe that wait for their question
	noise      int      // consecutive meaningless lines of a pipe
	ended      bool     // no more lines will come
	inputEnded bool     // nothing more can be answered here
	reported   bool     // InputEnded was sent
}

// request is what is known about an open Send.
type request struct {
	made     Request
	command  string // what was understood, such as "accept question 1"
	recorded string // the sentence that confirms it
}

// surfaceName is the name of a terminal in recorded answers.
const surfaceName = "terminal"

// New returns a machine that has received no events yet.
func New(s Settings) *Terminal {
	if s.Width == 0 {
		s.Width = defaultWidth
	}

	if s.Zone == nil {
		s.Zone = time.UTC
	}

	announcer := announce.New(announce.Preferences{
		Person: s.Person, Zone: s.Zone, Verbosity: s.Verbosity, OneQuestion: s.OneQuestion, Echo: announce.EchoElsewhere,
		Surface: announce.Surface{Name: surfaceName, Controls: announce.ControlsWords, Output: announce.OutputAsItComes},
	})

	return &Terminal{settings: s, announcer: announcer, sent: map[int]request{}}
}

// Resize changes the width of lines from here on.
func (t *Terminal) Resize(width int) {
	if width > 0 {
		t.settings.Width = width
	}
}

// Event processes one event. Repeats, by event ID, are ignored (C-43).
func (t *Terminal) Event(now time.Time, e aaep.Event) []Effect {
	return t.step(now, func() {
		if t.seen.Add(e.ID) {
			t.onEvent(e)
		}
	})
}

// Line processes one line of input, without its line end. It must not be called after the end of the input.
func (t *Terminal) Line(now time.Time, line string) []Effect {
	return t.step(now, func() { t.line(line) })
}

func (t *Terminal) line(line string) {
	switch {
	case t.ended:
	case t.settings.Typed:
		t.runCommand(parseCommand(line))
	default:
		t.queue = append(t.queue, line)
	}
}

// EndInput reports that no more lines will come.
func (t *Terminal) EndInput(now time.Time) []Effect {
	return t.step(now, func() { t.ended = true })
}

// Result processes the result of a request that was sent.
func (t *Terminal) Result(now time.Time, r Result) []Effect {
	return t.step(now, func() {
		if r.ID == t.prompt {
			t.finishPrompt(r)

			return
		}

		if sent, ok := t.sent[r.ID]; ok {
			delete(t.sent, r.ID)
			t.finish(sent, r)
		}
	})
}

// Tick does what is due; see [Terminal.Wake].
func (t *Terminal) Tick(now time.Time) []Effect { return t.step(now, func() {}) }

// Close prints what is still held: no more events will come.
func (t *Terminal) Close(now time.Time) []Effect {
	return t.step(now, func() {
		t.edit.clear()
		t.showAnnouncements(t.announcer.Flush(t.now))
		t.release()
	})
}

// Wake returns when [Terminal.Tick] must be called next; zero if never.
func (t *Terminal) Wake() time.Time {
	var next time.Time

	sooner := func(at time.Time) {
		if !at.IsZero() && (next.IsZero() || at.Before(next)) {
			next = at
		}
	}

	sooner(t.screenDue())
	sooner(t.announcer.Wake())

	for _, q := range t.questions {
		sooner(q.startDue())
		sooner(t.overDue(q))
	}

	return next
}

// Ready reports whether another line is wanted. It returns false while a pipe's lines pile up, so that they stay in the
// pipe and not in memory.
func (t *Terminal) Ready() bool { return !t.ended && len(t.queue) < maxQueue }

// maxQueue limits the waiting lines of a pipe.
const maxQueue = 64

func (t *Terminal) step(now time.Time, input func()) []Effect {
	t.now, t.out = now, nil

	input()

	if due := t.announcer.Wake(); !due.IsZero() && !due.After(now) {
		t.showAnnouncements(t.announcer.Tick(now))
	}

	t.showStarts()
	t.showOver()
	t.drain()
	t.refresh()

	if t.ended && !t.inputEnded && len(t.queue) == 0 && len(t.sent) == 0 {
		t.inputEnded = true
		t.announcer.SetControls(announce.ControlsNone)

		for _, q := range t.open() {
			t.cannotAnswer(q)
		}
	}

	if t.inputEnded && !t.reported && t.prompt == 0 { // the agent takes the last request first
		t.reported = true
		t.out = append(t.out, InputEnded{})
	}

	t.showTyped()

	return t.out
}

func (t *Terminal) send(made Request, word, recorded string) int {
	t.lastID++
	t.sent[t.lastID] = request{made: made, command: word, recorded: recorded}
	t.out = append(t.out, Send{ID: t.lastID, Request: made})

	return t.lastID
}
