package session

import (
	"bytes"
	"fmt"
	"slices"
	"unicode"
	"unicode/utf8"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/aaep/legible"
)

// output is one text of a session, measured in the three units in which producers are
// known to count (C-33): code points, which are right, UTF-16 units, and bytes.
type output struct {
	id       []byte
	at       int64 // the message with its first chunk
	sizes    [3]int64
	fits     [3]bool // every position so far agrees with this unit
	anywhere bool    // where it begins is not known
	begun    bool
	noted    bool
	position int64 // of the last chunk
	tail     []byte
	sentence bool // the last chunk is said to end a sentence
}

// tailBytes is how much of a text is kept to tell whether the next chunk begins inside
// a character. Longer sequences than this are not written by anybody.
const tailBytes = 64

func (s *judged) streamed(f *facts, r *report) {
	if s.isUsed(ofOutput, f.outputID) {
		s.overrun(f, r)
		return
	}
	i := s.output(f.outputID)
	if i < 0 {
		i = s.openOutput(f, r)
	}
	o := &s.outputs[i]
	if f.positioned {
		o.checkPosition(f, s.view(), r)
	}
	o.joins(f, r)
	o.hinted(f, r)
	o.measure(f.chunk)
	o.begun = true
	if f.complete {
		s.rememberUsed(ofOutput, f.outputID)
		s.forgetOutput(i)
	}
}

func (s *judged) output(id []byte) int {
	for i := range s.outputs {
		if bytes.Equal(s.outputs[i].id, id) {
			return i
		}
	}
	return -1
}

// openOutput begins a text, in room that an earlier one took.
func (s *judged) openOutput(f *facts, r *report) int {
	if len(s.outputs) >= maxEach {
		s.crowd("outputs", "SEQ-31", "§4.5.4", r)
		s.forgetOutput(0)
	}
	n := len(s.outputs)
	if n < cap(s.outputs) {
		s.outputs = s.outputs[:n+1]
	} else {
		s.outputs = append(s.outputs, output{})
	}
	o := &s.outputs[n]
	if o.tail == nil {
		o.tail = make([]byte, 0, 2*tailBytes)
	}
	*o = output{id: append(o.id[:0], f.outputID...), tail: o.tail[:0], at: f.number, fits: [3]bool{true, true, true}, anywhere: s.late}
	return n
}

// forgetOutput takes the output i out and keeps its room.
func (s *judged) forgetOutput(i int) {
	spare := s.outputs[i]
	copy(s.outputs[i:], s.outputs[i+1:])
	s.outputs[len(s.outputs)-1] = spare
	s.outputs = s.outputs[:len(s.outputs)-1]
}

// overrun judges a chunk behind the last one.
func (s *judged) overrun(f *facts, r *report) {
	rules := []string{"SEQ-32"}
	if f.complete {
		rules = append(rules, "SEQ-31")
	}
	if len(f.outputID) == 0 {
		rules = append(rules, "SEQ-33")
	}
	r.error("/complete", "§4.5.4", fmt.Sprintf("found a chunk of the output %q behind its complete=true, expected none", f.outputID), rules...)
}

// checkPosition judges the position: 0 first, then as much as was emitted. A listener understands
// a stream that counts in another unit throughout (C-33), and is told once. Where text
// may have been kept back, a gap weighs less (C-34).
func (o *output) checkPosition(f *facts, v *view, r *report) {
	was := o.position
	o.position = f.position
	if o.anywhere {
		o.anywhere = false
		o.resume(f.position)
		return
	}
	for unit, size := range o.sizes {
		o.fits[unit] = o.fits[unit] && f.position == size
	}
	switch {
	case o.fits[0]:
		return
	case o.begun && slices.Contains(o.fits[:], true):
		if v.Mode != aaep.ModeConsumer {
			r.error("/position", "§4.3.3", fmt.Sprintf("found position %d, which counts %s; expected %d, the code points so far", f.position, o.unit(), o.sizes[0]), "SEQ-34")
			o.count(f.position)
			return
		}
		if !o.noted {
			o.noted = true
			r.info("SEQ-34", "§4.3.3", fmt.Sprintf("the positions of this output count %s, expected code points", o.unit()))
		}
		return
	case o.begun && f.position < was:
		r.error("/position", "§4.3.3", fmt.Sprintf("found position %d behind %d, expected %d", f.position, was, o.sizes[0]), "SEQ-34", "SEQ-35")
	case v.Terms != nil && f.position > o.sizes[0]:
		r.warn("/position", "§4.3.3", fmt.Sprintf("found position %d, expected %d, the code points so far; text between them is missing", f.position, o.sizes[0]), "SEQ-34")
	default:
		r.error("/position", "§4.3.3", fmt.Sprintf("found position %d, expected %d, the code points so far", f.position, o.sizes[0]), "SEQ-34")
	}
	o.resume(f.position)
}

// unit names the units in which every position so far is right.
func (o *output) unit() string {
	switch {
	case o.fits[1] && o.fits[2]:
		return "UTF-16 units or bytes"
	case o.fits[1]:
		return "UTF-16 units"
	default:
		return "bytes"
	}
}

// resume goes on from a position that does not follow, so that one mistake is told
// once. What stands before it is not known.
func (o *output) resume(position int64) {
	o.count(position)
	o.tail = o.tail[:0]
}

// count goes on counting from a position.
func (o *output) count(position int64) {
	o.sizes = [3]int64{position, position, position}
	o.fits = [3]bool{true, true, true}
}

// joins judges that no chunk begins inside what a reader sees as one character
// (I18N-29).
func (o *output) joins(f *facts, r *report) {
	if len(o.tail) == 0 || len(f.chunk) == 0 {
		return
	}
	if last := o.tail[len(o.tail)-1]; last < utf8.RuneSelf && f.chunk[0] < utf8.RuneSelf && last != '\r' {
		return
	}
	if splits(string(o.tail), string(f.chunk[:min(len(f.chunk), utf8.UTFMax)])) {
		r.error("/chunk", "§11.3.3", fmt.Sprintf("found %+q at the beginning, which belongs to the character before it; expected a cut between characters", firstOf(f.chunk)), "I18N-29")
	}
}

// splits reports whether a chunk goes on inside the character that ends the text so
// far. One that is longer than what is kept of the text has to be cut somewhere.
func splits(tail, chunk string) bool {
	if !legible.Joined(tail, chunk) {
		return false
	}
	_, last := utf8.DecodeLastRuneInString(tail)
	return len(tail) <= tailBytes-utf8.UTFMax || legible.Whole(tail, len(tail)-last) > 0
}

func firstOf(text []byte) rune {
	r, _ := utf8.DecodeRune(text)
	return r
}

// hinted judges that a chunk which is said to end a sentence does (BP-13). A full stop
// without a space behind it is decided by what comes next.
func (o *output) hinted(f *facts, r *report) {
	if o.sentence && len(f.chunk) > 0 && !unicode.IsSpace(firstOf(f.chunk)) {
		r.warn("/chunk", "§5.6.3", "found text that goes on right behind the end of a sentence, expected a space at the boundary", "BP-13")
	}
	o.sentence = false
	if string(f.hint) != string(aaep.BoundarySentence) || f.complete || len(f.chunk) == 0 {
		return
	}
	ended, spaced := sentenceEnd(f.chunk)
	if !ended {
		r.warn("/coalesce_hint", "§5.6.3", "found the hint sentence on a chunk that ends inside of one, expected a full stop, an exclamation or a question mark at its end", "BP-13")
	}
	o.sentence = ended && !spaced
}

// sentenceEnd reports whether a text ends with a sentence, and with space behind it
// (or needs none: scripts that are written without).
func sentenceEnd(text []byte) (ended, spaced bool) {
	for len(text) > 0 {
		last, size := utf8.DecodeLastRune(text)
		switch {
		case unicode.IsSpace(last):
			spaced = true
		case endsSentence(last):
			return true, spaced || last > 0x2FFF
		case !unicode.In(last, unicode.Pe, unicode.Pf, unicode.Pi) && last != '"' && last != '\'' && last != '*' && last != '_':
			return false, spaced
		}
		text = text[:len(text)-size]
	}
	return false, spaced
}

// endsSentence reports whether a character ends a sentence, in the scripts of today.
func endsSentence(r rune) bool {
	switch r {
	case '.', '!', '?', '…', '‼', '⁇', '⁈', '⁉', '؟', '۔', '।', '॥', '。', '．', '！', '？', '։', '።', '፧', '។':
		return true
	default:
		return false
	}
}

// measure adds a chunk to the text.
func (o *output) measure(chunk []byte) {
	points := utf8.RuneCount(chunk)
	pairs := 0 // code points that take two UTF-16 units
	if points < len(chunk) {
		for _, b := range chunk {
			if b >= 0xF0 {
				pairs++
			}
		}
	}
	o.sizes[0] += int64(points)
	o.sizes[1] += int64(points + pairs)
	o.sizes[2] += int64(len(chunk))
	o.tail = tailOf(o.tail, chunk)
}

// tailOf appends a chunk to what is kept of a text, in the same memory, and drops what
// is too far from its end.
func tailOf[T []byte | string](tail []byte, chunk T) []byte {
	if len(chunk) >= tailBytes {
		tail, chunk = tail[:0], chunk[len(chunk)-tailBytes:]
	}
	tail = append(tail, chunk...)
	from := max(0, len(tail)-tailBytes)
	for from < len(tail) && !utf8.RuneStart(tail[from]) { // also where the chunk itself was cut
		from++
	}
	return append(tail[:0], tail[from:]...)
}
