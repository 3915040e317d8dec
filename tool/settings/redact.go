package settings

import (
	"bytes"
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"
)

// Redactor takes secrets out of what a program or a server has said: as they are, and in
// the forms in which they are commonly echoed (escaped for an address or for JSON, as the
// usual programs write that, and as base64).
type Redactor struct {
	replacements []replacement
	longest      int
}

type replacement struct{ secret, instead []byte }

// NewRedactor knows secrets by their names.
func NewRedactor(secrets map[string]string) *Redactor {
	r := &Redactor{}
	for name, value := range secrets {
		for _, form := range forms(value) {
			r.replacements = append(r.replacements, replacement{[]byte(form), []byte("[secret " + name + "]")})
			r.longest = max(r.longest, len(form))
		}
	}
	// The longest first: one may be a part of another.
	slices.SortFunc(r.replacements, func(a, b replacement) int {
		return cmp.Or(cmp.Compare(len(b.secret), len(a.secret)), bytes.Compare(a.secret, b.secret))
	})
	return r
}

// Margin is how many bytes to keep beyond a limit, so that a secret across it is seen
// whole.
func (r *Redactor) Margin() int { return r.longest }

// Text takes the secrets out of a whole text.
func (r *Redactor) Text(text []byte) []byte {
	for _, m := range r.replacements {
		text = bytes.ReplaceAll(text, m.secret, m.instead)
	}
	return text
}

// Head takes the secrets out of the beginning of a longer text. What may be the first
// part of one at its end is left out.
func (r *Redactor) Head(text []byte) []byte {
	text = r.Text(text)
	for n := min(r.longest-1, len(text)); n > 0; n-- {
		rest := text[len(text)-n:]
		if slices.ContainsFunc(r.replacements, func(m replacement) bool { return bytes.HasPrefix(m.secret, rest) }) {
			return text[:len(text)-n]
		}
	}
	return text
}

// Tail takes the secrets out of the end of a longer text. What may be the last part of
// one at its beginning is left out.
func (r *Redactor) Tail(text []byte) []byte {
	text = r.Text(text)
	for n := min(r.longest-1, len(text)); n > 0; n-- {
		rest := text[:n]
		if slices.ContainsFunc(r.replacements, func(m replacement) bool { return bytes.HasSuffix(m.secret, rest) }) {
			return text[n:]
		}
	}
	return text
}

// Clip is the beginning of a text, at most so many bytes of whole characters, with an
// ellipsis where something is left out. What is not UTF-8 is replaced.
func Clip(text string, most int) string {
	text = strings.ToValidUTF8(text, "\uFFFD")
	if len(text) <= most {
		return text
	}
	for most > 0 && !utf8.RuneStart(text[most]) {
		most--
	}
	return text[:most] + "…"
}
