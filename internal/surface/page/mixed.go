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
func Mixed(text string) template.HTML { return MixedIn("", text) }

// The marks between which a sentence quotes the words of others. There are none inside a quotation.
const (
	quote    = '\u201C'
	quoteEnd = '\u201D'
)

// MixedIn is the same for a sentence that quotes the agent, in a language that the agent has said. A quotation is in that language;
// everything else is as it is in [Mixed]. An empty language is not known.
func MixedIn(language, text string) template.HTML {
	m := mixer{language: language}
	for part := range parts(text) {
		m.part(part)
	}
	if m.open() {
		m.b.WriteString(`</bdi>`)
	}
	return template.HTML(m.b.String()) //nolint:gosec // each part of it is escaped
}

// mixer writes the parts of a sentence.
type mixer struct {
	b        strings.Builder
	language string
	quoted   bool // in a quotation that is in the language
	depth    int  // of isolates, which is not looked at in a quotation
}

func (m *mixer) open() bool { return m.quoted || m.depth > 0 }

func (m *mixer) part(part string) {
	switch part {
	case string(isolate):
		if m.depth++; m.depth == 1 && !m.quoted {
			m.b.WriteString(`<bdi lang="">`)
		}
	case string(isolateEnd):
		if m.depth--; m.depth == 0 && !m.quoted {
			m.b.WriteString(`</bdi>`)
		}
		m.depth = max(m.depth, 0)
	case string(quote):
		m.b.WriteString(part)
		if m.language != "" && !m.open() {
			m.quoted = true
			m.b.WriteString(`<bdi lang="` + template.HTMLEscapeString(m.language) + `">`)
		}
	case string(quoteEnd):
		if m.quoted {
			m.quoted, m.depth = false, 0
			m.b.WriteString(`</bdi>`)
		}
		m.b.WriteString(part)
	default:
		m.b.WriteString(template.HTMLEscapeString(part))
	}
}

// parts splits a text at its marks, which are parts of their own.
func parts(text string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for text != "" {
			i := strings.IndexFunc(text, func(c rune) bool { return c == isolate || c == isolateEnd || c == quote || c == quoteEnd })
			switch {
			case i == 0: // each of them has as many bytes
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
