package utp

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	maxToken = 128
	maxID    = 256
	maxShown = 64
)

// ValidToken reports whether s may be one token of a subject: `[A-Za-z0-9_-]{1,128}`.
// Peers enforce nothing here, which lets a dot in a project shift all later tokens.
func ValidToken(s string) bool {
	if s == "" || len(s) > maxToken {
		return false
	}
	for i := range len(s) {
		if !tokenByte(s[i]) {
			return false
		}
	}
	return true
}

func tokenByte(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '_' || c == '-'
}

const idRule = "1 to 256 bytes of UTF-8 without control characters or spaces at the ends"

// validID checks an id that others may have made: the rule is looser than for a token, and still safe in a header.
func validID(s string) bool {
	return s != "" && len(s) <= maxID && validText(s)
}

// validText reports whether s can be a header value unchanged.
func validText(s string) bool {
	return utf8.ValidString(s) && !strings.ContainsFunc(s, unicode.IsControl) && strings.TrimSpace(s) == s
}

// Shown quotes and shortens a value for an error message.
func Shown(s string) string {
	if s == "" {
		return "nothing"
	}
	if len(s) <= maxShown {
		return fmt.Sprintf("%q", s)
	}
	cut := maxShown
	for cut > 0 && !utf8.RuneStart(s[cut]) {
		cut--
	}
	return fmt.Sprintf("%q… (%d bytes)", s[:cut], len(s))
}
