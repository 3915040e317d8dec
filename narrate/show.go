package narrate

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

const (
	firstStrongIsolate    = '\u2068'
	popDirectionalIsolate = '\u2069'

	zeroWidthNonJoiner = '\u200C'
	zeroWidthJoiner    = '\u200D'
	ideographicSpace   = '\u3000'

	// maxMarks is how many combining marks one letter may carry unnamed; the scripts
	// that stack most need three or four.
	maxMarks = 4
)

// showValue makes foreign text safe to stand inside a sentence: it is isolated, so
// that its direction cannot reorder what surrounds it, and whatever does not show
// itself is named. It is never normalised: what is read out is what was hashed.
func showValue(s string) string {
	return string(firstStrongIsolate) + nameHidden(s) + string(popDirectionalIsolate)
}

// nameHidden writes out the name, as <U+001B>, of every character that a reader could
// miss or that could act on a terminal: controls, direction marks, unusual spaces,
// spaces at an end or in a row, joiners where no script needs them, stacked marks,
// private and unassigned characters, letters of another script inside a word, and
// what another spelling of the same letter would hide: a text that is not in normal
// form C is shown so that it differs from one that is. Repeats are counted:
// <U+200B ×12>.
func nameHidden(s string) string {
	if plain(s) {
		return s
	}
	var out strings.Builder
	foreign := oddLetters(s)
	decomposed := notComposed(s)
	runes := []rune(s)
	named := false // a mark would join with the bracket of a name
	for i := 0; i < len(runes); {
		r := runes[i]
		n := 1
		switch {
		case decomposed[i] || named && unicode.Is(unicode.M, r):
			writeName(&out, r, 1)
		case hidden(runes, i):
			for i+n < len(runes) && runes[i+n] == r && hidden(runes, i+n) && !decomposed[i+n] {
				n++
			}
			writeName(&out, r, n)
		default:
			out.WriteRune(r)
			named = foreign[i]
			if named {
				writeName(&out, r, 1)
			}
			i++
			continue
		}
		named = true
		i += n
	}
	return out.String()
}

// plain reports whether s is printable ASCII without anything to name: the common
// case, decided without allocating.
func plain(s string) bool {
	for i := range len(s) {
		c := s[i]
		switch {
		case c < ' ' || c > '~':
			return false
		case c == ' ' && (i == 0 || i == len(s)-1 || s[i-1] == ' '):
			return false
		case c == '<' && strings.HasPrefix(s[i:], "<U+"):
			return false
		}
	}
	return true
}

func writeName(out *strings.Builder, r rune, n int) {
	if n == 1 {
		fmt.Fprintf(out, "<U+%04X>", r)
		return
	}
	fmt.Fprintf(out, "<U+%04X ×%d>", r, n)
}

// hidden reports whether the character at i is to be named instead of written.
func hidden(runes []rune, i int) bool {
	switch r := runes[i]; {
	case r == ' ':
		return i == 0 || i == len(runes)-1 || runes[i-1] == ' '
	case r == '<': // nobody may write our names themselves
		return i+2 < len(runes) && runes[i+1] == 'U' && runes[i+2] == '+'
	case r == utf8.RuneError:
		return true
	case r == zeroWidthJoiner || r == zeroWidthNonJoiner:
		return !joinerNeeded(runes, i)
	case unicode.Is(unicode.Variation_Selector, r):
		return i == 0 || !unicode.In(runes[i-1], unicode.So, unicode.Han, unicode.Mongolian, unicode.Nd)
	case invisibleLetter(r):
		return true
	case unicode.Is(unicode.M, r):
		return i == 0 || marksBefore(runes, i) >= maxMarks
	case r == ideographicSpace:
		return i == 0 || i == len(runes)-1 || runes[i-1] == ideographicSpace
	}
	return !unicode.In(runes[i], unicode.L, unicode.N, unicode.P, unicode.S)
}

// invisibleLetter knows the characters that count as letters or marks but show
// nothing.
func invisibleLetter(r rune) bool {
	switch r {
	case '\u034F', '\u115F', '\u1160', '\u17B4', '\u17B5', '\u2800', '\u3164', '\uFFA0', '\uFFFC':
		return true
	}
	return false
}

func marksBefore(runes []rune, i int) int {
	n := 0
	for i--; i >= 0 && n <= maxMarks && unicode.Is(unicode.M, runes[i]); i-- {
		n++
	}
	return n
}

// joinerNeeded reports whether a joiner stands where its script uses it: between
// letters of a joining or an Indic script, or inside an emoji.
func joinerNeeded(runes []rune, i int) bool {
	if i == 0 || i == len(runes)-1 {
		return false
	}
	before, after := runes[i-1], runes[i+1]
	if unicode.In(before, joiningScripts()...) && unicode.In(after, joiningScripts()...) {
		return true
	}
	emoji := unicode.In(before, unicode.So, unicode.Sk, unicode.Variation_Selector) && unicode.Is(unicode.So, after)
	return runes[i] == zeroWidthJoiner && emoji
}

func joiningScripts() []*unicode.RangeTable {
	return []*unicode.RangeTable{
		unicode.Arabic, unicode.Syriac, unicode.Mongolian, unicode.Nko, unicode.Mandaic,
		unicode.Devanagari, unicode.Bengali, unicode.Gurmukhi, unicode.Gujarati, unicode.Oriya,
		unicode.Tamil, unicode.Telugu, unicode.Kannada, unicode.Malayalam, unicode.Sinhala,
		unicode.Khmer, unicode.Myanmar, unicode.Tibetan,
	}
}

// notComposed marks, by their index, the characters because of which s is not in normal
// form C: all but the first of a letter that could be written shorter.
func notComposed(s string) map[int]bool {
	if norm.NFC.IsNormalString(s) {
		return nil
	}
	marked := map[int]bool{}
	at := 0
	for rest := s; rest != ""; {
		n := norm.NFC.NextBoundaryInString(rest, true)
		if n <= 0 {
			n = len(rest)
		}
		letter := rest[:n]
		length := utf8.RuneCountInString(letter)
		if !norm.NFC.IsNormalString(letter) {
			first, _ := utf8.DecodeRuneInString(letter)
			marked[at] = !norm.NFC.IsNormalString(string(first))
			for i := 1; i < length; i++ {
				marked[at+i] = true
			}
		}
		at += length
		rest = rest[n:]
	}
	return marked
}

// lookAlikes are the scripts whose letters pass for each other's.
func lookAlikes() []*unicode.RangeTable {
	return []*unicode.RangeTable{
		unicode.Latin, unicode.Cyrillic, unicode.Greek, unicode.Armenian, unicode.Cherokee, unicode.Coptic, unicode.Lisu,
	}
}

// oddLetters marks, by their index, the letters that belong to another script than
// most of their word, where the two scripts look alike.
func oddLetters(s string) map[int]bool {
	odd := map[int]bool{}
	runes := []rune(s)
	tables := lookAlikes()
	for from := 0; from < len(runes); {
		if !unicode.IsLetter(runes[from]) {
			from++
			continue
		}
		to := from
		for to < len(runes) && (unicode.IsLetter(runes[to]) || unicode.Is(unicode.M, runes[to])) {
			to++
		}
		markOdd(odd, runes, from, to, tables)
		from = to
	}
	return odd
}

func markOdd(odd map[int]bool, runes []rune, from, to int, tables []*unicode.RangeTable) {
	counts := make([]int, len(tables))
	scripts := make([]int, to-from)
	for i := from; i < to; i++ {
		scripts[i-from] = -1
		for t, table := range tables {
			if unicode.Is(table, runes[i]) {
				scripts[i-from] = t
				counts[t]++
			}
		}
	}
	most := 0
	for t, n := range counts {
		if n > counts[most] {
			most = t
		}
	}
	for i, script := range scripts {
		if script >= 0 && script != most {
			odd[from+i] = true
		}
	}
}
