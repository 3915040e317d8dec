package legible

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/bidi"
)

// maxMarks is how many combining marks one letter may carry unnamed; the scripts that
// stack most need three or four.
const maxMarks = 4

const ideographicSpace = '\u3000'

// Value shows a foreign value, such as a path, exactly and on one line: isolated where its
// direction could reorder the sentence round it, which is written from left to right, and with the
// name of every character that a reader could miss or that could act on a terminal. Those are controls, direction marks,
// unusual spaces, spaces at an end or in a row, joiners where no script needs them, stacked
// marks, private and unassigned characters, letters of another script inside a word, and what
// another spelling of the same letter would hide: a text that is not in normal form C looks
// other than one that is. It is never normalised: what is read out is what was hashed. Two
// values that differ are shown differently, and none can write a name itself.
func Value(value string) string {
	shown := reveal(value, false)
	if !reorders(shown) {
		return shown
	}
	return string(FirstIsolate) + shown + string(PopIsolate)
}

// reorders reports whether a text has characters that are written from right to left, or that make
// others so. Only these can change the order of a sentence that is written from left to right;
// isolates round anything else are noise for who reads by braille or looks at the bytes.
func reorders(text string) bool {
	for i := 0; i < len(text); {
		if text[i] < utf8.RuneSelf {
			i++
			continue
		}
		p, size := bidi.LookupString(text[i:])
		switch p.Class() { //nolint:exhaustive // all others leave the order as it is
		case bidi.R, bidi.AL, bidi.AN, bidi.Control:
			return true
		}
		i += max(size, 1)
	}
	return false
}

// Source shows several lines of a foreign text by the rules of [Value], such as arguments in
// JSON, but for line breaks, tabs and plain spaces, which stay.
func Source(text string) string { return reveal(text, true) }

// Plain reports whether [Value] shows a value as it is: printable ASCII with nothing to name.
func Plain(value string) bool { return plain(value, false) }

// reveal names what hides; layout is what a text of several lines is laid out with.
func reveal(text string, layout bool) string {
	if plain(text, layout) {
		return text
	}
	v := newView(text, layout)
	var out names
	named := false // a mark would join with the bracket of a name
	at := 0
	for i, r := range text {
		switch {
		case r == utf8.RuneError && !strings.HasPrefix(text[i:], "\uFFFD"):
			out.noText(text[i])
			named = true
		case v.respelt[at] || (named && unicode.Is(unicode.M, r)) || v.hidden(at):
			out.name(r)
			named = true
		default:
			out.show(r)
			if named = v.strange[at]; named {
				out.name(r)
			}
		}
		at++
	}
	return out.String()
}

// plain reports whether a text is printable ASCII without anything to name: the common
// case, decided without allocating.
func plain(text string, layout bool) bool {
	for i := range len(text) {
		c := text[i]
		switch {
		case layout && (c == '\n' || c == '\t'):
		case c < ' ' || c > '~':
			return false
		case c == ' ' && !layout && (i == 0 || i == len(text)-1 || text[i-1] == ' '):
			return false
		case c == '<' && (strings.HasPrefix(text[i:], "<U+") || strings.HasPrefix(text[i:], "<0x")):
			return false
		}
	}
	return true
}

// view is a text as its characters, and those that need a name, by their index.
type view struct {
	runes            []rune
	layout           bool
	strange, respelt map[int]bool
}

func newView(text string, layout bool) view {
	runes := []rune(text)
	return view{runes: runes, layout: layout, strange: strangeLetters(runes), respelt: respelt(text)}
}

// hidden reports whether the character at i is to be named instead of shown.
func (v view) hidden(i int) bool {
	switch r := v.runes[i]; {
	case r == '\n' || r == '\t':
		return !v.layout
	case r == ' ':
		return !v.layout && v.edge(i)
	case r == '<': // nobody may write our names themselves
		next := string(v.runes[i+1 : min(i+3, len(v.runes))])
		return next == "U+" || next == "0x"
	case r == utf8.RuneError:
		return true
	case r == Joiner || r == NonJoiner:
		return !v.joins(i)
	case unicode.Is(unicode.Variation_Selector, r):
		return i == 0 || !unicode.In(v.runes[i-1], unicode.So, unicode.Han, unicode.Mongolian, unicode.Nd)
	case unicode.Is(unicode.M, r):
		return i == 0 || v.marksBefore(i) >= maxMarks || !showsItself(r)
	case r == ideographicSpace:
		return v.edge(i)
	default:
		return unicode.Is(unicode.Zs, r) || !showsItself(r)
	}
}

// edge reports whether a space stands at an end or behind one like it.
func (v view) edge(i int) bool {
	return i == 0 || i == len(v.runes)-1 || v.runes[i-1] == v.runes[i]
}

func (v view) marksBefore(i int) int {
	n := 0
	for i--; i >= 0 && n <= maxMarks && unicode.Is(unicode.M, v.runes[i]); i-- {
		n++
	}
	return n
}

// joins reports whether a joiner stands where its script uses it: between letters of a
// joining or an Indic script, or inside an emoji.
func (v view) joins(i int) bool {
	if i == 0 || i == len(v.runes)-1 {
		return false
	}
	before, after := v.runes[i-1], v.runes[i+1]
	if unicode.In(before, joiningScripts()...) && unicode.In(after, joiningScripts()...) {
		return true
	}
	emoji := unicode.In(before, unicode.So, unicode.Sk, unicode.Variation_Selector) && unicode.Is(unicode.So, after)
	return v.runes[i] == Joiner && emoji
}

func joiningScripts() []*unicode.RangeTable {
	return []*unicode.RangeTable{
		unicode.Arabic, unicode.Syriac, unicode.Mongolian, unicode.Nko, unicode.Mandaic,
		unicode.Devanagari, unicode.Bengali, unicode.Gurmukhi, unicode.Gujarati, unicode.Oriya,
		unicode.Tamil, unicode.Telugu, unicode.Kannada, unicode.Malayalam, unicode.Sinhala,
		unicode.Khmer, unicode.Myanmar, unicode.Tibetan,
	}
}
