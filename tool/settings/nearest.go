package settings

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Suggest returns a hint for an unknown name: the known name that is probably meant, and then the hint that holds in any case, which may be "".
func Suggest(name string, known []string, hint string) string {
	return Meaning(Nearest(name, known), hint)
}

// Meaning is [Suggest] where the name that is probably meant is found already; "" if none is similar.
func Meaning(near, hint string) string {
	if near == "" {
		return hint
	}
	near = "did you mean " + near + "?"
	if hint == "" {
		return near
	}
	first, size := utf8.DecodeRuneInString(hint)
	return near + " " + string(unicode.ToUpper(first)) + hint[size:]
}

// Meant returns a hint for an unknown name: the name that is probably meant, and the names that exist.
func Meant(things, name string, known []string) string {
	return Suggest(name, known, "the "+things+" are: "+strings.Join(known, ", "))
}

// Nearest returns the known word that a misspelt one probably means; "" if none is similar.
func Nearest(word string, known []string) string {
	best, least := "", max(1, len(word)/3)+1
	for _, k := range known {
		if n := edits(dashed(word), dashed(k)); n < least {
			best, least = k, n
		}
	}
	return best
}

// dashed makes file names and flag names comparable.
func dashed(word string) string { return strings.ToLower(strings.ReplaceAll(word, "_", "-")) }

// edits counts the letters that must be added, removed, changed or swapped with their neighbour to turn a into b.
func edits(a, b string) int {
	rows := [][]int{make([]int, len(b)+1)}
	for j := range rows[0] {
		rows[0][j] = j
	}
	for i := 1; i <= len(a); i++ {
		row, above := make([]int, len(b)+1), rows[i-1]
		row[0] = i
		for j := 1; j <= len(b); j++ {
			change := above[j-1]
			if a[i-1] != b[j-1] {
				change++
			}
			row[j] = min(change, row[j-1]+1, above[j]+1)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], rows[i-2][j-2]+1)
			}
		}
		rows = append(rows, row)
	}
	return rows[len(a)][len(b)]
}
