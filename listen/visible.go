package listen

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// The isolates of the Unicode bidirectional algorithm, and the two joiners.
const (
	leftIsolate  = '\u2066'
	rightIsolate = '\u2067'
	firstIsolate = '\u2068'
	popIsolate   = '\u2069'
	joiner       = '\u200d'
	nonJoiner    = '\u200c'
)

// visibleText makes readable text of an event safe to print. Whatever could act
// on the terminal, or cannot be seen, is written as its name: <U+001B>. Line
// breaks stay, because the wrapping indents what follows them; isolates stay
// where they are paired, because producers put them round values.
func visibleText(text string) string {
	text = strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\t", " ")

	var out strings.Builder

	paired := pairedIsolates(text)

	for i, r := range text {
		switch {
		case r == '\n', r == joiner, r == nonJoiner, paired[i]:
			out.WriteRune(r)
		default:
			writeVisible(&out, text[i:], r)
		}
	}

	return out.String()
}

// visibleValue shows a foreign value, such as a path, exactly: isolated, so that
// its direction cannot reorder what stands round it, with every line break,
// joiner without a neighbour to join, outer or doubled space written out, and
// with no way to write such a name itself.
func visibleValue(value string) string {
	var out strings.Builder

	out.WriteRune(firstIsolate)

	runes := []rune(value)
	at := 0

	for i, r := range value {
		first, last := at == 0, i+utf8.RuneLen(r) >= len(value)

		switch {
		case r == ' ' && (first || last || runes[at-1] == ' '):
			writeName(&out, r)
		case strings.HasPrefix(value[i:], "<U+"):
			writeName(&out, r)
		case (r == joiner || r == nonJoiner) && !first && !last && joins(runes[at-1]) && joins(runes[at+1]):
			out.WriteRune(r)
		case r == joiner || r == nonJoiner:
			writeName(&out, r)
		default:
			writeVisible(&out, value[i:], r)
		}

		at++
	}

	out.WriteRune(popIsolate)

	return out.String()
}

// writeVisible writes r, the first character of rest, or its name.
func writeVisible(out *strings.Builder, rest string, r rune) {
	switch {
	case r == utf8.RuneError && !strings.HasPrefix(rest, "\uFFFD"):
		fmt.Fprintf(out, "<0x%02X>", rest[0])
	case showsItself(r):
		out.WriteRune(r)
	default:
		writeName(out, r)
	}
}

func writeName(out *strings.Builder, r rune) { fmt.Fprintf(out, "<U+%04X>", r) }

// showsItself is true for letters, marks, numbers, punctuation, symbols and
// spaces, except the few of them that show nothing.
func showsItself(r rune) bool {
	switch r {
	case '\u034f', '\u115f', '\u1160', '\u17b4', '\u17b5', '\u2800', '\u3164', '\uffa0', '\ufffc':
		return false
	default:
		return unicode.In(r, unicode.L, unicode.M, unicode.N, unicode.P, unicode.S, unicode.Zs)
	}
}

// joins is true for what a joiner may stand beside: letters and marks of scripts
// that join, and the symbols that emoji are made of.
func joins(r rune) bool {
	return r > unicode.MaxASCII && unicode.In(r, unicode.L, unicode.M, unicode.So, unicode.Sk)
}

// pairedIsolates finds the isolates that have a partner on the same line. The
// keys are byte offsets.
func pairedIsolates(text string) map[int]bool {
	var (
		paired map[int]bool
		opened []int
	)

	for i, r := range text {
		switch r {
		case leftIsolate, rightIsolate, firstIsolate:
			opened = append(opened, i)
		case '\n':
			opened = nil
		case popIsolate:
			if len(opened) == 0 {
				continue
			}

			if paired == nil {
				paired = map[int]bool{}
			}

			paired[opened[len(opened)-1]], paired[i] = true, true
			opened = opened[:len(opened)-1]
		}
	}

	return paired
}
