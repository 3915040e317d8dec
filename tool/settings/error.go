package settings

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/earshot-dev/earshot/aaep/legible"
)

// Error says what is wrong in a file, where, and what was expected.
type Error struct {
	// Line is counted from 1; 0 if there is none.
	Line int
	// Field is the place as a path, such as operations[2].class.
	Field string
	Found string
	// Value is what of Found stands in the file itself; empty if nothing of it does.
	Value string
	// Expected may be empty if Found is sufficient.
	Expected string
	// Hint says what to do; it may be empty.
	Hint string
}

func (e *Error) Error() string { return e.Sentence().String() }

// Sentence is the text of the error, apart from what stands in the file.
func (e *Error) Sentence() legible.Sentence {
	s := legible.NewSentence(e.Found)
	if before, after, is := strings.Cut(e.Found, e.Value); is && e.Value != "" {
		s = legible.NewSentence(strings.ReplaceAll(before, "%", "%%")+"%s"+strings.ReplaceAll(after, "%", "%%"), e.Value)
	}
	if e.Expected != "" {
		s = legible.NewSentence("%s; expected %s", s, legible.NewSentence(e.Expected))
	}
	if e.Field != "" {
		s = legible.NewSentence("%s: %s", e.Field, s)
	}
	if e.Line > 0 {
		s = legible.NewSentence("line %d: %s", e.Line, s)
	}
	return s
}

// pathText formats a path for people.
func pathText(path []any) string {
	var out strings.Builder
	for _, step := range path {
		switch step := step.(type) {
		case int:
			out.WriteString("[" + strconv.Itoa(step) + "]")
		default:
			if out.Len() > 0 {
				out.WriteByte('.')
			}
			fmt.Fprint(&out, step)
		}
	}
	return out.String()
}

// quote quotes what was found, within one line.
func quote(s string) string { return strconv.Quote(Clip(s, 80)) }
