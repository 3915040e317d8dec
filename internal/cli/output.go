package cli

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"golang.org/x/term"

	"github.com/earshot-dev/earshot/aaep/legible"
	"github.com/earshot-dev/earshot/internal/cause"
	"github.com/earshot-dev/earshot/internal/surface/terminal"
)

// Explain writes the error and its hint, on separate lines.
func (m *Program) Explain(f *cause.Error) {
	m.Notef("error: %s", cause.OneLine(f.Message))
	if f.Hint != "" {
		m.Notef("hint: %s", cause.OneLine(f.Hint))
	}
}

// Notef writes one line to standard error. It ignores errors: if standard error is closed, nobody can be informed.
func (m *Program) Notef(format string, args ...any) {
	_ = writeLine(m.Stderr, fmt.Sprintf(format, args...))
}

// Note writes one line to standard error unchanged.
func (m *Program) Note(line string) { m.Notef("%s", line) }

// Printf writes one line of the result. Write errors are checked at the end of the command, see [Program.OutputError].
func (m *Program) Printf(format string, args ...any) {
	m.printError(writeLine(m.Stdout, fmt.Sprintf(format, args...)))
}

func (m *Program) printError(err error) {
	if err != nil {
		m.unsaid.CompareAndSwap(nil, &err)
	}
}

// OutputError returns an error if standard output did not accept everything: a list in a file on a full disk is
// incomplete.
func (m *Program) OutputError() error {
	if err := m.unsaid.Load(); err != nil {
		return cause.Fail(*err, "the output could not be written", "make room on the disk")
	}
	return nil
}

// writeLine wraps a line for a terminal as the narration does; elsewhere it stays one line. Text for copying is not
// wrapped either: an indented line, and one with a word, such as an address, that is longer than a line.
func writeLine(w io.Writer, text string) error {
	if file, is := w.(*os.File); is && IsTerminal(file) && !strings.HasPrefix(text, " ") {
		width := WidthOf(file)()
		long := slices.ContainsFunc(strings.Fields(text), func(word string) bool { return width > 0 && utf8.RuneCountInString(word) > width })
		if !long {
			text = strings.Join(terminal.Wrap(text, width), "\n")
		}
	}
	_, err := io.WriteString(w, text+"\n")
	return err //nolint:wrapcheck // the caller says what it was
}

// TimeText formats a time in the zone that the person prefers; with its date if that is not today there, and with the year
// if that is another one.
func (m *Program) TimeText(at time.Time) string {
	now := m.Now()
	if zone := m.zone.Load(); zone != nil {
		now = now.In(zone)
	}
	at = at.In(now.Location())
	if at.YearDay() == now.YearDay() && at.Year() == now.Year() {
		return at.Format("15:04:05")
	}
	if at.Year() == now.Year() {
		return at.Format("2 Jan 15:04:05")
	}
	return at.Format("2 Jan 2006 15:04:05")
}

// Shown makes the text of events safe for a terminal, on one line.
func Shown(text string) string { return legible.Line(text) }

// IsTerminal reports whether a file is a terminal.
func IsTerminal(file *os.File) bool { return file != nil && term.IsTerminal(int(file.Fd())) }

// Write writes text to standard output unchanged, without a line break of its own.
func (m *Program) Write(text string) error {
	if _, err := fmt.Fprint(m.Stdout, text); err != nil {
		return cause.Fail(err, "the output could not be written", "")
	}
	return nil
}

// WidthOf returns a function for the current width of the terminal behind a writer, in columns; 0 if there is none.
func WidthOf(w io.Writer) func() int {
	file, isFile := w.(*os.File)
	return func() int {
		if !isFile {
			return 0
		}
		width, _, err := term.GetSize(int(file.Fd()))
		if err != nil {
			return 0
		}
		return width
	}
}

// WriteJSON writes one value as JSON.
func (m *Program) WriteJSON(value any) error {
	raw, err := json.Marshal(value, jsontext.Multiline(true), json.Deterministic(true))
	if err == nil {
		_, err = m.Stdout.Write(append(raw, '\n'))
	}
	if err != nil {
		return cause.Fail(err, "the answer could not be written", "")
	}
	return nil
}
