package usage

import (
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"
)

// MostColumns is how wide help is at most, and where no terminal says how wide it is.
const MostColumns = 100

const (
	leastColumns = 20
	// narrowIndent begins a description that has no room beside its name.
	narrowIndent = "        "
)

// described is a line of a list, up to the description of its flag or command.
var described = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^ +(?:-\S, )?(?:--\S+(?: \S+)? {2,}|[a-z-]+ +)`)
})

// Fit breaks the lines of a command's help that are longer than a number of columns, 100 if that is 0 or more than that, between
// words. What is copied stays whole: examples, usage lines, and what is indented in the description. Of flags and commands the
// descriptions stand below each other, and below the name where that leaves too little room.
func Fit(help string, columns int) string {
	if columns == 0 || columns > MostColumns {
		columns = MostColumns
	}
	columns = max(columns, leastColumns)
	text, lists, _ := strings.Cut(help, "\n\nUsage:\n")
	var out []string
	for paragraph := range strings.SplitSeq(text, "\n\n") {
		out = append(out, filled(paragraph, columns), "")
	}
	if lists == "" {
		return strings.Join(out[:len(out)-1], "\n")
	}
	section := "Usage:"
	for line := range strings.SplitSeq(section+"\n"+lists, "\n") {
		if line != "" && line[0] != ' ' {
			section = line
		}
		if section != "Usage:" && section != "Examples:" {
			line = fitted(line, columns)
		}
		out = append(out, line)
	}
	return strings.Join(out, "\n")
}

// defined is an indented line of a description up to what it says of a name. What is copied has no two spaces there.
var defined = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^ +[a-z-]+ {2,}`)
})

// filled puts the words of a paragraph into other lines if one is too long. Where some lines are indented, only those are broken that say
// something of a name.
func filled(paragraph string, columns int) string {
	lines := strings.Split(paragraph, "\n")
	if slices.ContainsFunc(lines, func(line string) bool { return strings.HasPrefix(line, " ") }) {
		for i, line := range lines {
			if defined().MatchString(line) {
				lines[i] = fitted(line, columns)
			}
		}
		return strings.Join(lines, "\n")
	}
	if !slices.ContainsFunc(lines, func(line string) bool { return utf8.RuneCountInString(line) > columns }) {
		return paragraph
	}
	return broken("", "", paragraph, columns)
}

// fitted breaks a line of a list.
func fitted(line string, columns int) string {
	if utf8.RuneCountInString(line) <= columns {
		return line
	}
	name := described().FindString(line)
	if utf8.RuneCountInString(name) > columns/2 {
		return strings.TrimRight(name, " ") + "\n" + broken(narrowIndent, narrowIndent, line[len(name):], columns)
	}
	return broken(name, strings.Repeat(" ", utf8.RuneCountInString(name)), line[len(name):], columns)
}

// broken puts words into lines: the first begins with one text, the others with another.
func broken(first, others, words string, columns int) string {
	var out strings.Builder
	out.WriteString(first)
	used, fresh := utf8.RuneCountInString(first), true
	for word := range strings.FieldsSeq(words) {
		need := utf8.RuneCountInString(word)
		switch {
		case fresh:
		case used+1+need > columns:
			out.WriteString("\n" + others)
			used = utf8.RuneCountInString(others)
		default:
			out.WriteByte(' ')
			used++
		}
		out.WriteString(word)
		used, fresh = used+need, false
	}
	return out.String()
}
