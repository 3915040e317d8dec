package aaep

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/language"
	"golang.org/x/text/unicode/norm"
)

// text judges a string against its row.
func (in *inspection) text(f Field, at place) {
	found := at.value.text
	count := length(found)
	rules := append([]string{f.Rule}, also(f, "CLA-04")...)
	switch {
	case count < f.MinLen:
		in.wrong(f, at.path, fmt.Sprintf("found a text of %d characters, expected at least %d", count, f.MinLen), rules...)
	case f.MaxLen > 0 && count > f.MaxLen:
		in.wrong(f, at.path, fmt.Sprintf("found a text of %d characters, expected at most %d", count, f.MaxLen), rules...)
	}
	if f.Pattern != "" && !f.Pattern.Match(found) {
		rules := append([]string{f.Rule}, also(f, "CONF-05", "I18N-03")...)
		in.wrong(f, at.path, fmt.Sprintf("found %s, expected %s", at.value.describe(), f.Pattern.Expression()), rules...)
	} else {
		in.format(f, at)
	}
	if f.Enum != nil && !slices.Contains(f.Enum, found) {
		in.wrong(f, at.path, fmt.Sprintf("found %s, expected %s", at.value.describe(), strings.Join(f.Enum, ", ")), f.Rule)
	}
	if f.Readable {
		in.prose(at)
	}
}

func (in *inspection) format(f Field, at place) {
	switch f.Format {
	case FormatURI:
		if !isURI(at.value.text) {
			in.wrong(f, at.path, fmt.Sprintf("found %s, expected a URI with a scheme", at.value.describe()), f.Rule)
		}
	case FormatLanguage:
		if !isLanguage(at.value.text) {
			in.wrong(f, at.path, fmt.Sprintf("found %s, expected a BCP 47 language tag", at.value.describe()), append([]string{f.Rule}, also(f, "I18N-03")...)...)
		}
	case FormatTimestamp:
		in.timestamp(f, at)
	default: // no format
	}
}

// prose judges text for people: composed characters, and none that combines with
// nothing (I18N-19, I18N-22).
func (in *inspection) prose(at place) {
	if !norm.NFC.IsNormalString(at.value.text) {
		in.add(SeverityWarning, at.path, "§11.3.2", "found text that is not in normal form C, expected composed characters", "I18N-19")
	}
	if first, _ := utf8.DecodeRuneInString(at.value.text); unicode.Is(unicode.M, first) {
		in.add(SeverityWarning, at.path, "§11.3.3", fmt.Sprintf("found the combining mark %U at the start, expected a character before it", first), "I18N-22")
	}
}

// uri is a scheme, a colon and characters that RFC 3986 allows, with one fragment at
// most.
var uri = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9+.-]*:([A-Za-z0-9._~:/?\[\]@!$&'()*+,;=-]|%[0-9A-Fa-f]{2})*(#([A-Za-z0-9._~:/?@!$&'()*+,;=-]|%[0-9A-Fa-f]{2})*)?$`)

func isURI(s string) bool { return uri.MatchString(s) }

// isLanguage answers whether a tag is well formed; whether its parts are registered
// does not matter.
func isLanguage(tag string) bool {
	if !PatternLanguage.Match(tag) {
		return false
	}
	_, err := language.Parse(tag)
	if err == nil {
		return true
	}
	_, unknown := errors.AsType[language.ValueError](err)
	return unknown
}

// isRightToLeft answers whether a language is written from right to left, by its
// script, given or likely.
func isRightToLeft(tag string) bool {
	parsed, err := language.Parse(tag)
	if err != nil {
		return false
	}
	script, _ := parsed.Script()
	return slices.Contains([]string{"Adlm", "Arab", "Hebr", "Mand", "Nkoo", "Rohg", "Samr", "Syrc", "Thaa", "Yezi"}, script.String())
}
