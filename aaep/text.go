package aaep

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// string judges a string against its row.
func (in *inspection) string(r *row, n uint32) {
	if r.limits {
		in.lengths(r, n)
	}
	switch {
	case r.match != nil && !r.match(in.text(n)):
		rules := append([]string{r.Rule}, also(r, "CONF-05", "I18N-03")...)
		in.wrong(r, n, fmt.Sprintf("found %s, expected %s", in.describe(n), r.Pattern.Expression()), rules...)
	case r.Format != "":
		in.format(r, n)
	}
	if r.Enum != nil && !contains(r.Enum, in.text(n)) {
		in.unknownValue(r, n)
	}
	if r.Readable {
		in.prose(n)
	}
}

// unknownValue notes a word that is none of the row's. A later version may have it
// (VER-04).
func (in *inspection) unknownValue(r *row, n uint32) {
	message := fmt.Sprintf("found %s, expected %s", in.describe(n), strings.Join(r.Enum, ", "))
	if in.later && !r.Safety {
		in.warn(n, r.Spec, message, r.Rule)
		return
	}
	in.wrong(r, n, message, r.Rule)
}

func contains(words []string, text []byte) bool {
	for _, word := range words { //nolint:modernize // slices.Contains would want the text as a string, and so new memory
		if word == string(text) {
			return true
		}
	}
	return false
}

func (in *inspection) lengths(r *row, n uint32) {
	if size := len(in.text(n)); size >= r.MinLen*utf8.UTFMax && (size <= r.MaxLen || r.MaxLen == 0) {
		return // whatever its characters are
	}
	count := in.length(n)
	switch {
	case count < r.MinLen:
		in.wrong(r, n, fmt.Sprintf("found a text of %d characters, expected at least %d", count, r.MinLen), append([]string{r.Rule}, also(r, "CLA-04")...)...)
	case r.MaxLen > 0 && count > r.MaxLen:
		in.wrong(r, n, fmt.Sprintf("found a text of %d characters, expected at most %d", count, r.MaxLen), append([]string{r.Rule}, also(r, "CLA-04")...)...)
	}
}

func (in *inspection) format(r *row, n uint32) {
	switch r.Format {
	case FormatURI:
		if !isURI(in.text(n)) {
			in.wrong(r, n, fmt.Sprintf("found %s, expected a URI with a scheme", in.describe(n)), r.Rule)
		}
	case FormatLanguage:
		if !isLanguage(in.text(n)) {
			in.wrong(r, n, fmt.Sprintf("found %s, expected a BCP 47 language tag", in.describe(n)), append([]string{r.Rule}, also(r, "I18N-03")...)...)
		}
	case FormatTimestamp:
		in.timestamp(r, n)
	default: // no format
	}
}

// prose judges text for people: composed characters, none that combines with nothing
// (I18N-19, I18N-22), and no secret (SEC-07).
func (in *inspection) prose(n uint32) {
	text := in.text(n)
	if in.nodes[n].flags&flagWide != 0 {
		if !norm.NFC.IsNormal(text) {
			in.warn(n, "§11.3.2", "found text that is not in normal form C, expected composed characters", "I18N-19")
		}
		if first, _ := utf8.DecodeRune(text); unicode.Is(unicode.M, first) {
			in.warn(n, "§11.3.3", fmt.Sprintf("found the combining mark %U at the start, expected a character before it", first), "I18N-22")
		}
	}
	if in.mode == ModeConsumer {
		return
	}
	in.secrets(n)
	if hasMarkup(text) {
		in.warn(n, "§11.5.2", "found markup inside text, expected plain text; use a language variant or a chunk of its own", "I18N-26")
	}
}

// hasMarkup reports whether a text has a tag that sets a stretch of it apart.
func hasMarkup(text []byte) bool {
	for at := bytes.IndexByte(text, '<'); at >= 0; {
		tag, _, closed := bytes.Cut(text[at+1:], []byte(">"))
		if closed && (bytes.HasPrefix(tag, []byte("span")) || bytes.HasPrefix(tag, []byte("/span")) || bytes.Contains(tag, []byte("lang="))) {
			return true
		}
		next := bytes.IndexByte(text[at+1:], '<')
		if next < 0 || !closed {
			return false
		}
		at += 1 + next
	}
	return false
}

// variantOf returns the readable row of which name is the variant in another
// language: its name, an underscore and a language tag in lower case with
// underscores (C-102).
func variantOf(list []row, name []byte) *row {
	for i := range list {
		r := &list[i]
		if !r.Readable || len(name) <= len(r.Name)+1 || name[len(r.Name)] != '_' || string(name[:len(r.Name)]) != r.Name {
			continue
		}
		suffix := name[len(r.Name)+1:]
		if slices.ContainsFunc(suffix, func(c byte) bool { return classes[c]&classUpper != 0 }) {
			continue
		}
		if isLanguage([]byte(strings.ReplaceAll(string(suffix), "_", "-"))) {
			return r
		}
	}
	return nil
}
