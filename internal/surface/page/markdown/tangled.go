package markdown

import "strings"

// Bounds on what a parser takes more than a straight time for. Each keeps the worst text that fits well under a second.
const (
	// mostNested is how many marks of quotes and lists, or steps of indentation, a line may begin with.
	mostNested = 64
	// mostBrackets and mostMarks are how many brackets, and marks of emphasis and code, there may be: a parser tries to pair
	// each with all the others.
	mostBrackets = 2000
	mostMarks    = 4000
	// mostCells is how many cells there may be: a short line of a table is filled up to its widest.
	mostCells = 8000
)

// tangled reports whether a text has more structure than a reader could follow, and than a parser reads in a short time.
func tangled(source string) bool {
	if count(source, "[", "<") > mostBrackets || count(source, "*", "_", "~", "`") > mostMarks {
		return true
	}
	rows, columns := 0, 0
	for line := range strings.Lines(source) {
		if nested(line) > mostNested {
			return true
		}
		if n := strings.Count(line, "|"); n > 0 {
			rows, columns = rows+1, max(columns, n)
		}
	}
	return rows*columns > mostCells
}

// nested counts the marks of quotes and lists that a line begins with, or the steps of its indentation.
func nested(line string) int {
	begin := line[:len(line)-len(strings.TrimLeft(line, " \t>-+*0123456789.)"))]
	blank := begin[:len(begin)-len(strings.TrimLeft(begin, " \t"))]
	return max(count(begin, ">", "- ", "+ ", "* ", ". ", ") "), count(blank, "  ", "\t"))
}

func count(text string, of ...string) int {
	n := 0
	for _, part := range of {
		n += strings.Count(text, part)
	}
	return n
}
