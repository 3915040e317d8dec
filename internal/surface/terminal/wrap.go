package terminal

import (
	"strings"
	"unicode"

	"golang.org/x/text/width"

	"github.com/earshot-dev/earshot/aaep/legible"
)

const (
	// defaultWidth is used if the width of the terminal is not known.
	defaultWidth = 80
	// leastWidth is the minimum width of wrapped lines.
	leastWidth = 20
	// hanging indents every line but the first of an entry, so that no text can pass for a label.
	hanging = "  "
	// codeIndent begins a line that is not wrapped.
	codeIndent = "    "
	// fence begins and ends a block of code in Markdown.
	fence = "```"
)

// isCode reports whether a line is not wrapped, because its line breaks have a meaning.
func isCode(line string) bool { return strings.HasPrefix(line, codeIndent) }

// cluster is one grapheme cluster, with the number of columns that it fills.
type cluster struct {
	text    string
	columns int
}

// Wrap wraps a text into lines of at most columns columns, 80 if 0, like a [Terminal]: between words if possible, all
// but the first indented.
func Wrap(text string, columns int) []string {
	if columns == 0 {
		columns = defaultWidth
	}

	return wrap(text, columns)
}

// wrap wraps an entry into lines of at most columns columns, between words and never inside a cluster. A word that is
// longer than a line, such as a path or an address, gets a line of its own, as does a line of code: broken text cannot
// be copied, and is read out in pieces. Only East Asian text, which has no spaces, is broken inside. An isolate across
// a break is closed at the end of the line and opened again on the next, because the bidirectional algorithm starts
// anew on every line.
func wrap(text string, columns int) []string {
	w := wrapper{columns: max(columns, leastWidth)}

	for i, paragraph := range strings.Split(text, "\n") {
		if i > 0 && isCode(paragraph) {
			w.begin("")
			w.whole(paragraph)

			continue
		}

		if i > 0 {
			w.newLine()
		}

		for _, word := range words(paragraph) {
			w.addWord(word)
		}
	}

	w.flush()

	return w.lines
}

type wrapper struct {
	columns int
	lines   []string
	line    strings.Builder
	used    int    // columns of line that are filled
	fresh   bool   // line has only its indent
	open    []rune // isolates that are open at the end of line
}

// addWord adds one word to the line or to the next. One that is longer than a line gets its own; an East Asian one,
// which has no spaces, begins here and fills as many lines as it needs.
func (w *wrapper) addWord(word []cluster) {
	need, wide, path := 0, false, false

	for _, c := range word {
		need += c.columns
		wide = wide || c.columns > 1
		path = path || c.text == "/" || c.text == `\`
	}

	wide = wide && !path

	empty := w.used == 0 || w.fresh

	switch {
	case empty:
	case wide && w.used+3 < w.columns, w.used+1+need <= w.columns:
		w.add(cluster{text: " ", columns: 1})
	default:
		w.newLine()
	}

	for _, c := range word {
		if wide && w.used+c.columns > w.columns {
			w.newLine()
		}

		w.add(c)
	}
}

// whole adds a line unchanged.
func (w *wrapper) whole(line string) {
	for _, c := range clusters(line) {
		w.add(c)
	}
}

func (w *wrapper) add(c cluster) {
	w.line.WriteString(c.text)
	w.used += c.columns
	w.fresh = false

	for _, r := range c.text {
		switch r {
		case legible.LeftIsolate, legible.RightIsolate, legible.FirstIsolate:
			w.open = append(w.open, r)
		case legible.PopIsolate:
			w.open = w.open[:max(len(w.open)-1, 0)]
		}
	}
}

func (w *wrapper) newLine() { w.begin(hanging) }

// begin begins a line with an indent.
func (w *wrapper) begin(indent string) {
	w.flush()
	w.line.WriteString(indent)
	w.line.WriteString(string(w.open))
	w.used, w.fresh = len(indent), true
}

func (w *wrapper) flush() {
	for range w.open {
		w.line.WriteRune(legible.PopIsolate)
	}

	w.lines = append(w.lines, strings.TrimRight(w.line.String(), " "))
	w.line.Reset()
}

// words splits a paragraph at spaces.
func words(paragraph string) [][]cluster {
	fields := strings.FieldsFunc(paragraph, func(r rune) bool { return r == ' ' })
	list := make([][]cluster, 0, len(fields))

	for _, field := range fields {
		list = append(list, clusters(field))
	}

	return list
}

// clusters splits text into grapheme clusters: a letter with its marks, an emoji with its modifiers, a flag, a Hangul
// syllable, and the isolates together with what they enclose.
func clusters(text string) []cluster {
	var (
		list []cluster
		last rune
		flag bool // last is the first half of a flag
	)

	for _, r := range text {
		columns := runeColumns(r)
		half := r >= 0x1f1e6 && r <= 0x1f1ff
		together := len(list) > 0 &&
			(extends(r) || last == legible.Joiner || opensIsolate(last) || (flag && half) || hangulFollows(last, r))

		pair := flag && half
		flag = half && !pair
		last = r

		if !together {
			list = append(list, cluster{text: string(r), columns: columns})

			continue
		}

		c := &list[len(list)-1]
		c.text += string(r)
		c.columns = max(c.columns, columns)

		if pair || r == '\ufe0f' { // a flag, or the request for an emoji, fills two
			c.columns = 2
		}
	}

	return list
}

// extends reports whether the rune belongs to the character before it.
func extends(r rune) bool {
	return unicode.In(r, unicode.M) || r == legible.Joiner || r == legible.NonJoiner || r == legible.PopIsolate || (r >= 0x1f3fb && r <= 0x1f3ff)
}

func opensIsolate(r rune) bool {
	return r == legible.LeftIsolate || r == legible.RightIsolate || r == legible.FirstIsolate
}

// hangulFollows reports whether two jamo are drawn as one syllable.
func hangulFollows(before, r rune) bool {
	jamo := func(r rune) bool { return r >= 0x1100 && r <= 0x11ff }

	return jamo(before) && jamo(r) && r >= 0x1160
}

func runeColumns(r rune) int {
	if r < 0x7f {
		return 1
	}

	if unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf) || (r >= 0x1160 && r <= 0x11ff) {
		return 0
	}

	switch width.LookupRune(r).Kind() {
	case width.EastAsianWide, width.EastAsianFullwidth:
		return 2
	default:
		return 1
	}
}
