package terminal

import (
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// typingTime is how long news waits for the end of a line after the last key was pressed.
const typingTime = 20 * time.Second

// The keys that edit a line, as terminals send them.
const (
	keyEnd        = 0x04 // Ctrl-D: the end of the input, if the line is empty
	keyBackspace  = 0x08
	keyEraseLine  = 0x15 // Ctrl-U
	keyEraseWord  = 0x17 // Ctrl-W
	keyDelete     = 0x7f // what the Backspace key sends
	keyLast       = 0x1f // the last one that is shown as ^ and a letter
	keyLetterBase = 0x40
)

// editor is the line that is being typed, if the terminal sends every key.
type editor struct {
	line    []rune
	partial []byte    // an incomplete character
	shown   bool      // the line is on the screen, and the cursor after it
	last    time.Time // when a key was last pressed
}

// clear discards what has been typed.
func (e *editor) clear() { e.line, e.partial = nil, nil }

// until returns when news no longer waits for the line.
func (e *editor) until() time.Time { return e.last.Add(typingTime) }

// typing reports whether somebody is in the middle of a line: then only critical text is printed.
func (t *Terminal) typing() bool { return len(t.edit.line) > 0 && t.now.Before(t.edit.until()) }

// Keys processes pressed keys, in the order of their bytes; see [Settings.Keys].
func (t *Terminal) Keys(now time.Time, keys []byte) []Effect {
	return t.step(now, func() {
		e := &t.edit
		e.last = now
		keys = append(e.partial, keys...)
		e.partial = nil

		for len(keys) > 0 && !t.ended {
			if !utf8.FullRune(keys) {
				e.partial = append([]byte(nil), keys...)

				return
			}

			r, size := utf8.DecodeRune(keys)
			keys = keys[size:]
			t.key(r)
		}
	})
}

func (t *Terminal) key(r rune) {
	e := &t.edit

	switch {
	case r == '\n', r == '\r':
		line := string(e.line)
		e.clear()
		t.echo("\n")
		e.shown = false
		t.line(line)
	case r == keyEnd:
		t.ended = t.ended || len(e.line) == 0
	case r == keyBackspace, r == keyDelete:
		t.erase(1)
	case r == keyEraseLine:
		t.erase(len(e.line))
	case r == keyEraseWord:
		t.erase(lastWord(e.line))
	case len(string(e.line)) < maxLine:
		t.showTyped()
		e.line = append(e.line, r)
		t.echo(echoed(r))
		e.shown = true
	}
}

// erase removes the last n characters, each with its combining marks.
func (t *Terminal) erase(n int) {
	e := &t.edit

	for before := len(e.line); len(e.line) > 0 && before-len(e.line) < n; {
		all := clusters(string(e.line))
		last := all[len(all)-1]
		e.line = e.line[:len(e.line)-utf8.RuneCountInString(last.text)]

		columns := 0
		for _, c := range clusters(typedText([]rune(last.text))) {
			columns += c.columns
		}

		if e.shown {
			t.echo(strings.Repeat("\b \b", columns))
		}
	}

	e.shown = e.shown && len(e.line) > 0
}

// lastWord counts the characters of the last word and of the spaces after it.
func lastWord(line []rune) int {
	text := strings.TrimRightFunc(string(line), unicode.IsSpace)
	text = strings.TrimRightFunc(text, func(r rune) bool { return !unicode.IsSpace(r) })

	return len(line) - utf8.RuneCountInString(text)
}

// leaveTyped ends the screen line of what is being typed, so that nothing is printed inside it.
func (t *Terminal) leaveTyped() {
	if t.edit.shown {
		t.echo("\n")
		t.edit.shown = false
	}
}

// showTyped shows what is being typed again, after something was printed below it.
func (t *Terminal) showTyped() {
	if len(t.edit.line) > 0 && !t.edit.shown {
		t.echo(typedText(t.edit.line))
		t.edit.shown = true
	}
}

func (t *Terminal) echo(text string) {
	if n := len(t.out); n > 0 {
		if last, is := t.out[n-1].(Echo); is {
			t.out[n-1] = Echo{Text: last.Text + text}

			return
		}
	}

	t.out = append(t.out, Echo{Text: text})
}

// typedText returns how a typed line is displayed.
func typedText(line []rune) string {
	var b strings.Builder
	for _, r := range line {
		b.WriteString(echoed(r))
	}

	return b.String()
}

// echoed returns how a key is displayed: one that is not a character cannot control the screen.
func echoed(r rune) string {
	switch {
	case r <= keyLast:
		return "^" + string(r+keyLetterBase)
	case !unicode.IsPrint(r) && !unicode.Is(unicode.M, r):
		return "?"
	default:
		return string(r)
	}
}
