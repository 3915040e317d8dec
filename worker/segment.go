package worker

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/earshot-dev/earshot/api"
)

// sentenceCut is the end of the last whole sentence, with the spaces behind it; 0 for none.
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

// wordBoundary is the last place at which a text that goes on can be cut without cutting a word;
// 0 for none. In scripts that are written without spaces that is between two characters,
// of which the second one is known: a mark might belong to the first.
func wordBoundary(text string) int {
	text = text[:min(len(text), api.AgentTextLimit)]
	for i := len(text); i > 0; {
		before, size := utf8.DecodeLastRuneInString(text[:i])
		if before == utf8.RuneError && size == 1 { // the limit has cut a character
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

// unspaced are the letters of scripts that are written without spaces, and of which no
// two are one character to a reader.
func unspaced(r rune) bool {
	return r == '。' || r == '、' || unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana) && unicode.IsLetter(r)
}

// anyCut is as much of a text as one piece may hold.
func anyCut(text string) int {
	n := min(len(text), api.AgentTextLimit)
	for n < len(text) && n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	return n
}
