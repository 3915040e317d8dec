package settings

import (
	"fmt"
	"strconv"
	"strings"
)

// Error says what is wrong in a file, where, and what was expected.
type Error struct {
	// Line is counted from 1; 0 if there is none.
	Line int
	// Field is the place as a path, such as operations[2].class.
	Field string
	Found string
	// Expected may be empty if Found is sufficient.
	Expected string
	// Hint says what to do; it may be empty.
	Hint string
}

func (e *Error) Error() string {
	var out strings.Builder
	if e.Line > 0 {
		fmt.Fprintf(&out, "line %d: ", e.Line)
	}
	if e.Field != "" {
		out.WriteString(e.Field + ": ")
	}
	out.WriteString(e.Found)
	if e.Expected != "" {
		out.WriteString("; expected " + e.Expected)
	}
	return out.String()
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
