package aaep

import (
	"bytes"
	"slices"

	"golang.org/x/text/language"
)

// isLanguage reports whether a tag is well formed as RFC 5646 says; whether its parts
// are registered does not matter, but for one thing: the grammar leaves room for
// languages of four and more letters, of which there has never been one, and a word
// such as english is not a tag.
func isLanguage(tag []byte) bool {
	if !isTag(tag) {
		return false
	}
	part, rest := cutTag(tag)
	switch n := len(part); {
	case bytes.EqualFold(part, []byte("x")):
		return len(rest) > 0
	case n == 1 || n > 3:
		return isGrandfathered(tag)
	case rest == nil:
		return true
	}
	rest = optional(rest, 3, func(p []byte) bool { return len(p) == 3 && is(classLetter, p) })
	rest = optional(rest, 1, func(p []byte) bool { return len(p) == 4 && is(classLetter, p) })
	rest = optional(rest, 1, func(p []byte) bool {
		return len(p) == 2 && is(classLetter, p) || len(p) == 3 && is(classDigit, p)
	})
	return variantsAndExtensions(rest) || isGrandfathered(tag)
}

// cutTag takes the first subtag off. The rest is nil when there is none.
func cutTag(tag []byte) (part, rest []byte) {
	part, rest, more := bytes.Cut(tag, []byte("-"))
	if !more {
		return tag, nil
	}
	return part, rest
}

// optional takes off up to most subtags that fit.
func optional(rest []byte, most int, fits func(part []byte) bool) []byte {
	for range most {
		part, behind := cutTag(rest)
		if !fits(part) {
			break
		}
		rest = behind
	}
	return rest
}

// variantsAndExtensions judges what follows a region: variants, extensions, private
// use. That none stands twice is a question of validity and not asked.
func variantsAndExtensions(rest []byte) bool {
	rest = optional(rest, len(rest), func(p []byte) bool { return len(p) > 4 || len(p) == 4 && classes[p[0]]&classDigit != 0 })
	for rest != nil {
		part, behind := cutTag(rest)
		if len(part) != 1 || behind == nil {
			return false
		}
		if part[0]|0x20 == 'x' {
			return true // anything of the right shape
		}
		if rest = optional(behind, len(behind), func(p []byte) bool { return len(p) >= 2 }); len(rest) == len(behind) {
			return false
		}
	}
	return true
}

// grandfathered are the tags that were registered before there was a grammar, and
// do not fit it.
var grandfathered = []string{
	"en-GB-oed", "i-ami", "i-bnn", "i-default", "i-enochian", "i-hak", "i-klingon", "i-lux", "i-mingo", "i-navajo", "i-pwn", "i-tao", "i-tay",
	"i-tsu", "sgn-BE-FR", "sgn-BE-NL", "sgn-CH-DE",
}

func isGrandfathered(tag []byte) bool {
	return slices.ContainsFunc(grandfathered, func(known string) bool { return bytes.EqualFold(tag, []byte(known)) })
}

// rightToLeftScripts are the scripts that are written from right to left.
var rightToLeftScripts = []string{"Adlm", "Arab", "Hebr", "Mand", "Nkoo", "Rohg", "Samr", "Syrc", "Thaa", "Yezi"}

// maybeRightToLeft are the languages of two letters that are, at least somewhere,
// written from right to left without the tag naming the script. All others are asked
// about only when their tag does. A test holds the list against the registry.
const maybeRightToLeft = " ar az dv fa ha he iw ji kk ks ku ky ms pa ps sd tg ug ur uz yi "

// isRightToLeft reports whether a language is written from right to left, by its
// script, given or likely.
func isRightToLeft(tag []byte) bool {
	part, rest := cutTag(tag)
	if len(part) == 2 && len(rest) <= 3 {
		low := [...]byte{' ', part[0] | 0x20, part[1] | 0x20, ' '}
		if !bytes.Contains([]byte(maybeRightToLeft), low[:]) {
			return false
		}
	}
	parsed, err := language.Parse(string(tag))
	if err != nil {
		return false
	}
	script, _ := parsed.Script()
	return slices.Contains(rightToLeftScripts, script.String())
}
