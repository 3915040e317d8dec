package cause

import (
	"fmt"
	"strings"
	"unicode"
)

// OneLine prevents foreign text, such as a path, from controlling a terminal or passing for a line of its own.
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

// Quoted quotes a path for a shell.
func Quoted(path string) string {
	if strings.Trim(path, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-+@") == "" {
		return path
	}
	return "'" + strings.ReplaceAll(OneLine(path), "'", `'\''`) + "'"
}
