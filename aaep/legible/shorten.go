package legible

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Cut returns the longest beginning of a text that has at most so many characters (code
// points), and the rest. It ends with a word where one ends in its last quarter, and never
// splits what a reader sees as one character.
func Cut(text string, most int) (head, rest string) {
	end := runesIn(text, most)
	if end == len(text) {
		return text, ""
	}
	if next, _ := utf8.DecodeRuneInString(text[end:]); !unicode.IsSpace(next) {
		if word := LastWord(text[:end]); word > end*3/4 {
			end = word
		}
	}
	end = Whole(text, end)
	return text[:end], text[end:]
}

// runesIn is how many bytes the first runes of a text take.
func runesIn(text string, runes int) int {
	if len(text) <= runes {
		return len(text)
	}
	for i := range text {
		if runes <= 0 {
			return i
		}
		runes--
	}
	return len(text)
}

// LastWord is where the last word of a text begins: behind its last space, which may be the
// text's end; 0 where it has no space.
func LastWord(text string) int {
	at := strings.LastIndexFunc(text, unicode.IsSpace)
	if at < 0 {
		return 0
	}
	_, size := utf8.DecodeRuneInString(text[at:])
	return at + size
}

// Closing is what closes the isolates that a text leaves open.
func Closing(text string) string {
	open := 0
	for _, r := range text {
		switch {
		case r == PopIsolate:
			open = max(0, open-1)
		case isolate(r):
			open++
		}
	}
	return strings.Repeat(string(PopIsolate), open)
}

// Shorten cuts a text as [Cut] does and ends it with "…". It closes the isolates that the
// cut left open; neither is counted.
func Shorten(text string, most int) string {
	head, rest := Cut(text, most)
	if rest == "" {
		return text
	}
	return strings.TrimRightFunc(head, unicode.IsSpace) + "…" + Closing(head)
}
