package narrate

import (
	"unicode"
	"unicode/utf8"
)

// Caps of a readable string. They lie far below those of the protocol: nobody listens
// to sixteen thousand characters, and several such strings must fit into an event.
const (
	capTerse    = 300
	capNormal   = 2000
	capDetailed = 6000
	capField    = 3000
	capRequest  = 4000
	// capValue bounds one foreign value inside a sentence.
	capValue = 400
)

// cut returns the longest beginning of s that has at most limit characters and, where
// one is near, ends at a word; more is how many characters were left out.
func cut(s string, limit int) (head string, more int) {
	if len(s) <= limit {
		return s, 0
	}
	end, n := len(s), 0
	for i := range s {
		if n == limit {
			end = i
			break
		}
		n++
	}
	if end == len(s) {
		return s, 0
	}
	if word := lastSpace(s[:end]); word > end*3/4 {
		end = word
	}
	for end > 0 { // a mark or a joiner belongs to the letter before it
		r, _ := utf8.DecodeRuneInString(s[end:])
		if !unicode.Is(unicode.M, r) && r != zeroWidthJoiner {
			break
		}
		_, size := utf8.DecodeLastRuneInString(s[:end])
		end -= size
	}
	return s[:end], utf8.RuneCountInString(s[end:])
}

func lastSpace(s string) int {
	for i := len(s); i > 0; {
		r, size := utf8.DecodeLastRuneInString(s[:i])
		if unicode.IsSpace(r) {
			return i
		}
		i -= size
	}
	return 0
}
