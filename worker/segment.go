package worker

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/earshot-dev/earshot/api"
)

// sentenceCut returns the end of the last whole sentence, including the spaces after it; 0 if there is none.
func sentenceCut(text string) int {
	end, stop := 0, false
	for i, r := range text {
		if i+utf8.RuneLen(r) > api.AgentTextLimit {
			break
		}
		space := unicode.IsSpace(r)
		if stop && space || r == '\n' && strings.HasSuffix(text[:i], "\n") {
			end = i + utf8.RuneLen(r)
		}
		switch {
		case strings.ContainsRune(".!?…。！？؟۔।॥։።", r):
			stop = true
		case !space && !strings.ContainsRune(")]}\"'”’»", r):
			stop = false
		}
	}
	return end
}

// wordBoundary returns the last place at which an unfinished text can be cut without cutting a word; 0 if there is
// none. In scripts without spaces it is between two characters of which the second is known, because a combining mark
// might belong to the first.
func wordBoundary(text string) int {
	text = text[:min(len(text), api.AgentTextLimit)]
	for i := len(text); i > 0; {
		before, size := utf8.DecodeLastRuneInString(text[:i])
		if before == utf8.RuneError && size == 1 { // the limit split a character
			i -= size
			continue
		}
		if unicode.IsSpace(before) {
			return i
		}
		if behind, _ := utf8.DecodeRuneInString(text[i:]); i < len(text) && unspaced(before) && unspaced(behind) {
			return i
		}
		i -= size
	}
	return 0
}

// unspaced reports whether a rune belongs to a script that is written without spaces and whose letters never join into
// one character for the reader.
func unspaced(r rune) bool {
	return r == '。' || r == '、' || unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana) && unicode.IsLetter(r)
}

// anyCut returns as much of a text as one piece may hold.
func anyCut(text string) int {
	n := min(len(text), api.AgentTextLimit)
	for n < len(text) && n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	return n
}
