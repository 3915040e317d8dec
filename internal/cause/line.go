package cause

import (
	"fmt"
	"strings"
	"unicode"
)

// OneLine keeps what others have written, such as a path, from acting on a terminal or passing for a line of its own.
func OneLine(s string) string {
	var out strings.Builder
	for _, r := range strings.Join(strings.Fields(s), " ") {
		if unicode.IsPrint(r) {
			out.WriteRune(r)
		} else {
			fmt.Fprintf(&out, "\\u{%x}", r)
		}
	}
	return out.String()
}

// Quoted is a path as a shell takes it.
func Quoted(path string) string {
	if strings.Trim(path, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-+@") == "" {
		return path
	}
	return "'" + strings.ReplaceAll(OneLine(path), "'", `'\''`) + "'"
}
