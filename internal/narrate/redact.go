package narrate

import (
	"regexp"
	"strings"
	"sync"
	"unicode/utf8"
)

// Patterns of apparent credentials in somebody's words: a name and a value, or a value in a known format (C-97: name
// and value are both removed).
var (
	credentialPair = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)["']?\b[\w-]*(api[_-]?key|passw(or)?d|passphrase|secret|access[_-]?token|auth[_-]?token|` +
			`private[_-]?key|client[_-]?secret)\b["']?\s*[=:]\s*("[^"]*"|'[^']*'|[^\s,;&"']+)`)
	})
	credentialHeader = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)\b(authorization\s*:\s*)?(bearer|basic)\s+[A-Za-z0-9._~+/=-]{12,}`)
	})
	credentialValue = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`\b(sk-[A-Za-z0-9_-]{8,}|gh[pousr]_[A-Za-z0-9]{20,}|xox[abprs]-[A-Za-z0-9-]{10,}|AKIA[0-9A-Z]{16}|eyJ[\w-]{10,}\.[\w-]+\.[\w-]+)`)
	})
)

const redacted = "credential=[redacted]"

// redact removes apparent credentials from somebody's words. It is a second line of defense: real secrets are
// references and never get here.
func redact(s string) string {
	if !strings.ContainsAny(s, "=:-_. ") {
		return s
	}
	s = credentialPair().ReplaceAllString(s, redacted)
	s = credentialHeader().ReplaceAllString(s, redacted)
	return credentialValue().ReplaceAllString(s, redacted)
}

// valid replaces invalid UTF-8; JSON text has none.
func valid(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	return strings.ToValidUTF8(s, string(utf8.RuneError))
}
