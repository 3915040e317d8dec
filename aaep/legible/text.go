package legible

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// The isolates of the Unicode bidirectional algorithm, and the two joiners: marks that
// producers put round values and that scripts are written with.
const (
	LeftIsolate  = '\u2066'
	RightIsolate = '\u2067'
	FirstIsolate = '\u2068'
	PopIsolate   = '\u2069'
	Joiner       = '\u200d'
	NonJoiner    = '\u200c'
)

// Text makes prose safe to show. Line breaks stay, tabs become spaces, and so do the
// joiners that scripts are written with; isolates stay where they are paired on one line,
// because producers put them round values. What hides is named, and runs of it are counted:
// <U+200B ×12>. Bytes that are not UTF-8 are named too: <0xFF>.
func Text(text string) string {
	text = strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\t", " ")
	var out names
	paired := pairedIsolates(text)
	for i, r := range text {
		switch {
		case r == '\n', r == Joiner, r == NonJoiner, paired[i]:
			out.show(r)
		case r == utf8.RuneError && !strings.HasPrefix(text[i:], "\uFFFD"):
			out.noText(text[i])
		case showsItself(r):
			out.show(r)
		default:
			out.name(r)
		}
	}
	return out.String()
}

// Line is [Text] on one line: every run of blanks and line breaks is one space.
func Line(text string) string { return Text(oneBlank(text)) }

func oneBlank(text string) string {
	return strings.Join(strings.FieldsFunc(text, func(r rune) bool {
		return r == ' ' || r == '\n' || r == '\r' || r == '\t' || r == '\u2028' || r == '\u2029'
	}), " ")
}

// showsItself is true for letters, marks, numbers, punctuation, symbols and spaces, except
// the few of them that show nothing.
func showsItself(r rune) bool {
	switch r {
	case '\u034f', '\u115f', '\u1160', '\u17b4', '\u17b5', '\u2800', '\u3164', '\uffa0', '\ufffc':
		return false
	default:
		return unicode.In(r, unicode.L, unicode.M, unicode.N, unicode.P, unicode.S, unicode.Zs)
	}
}

func isolate(r rune) bool { return r >= LeftIsolate && r <= PopIsolate }

// pairedIsolates finds the isolates that have a partner on the same line. The keys are
// byte offsets.
func pairedIsolates(text string) map[int]bool {
	var (
		paired map[int]bool
		opened []int
	)
	for i, r := range text {
		switch r {
		case LeftIsolate, RightIsolate, FirstIsolate:
			opened = append(opened, i)
		case '\n':
			opened = nil
		case PopIsolate:
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
