package settings

import "strings"

// Meant is a hint where a name is none of the known: which one may be meant, and which things of that kind there are.
func Meant(things, name string, known []string) string {
	all := "he " + things + " are: " + strings.Join(known, ", ")
	if near := Nearest(name, known); near != "" {
		return "did you mean " + near + "? T" + all
	}
	return "t" + all
}

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

// edits counts how many letters have to be added, left out, changed or exchanged with their neighbour to make b of a.
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
