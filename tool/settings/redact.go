package settings

import (
	"bytes"
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"
)

// Redactor removes secrets from the output of a program or a server: as they are, and in the forms in which they are
// commonly echoed (escaped for a URL or for JSON, as common programs do it, and as base64).
type Redactor struct {
	replacements []replacement
	longest      int
}

type replacement struct{ secret, instead []byte }

// NewRedactor creates a redactor for secrets by name.
func NewRedactor(secrets map[string]string) *Redactor {
	r := &Redactor{}
	for name, value := range secrets {
		for _, form := range forms(value) {
			r.replacements = append(r.replacements, replacement{[]byte(form), []byte("[secret " + name + "]")})
			r.longest = max(r.longest, len(form))
		}
	}
	// The longest first, because one may be a part of another.
	slices.SortFunc(r.replacements, func(a, b replacement) int {
		return cmp.Or(cmp.Compare(len(b.secret), len(a.secret)), bytes.Compare(a.secret, b.secret))
	})
	return r
}

// Margin returns how many bytes to read beyond a limit, so that a secret across it is recognised.
func (r *Redactor) Margin() int { return r.longest }

// Text removes the secrets from a complete text.
func (r *Redactor) Text(text []byte) []byte {
	for _, m := range r.replacements {
		text = bytes.ReplaceAll(text, m.secret, m.instead)
	}
	return text
}

// Head removes the secrets from the beginning of a longer text. It drops what may be the first part of a secret at its
// end.
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

// Tail removes the secrets from the end of a longer text. It drops what may be the last part of a secret at its
// beginning.
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

// Clip returns at most so many bytes from the beginning of a text, in whole characters, with an ellipsis if something
// is left out. It replaces invalid UTF-8.
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
