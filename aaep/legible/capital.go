package legible

import (
	"golang.org/x/text/cases"
	"golang.org/x/text/language"
	"golang.org/x/text/unicode/norm"
)

// Capital begins a text with a capital letter: its first character as a reader sees it, with
// its marks, in the form that begins a word. A text that begins with anything else, such as a
// value that is set apart, stays as it is.
func Capital(text string) string {
	end := norm.NFC.NextBoundaryInString(text, true)
	if end <= 0 {
		end = len(text)
	}
	return cases.Title(language.Und, cases.NoLower).String(text[:end]) + text[end:]
}
