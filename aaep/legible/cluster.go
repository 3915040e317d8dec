package legible

import (
	"unicode"
	"unicode/utf8"
)

// Joined reports whether a cut between the two texts would go through what a reader
// sees as one character: a letter and its marks, an emoji of several parts, a flag, a
// Hangul syllable, an Indic conjunct (extended grapheme clusters of UAX #29, in the
// version of Unicode that Go has).
func Joined(before, after string) bool {
	if before == "" || after == "" {
		return false
	}
	if before[len(before)-1] < utf8.RuneSelf && after[0] < utf8.RuneSelf {
		return before[len(before)-1] == '\r' && after[0] == '\n'
	}
	a, _ := utf8.DecodeLastRuneInString(before)
	b, _ := utf8.DecodeRuneInString(after)
	switch {
	case breaks(a) || breaks(b):
		return false
	case extends(b) || spaced(b) || unicode.Is(prepended, a):
		return true
	case unicode.Is(unicode.Regional_Indicator, a) && unicode.Is(unicode.Regional_Indicator, b):
		return odd(before)
	case a == Joiner && unicode.Is(pictographs, b):
		return pictured(before[:len(before)-len("\u200d")])
	case unicode.Is(consonants, b):
		return linked(before)
	default:
		return syllable(a, b)
	}
}

// Whole returns the last place at or before end at which a text can be cut so that no
// character of its reader is split; 0 where there is none. The end counts bytes.
func Whole(text string, end int) int {
	end = max(0, min(end, len(text)))
	for end > 0 && end < len(text) && (!utf8.RuneStart(text[end]) || Joined(text[:end], text[end:])) {
		end--
	}
	return end
}

// breaks reports whether nothing ever joins a rune: controls, line ends, what no font
// draws.
func breaks(r rune) bool {
	if extends(r) || unicode.Is(prepended, r) {
		return false
	}
	return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp)
}

// extends reports whether a rune belongs to whatever stands before it.
func extends(r rune) bool {
	if r < 0x300 {
		return false
	}
	return r == Joiner || r == NonJoiner ||
		unicode.In(r, unicode.Mn, unicode.Me, unicode.Other_Grapheme_Extend) ||
		r >= 0x1F3FB && r <= 0x1F3FF || // skin tones
		r >= 0xE0020 && r <= 0xE007F // tags of regional flags
}

// spaced reports whether a mark that takes room of its own belongs to what stands
// before it.
func spaced(r rune) bool {
	return unicode.Is(unicode.Mc, r) && !unicode.Is(loose, r) || r == 0x0E33 || r == 0x0EB3 // the vowel AM of Thai and Lao
}

// odd reports whether an odd number of regional indicators ends the text: the last of
// them still waits for its other half.
func odd(text string) bool {
	half := false
	for {
		r, size := utf8.DecodeLastRuneInString(text)
		if !unicode.Is(unicode.Regional_Indicator, r) {
			return half
		}
		half, text = !half, text[:len(text)-size]
	}
}

// pictured reports whether a pictograph, and nothing behind it but what extends it,
// ends the text.
func pictured(text string) bool {
	for text != "" {
		r, size := utf8.DecodeLastRuneInString(text)
		if r == Joiner || !extends(r) {
			return unicode.Is(pictographs, r)
		}
		text = text[:len(text)-size]
	}
	return false
}

// linked reports whether an Indic consonant with a linker ends the text, so that the
// next consonant is written into it.
func linked(text string) bool {
	linker := false
	for text != "" {
		r, size := utf8.DecodeLastRuneInString(text)
		switch {
		case unicode.Is(linkers, r):
			linker = true
		case r == NonJoiner || !extends(r):
			return linker && unicode.Is(consonants, r)
		}
		text = text[:len(text)-size]
	}
	return false
}

// The parts of a Hangul syllable.
const (
	noJamo = iota
	leading
	vowel
	trailing
	open   // a syllable of two parts
	closed // and of three
)

func jamo(r rune) int {
	switch {
	case r < 0x1100 || r > 0xD7FB:
		return noJamo
	case r <= 0x115F, r >= 0xA960 && r <= 0xA97C:
		return leading
	case r <= 0x11A7, r >= 0xD7B0 && r <= 0xD7C6:
		return vowel
	case r <= 0x11FF, r >= 0xD7CB:
		return trailing
	case r >= 0xAC00 && r <= 0xD7A3 && (r-0xAC00)%28 == 0:
		return open
	case r >= 0xAC00 && r <= 0xD7A3:
		return closed
	default:
		return noJamo
	}
}

// syllable reports whether two runes are written as one Hangul syllable.
func syllable(a, b rune) bool {
	second := jamo(b)
	switch jamo(a) {
	case leading:
		return second == leading || second == vowel || second == open || second == closed
	case vowel, open:
		return second == vowel || second == trailing
	case trailing, closed:
		return second == trailing
	default:
		return false
	}
}
