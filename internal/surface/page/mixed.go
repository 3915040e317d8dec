package page

import (
	"html/template"
	"iter"
	"strings"
	"unicode/utf8"
)

// The marks between which a sentence holds what others have written.
const (
	isolate    = '\u2068'
	isolateEnd = '\u2069'
)

// Mixed is a sentence in which the words of others, which it holds apart, are in no known language
// and in their own direction.
func Mixed(text string) template.HTML {
	var b strings.Builder
	depth := 0
	for part := range parts(text) {
		switch part {
		case string(isolate):
			if depth++; depth == 1 {
				b.WriteString(`<bdi lang="">`)
			}
		case string(isolateEnd):
			if depth--; depth == 0 {
				b.WriteString(`</bdi>`)
			}
			depth = max(depth, 0)
		default:
			b.WriteString(template.HTMLEscapeString(part))
		}
	}
	if depth > 0 {
		b.WriteString(`</bdi>`)
	}
	return template.HTML(b.String()) //nolint:gosec // each part of it is escaped
}

// parts splits a text at its marks, which are parts of their own.
func parts(text string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for text != "" {
			i := strings.IndexFunc(text, func(c rune) bool { return c == isolate || c == isolateEnd })
			switch {
			case i == 0:
				i = utf8.RuneLen(isolate)
			case i < 0:
				i = len(text)
			}
			if !yield(text[:i]) {
				return
			}
			text = text[i:]
		}
	}
}
