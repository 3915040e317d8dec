package settings

import "strings"

// Nearest is the known word that a misspelt one may be meant for; "" where none is near.
func Nearest(word string, known []string) string {
	best, least := "", max(1, len(word)/3)+1
	for _, k := range known {
		if n := edits(dashed(word), dashed(k)); n < least {
			best, least = k, n
		}
	}
	return best
}

// dashed makes names of files and of flags alike.
func dashed(word string) string { return strings.ToLower(strings.ReplaceAll(word, "_", "-")) }

// edits counts how many letters have to be added, left out or changed to make b of a.
func edits(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		corner := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := corner
			if a[i] != b[j] {
				change++
			}
			corner = row[j+1]
			row[j+1] = min(change, row[j]+1, corner+1)
		}
	}
	return row[len(b)]
}
