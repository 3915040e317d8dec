package legible

import (
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// respelt marks, by their index, the characters because of which a text is not in normal
// form C: all but the first of a letter that could be written shorter.
func respelt(text string) map[int]bool {
	if norm.NFC.IsNormalString(text) {
		return nil
	}
	marked := map[int]bool{}
	at := 0
	for rest := text; rest != ""; {
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

// confusableScripts are the scripts whose letters pass for each other's.
func confusableScripts() []*unicode.RangeTable {
	return []*unicode.RangeTable{
		unicode.Latin, unicode.Cyrillic, unicode.Greek, unicode.Armenian, unicode.Cherokee, unicode.Coptic, unicode.Lisu,
	}
}

// strangeLetters marks, by their index, the letters that belong to another script than
// most of their word, where the two scripts look alike.
func strangeLetters(runes []rune) map[int]bool {
	strange := map[int]bool{}
	tables := confusableScripts()
	for from := 0; from < len(runes); {
		if !unicode.IsLetter(runes[from]) {
			from++
			continue
		}
		to := from
		for to < len(runes) && (unicode.IsLetter(runes[to]) || unicode.Is(unicode.M, runes[to])) {
			to++
		}
		markStrange(strange, runes, from, to, tables)
		from = to
	}
	return strange
}

func markStrange(strange map[int]bool, runes []rune, from, to int, tables []*unicode.RangeTable) {
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
			strange[from+i] = true
		}
	}
}
