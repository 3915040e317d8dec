package session

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/aaep/legible"
)

// TextOptions say what a [Text] is.
type TextOptions struct {
	// Boundary is where chunks may end; not said: sentence. none ends a chunk wherever the
	// writer stops, completion buffers the whole text.
	Boundary    aaep.CoalesceHint
	OutputID    string // out_ and letters or digits; "" is the one text of a session that names none
	ContentType string // not said: text/plain
	Language    string // where it differs from the session's
}

// maxChunk is how many bytes of a text are buffered at most; beyond, it is cut at a
// weaker boundary. A chunk stays within the advice for one string (§3.7), also when its
// bytes are all replaced.
const maxChunk = 4096

// Text is one output of a session, to be written to like a file. Chunks end at the
// chosen boundary and never inside a character of their reader; positions count code
// points; bytes that are not UTF-8 become U+FFFD. It is an [io.WriteCloser] and an
// [io.StringWriter].
type Text struct {
	emitter *Emitter
	options TextOptions
	buffer  []byte
	closed  bool
	refused error // why nothing can be written at all
}

// Output begins a text. Nothing is emitted before there is something to say. A text of
// which the OutputID was used in this session, or is being written to, refuses every
// Write with [CodeOutputComplete].
func (e *Emitter) Output(o TextOptions) *Text {
	if o.Boundary == "" {
		o.Boundary = aaep.BoundarySentence
	}
	t := &Text{emitter: e, options: o}
	inUse := func(other *Text) bool { return other.options.OutputID == o.OutputID }
	if slices.ContainsFunc(e.texts, inUse) || contains(e.session.state.UsedOutputs, o.OutputID) || e.session.state.output(o.OutputID) >= 0 {
		t.refused = refuse(CodeOutputComplete, "SEQ-32", fmt.Sprintf("the output %q was begun before; every text needs an output_id of its own", o.OutputID))
		return t
	}
	e.texts = append(e.texts, t)
	return t
}

// Write adds to the text, and emits what reaches a boundary. The error is an [*Error];
// behind Close, or the end of the session, it is [CodeOutputComplete].
func (t *Text) Write(p []byte) (int, error) {
	if err := t.mayWrite(); err != nil {
		return 0, err
	}
	t.buffer = append(t.buffer, p...)
	return len(p), t.emit()
}

// WriteString is [Text.Write] for a string.
func (t *Text) WriteString(s string) (int, error) {
	if err := t.mayWrite(); err != nil {
		return 0, err
	}
	t.buffer = append(t.buffer, s...)
	return len(s), t.emit()
}

func (t *Text) mayWrite() error {
	switch {
	case t.refused != nil:
		return t.refused
	case t.closed:
		return refuse(CodeOutputComplete, "SEQ-32", "the text is closed; begin another")
	default:
		return t.emitter.session.open()
	}
}

// emit says what has reached a boundary.
func (t *Text) emit() error {
	for {
		n, boundary := t.ready()
		if n == 0 {
			return nil
		}
		if err := t.emitChunk(n, boundary); err != nil {
			return err
		}
	}
}

// Close emits what is left with complete=true. A second time does nothing. A text that
// was never written to is an empty one.
func (t *Text) Close() error {
	if t.closed || t.refused != nil {
		return t.refused
	}
	for len(t.buffer) > maxChunk {
		n, boundary := forced(valid(t.buffer))
		if err := t.emitChunk(n, boundary); err != nil {
			return err
		}
	}
	built, err := t.chunk(string(t.buffer), aaep.BoundaryCompletion, true)
	if built {
		t.forget()
	}
	return err
}

// forget closes the text without a word.
func (t *Text) forget() {
	t.closed, t.buffer = true, nil
	t.emitter.texts = slices.DeleteFunc(t.emitter.texts, func(other *Text) bool { return other == t })
}

// emitChunk emits the first n bytes of the buffer.
func (t *Text) emitChunk(n int, boundary aaep.CoalesceHint) error {
	built, err := t.chunk(string(t.buffer[:n]), boundary, false)
	if built {
		t.buffer = t.buffer[n:]
	}
	return err
}

// chunk emits one piece. One that was built is said, even if it was not taken: the emitter
// keeps it.
func (t *Text) chunk(text string, boundary aaep.CoalesceHint, complete bool) (built bool, err error) {
	if err := t.emitter.enter(aaep.StateWritingOutput); err != nil {
		return false, err
	}
	e := t.emitter
	event, err := e.session.Output(e.options.Now(), e.options.Rand, aaep.OutputStreaming{
		Chunk: strings.ToValidUTF8(text, "\uFFFD"), Complete: complete, CoalesceHint: boundary,
		OutputID: t.options.OutputID, ContentType: t.options.ContentType, Language: t.options.Language,
	})
	if err != nil {
		return false, err
	}
	return true, e.one(event, nil)
}

// ready is how much of the buffer may leave, and at which boundary it ends.
func (t *Text) ready() (int, aaep.CoalesceHint) {
	text := valid(t.buffer)
	if n := lastCut(text, t.options.Boundary); n > 0 && n <= maxChunk {
		return n, t.options.Boundary
	}
	if len(text) > maxChunk {
		return forced(text)
	}
	return 0, ""
}

// valid is the text without a code point at its end of which bytes are still missing.
func valid(text []byte) []byte {
	for i := len(text) - 1; i >= max(0, len(text)-utf8.UTFMax); i-- {
		if utf8.RuneStart(text[i]) {
			if !utf8.FullRune(text[i:]) {
				return text[:i]
			}
			break
		}
	}
	return text
}

// forced cuts a text that is longer than a piece.
func forced(text []byte) (int, aaep.CoalesceHint) { return Cut(text, maxChunk) }

// Cut is how many bytes of a text that is longer than room go first, and at which boundary they end: the strongest one in the
// second half of the room, a paragraph before a sentence before a word. It never divides a character of a reader, unless that
// alone has no room.
func Cut[T []byte | string](text T, limit int) (int, aaep.CoalesceHint) {
	chunk := valid([]byte(text[:min(len(text), limit)]))
	for _, boundary := range []aaep.CoalesceHint{aaep.BoundaryParagraph, aaep.BoundarySentence, aaep.BoundaryWord, aaep.BoundaryNone} {
		if n := lastCut(chunk, boundary); n > len(chunk)/2 {
			return n, boundary
		}
	}
	_, first := utf8.DecodeRune([]byte(text[:min(len(text), utf8.UTFMax)]))
	return max(len(chunk), first), aaep.BoundaryNone // one character that fills the piece
}

// EndOf is the boundary at which a text ends that may go on.
func EndOf(text string) aaep.CoalesceHint {
	last, _ := utf8.DecodeLastRuneInString(text)
	raw := []byte(text)
	switch spaced := unicode.IsSpace(last) && !legible.Joined(text, "x"); {
	case spaced && ends(raw, aaep.BoundaryParagraph):
		return aaep.BoundaryParagraph
	case ends(raw, aaep.BoundarySentence):
		return aaep.BoundarySentence
	case spaced:
		return aaep.BoundaryWord
	}
	return aaep.BoundaryNone
}

// lastCut is the last place at which a text, that goes on, can be cut at a boundary; 0
// where there is none. What stands behind the place is known: a mark that belongs to
// the space before it would be cut off otherwise.
func lastCut(text []byte, boundary aaep.CoalesceHint) int {
	if boundary == aaep.BoundaryCompletion || len(text) == 0 {
		return 0
	}
	_, last := utf8.DecodeLastRune(text)
	if boundary == aaep.BoundaryNone {
		return legible.Whole(string(text), len(text)-last)
	}
	for i := len(text) - last; i > 0; {
		before, size := utf8.DecodeLastRune(text[:i])
		behind, _ := utf8.DecodeRune(text[i:])
		if unicode.IsSpace(before) && !unicode.IsSpace(behind) && ends(text[:i], boundary) &&
			!legible.Joined(string(text[max(0, i-tailBytes):i]), string(text[i:min(len(text), i+utf8.UTFMax)])) {
			return i
		}
		i -= size
	}
	return 0
}

// ends reports whether a text that ends with space ends with a word, a sentence or a
// paragraph.
func ends(text []byte, boundary aaep.CoalesceHint) bool {
	switch boundary {
	case aaep.BoundarySentence:
		ended, spaced := sentenceEnd(text)
		return ended && spaced
	case aaep.BoundaryParagraph:
		space := text[len(bytes.TrimRightFunc(text, unicode.IsSpace)):]
		return bytes.Count(space, []byte("\n")) > 1
	default:
		return true
	}
}
