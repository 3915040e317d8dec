package aaep

import (
	"bytes"
	"fmt"
	"strconv"
	"unicode/utf8"
)

// This file says what is wrong with a text as JSON, so that anyone who wrote it finds
// the place.

// quoted is a clipped text in quotes.
func quoted[T ~[]byte | ~string](text T) string { return strconv.Quote(clip(text)) }

// fault notes that a value, or something at it, is wrong as JSON.
func (t *tape) fault(n uint32, rule, message string) {
	if t.faults.full(SeverityError) {
		return
	}
	t.faults.add(Violation{Rule: rule, Severity: SeverityError, Path: t.path(n), Message: message, Spec: "§3.8"})
}

// wrongText notes that the text as a whole is wrong.
func (t *tape) wrongText(rule, spec, message string, also ...string) {
	t.faults.add(Violation{Rule: rule, Also: also, Severity: SeverityError, Message: message, Spec: spec})
}

// cut notes that the text ends too early. It answers false, as what was to be read
// was not.
func (s *scanner) cut(inside string) bool {
	s.pos = len(s.raw)
	switch {
	case len(bytes.TrimSpace(s.raw)) == 0:
		s.wrongText("ENV-02", "§3.8", "found no text, expected one JSON object")
	case inside != "":
		s.wrongText("ENV-02", "§3.8", fmt.Sprintf("the text ends at byte %d %s, expected its end and the end of the object", s.bomLength+s.pos, inside))
	default:
		s.wrongText("ENV-02", "§3.8", fmt.Sprintf("the text ends at byte %d with %d objects or arrays open, expected their end", s.bomLength+s.pos, s.level))
	}
	return false
}

// broken notes that the text is not JSON at the present byte. It answers false.
func (s *scanner) broken(expected string) bool {
	at := s.bomLength + s.pos
	rest := s.raw[s.pos:]
	if name, ok := s.otherNumber(rest); ok {
		s.wrongText("ENV-02", "§3.8", fmt.Sprintf("found %s at byte %d, which is not a JSON number; %s", name, at, expected), "ENV-05")
		return false
	}
	s.wrongText("ENV-02", "§3.8", fmt.Sprintf("not JSON: found %s at byte %d, %s", s.named(rest), at, expected))
	return false
}

// otherNumber knows the numbers that other languages write.
func (s *scanner) otherNumber(rest []byte) (string, bool) {
	for _, name := range []string{"NaN", "Infinity"} {
		if bytes.HasPrefix(rest, []byte(name)) {
			if s.pos > 0 && s.raw[s.pos-1] == '-' {
				return "-" + name, true
			}
			return name, true
		}
	}
	return "", false
}

// named names what stands at a place.
func (s *scanner) named(rest []byte) string {
	switch {
	case s.bomLength == 0 && s.pos == 0 && (bytes.HasPrefix(rest, []byte("\xff\xfe")) || bytes.HasPrefix(rest, []byte("\xfe\xff"))):
		return "UTF-16 instead of UTF-8"
	case bytes.HasPrefix(rest, []byte("//")), bytes.HasPrefix(rest, []byte("/*")), bytes.HasPrefix(rest, []byte("#")):
		return "a comment"
	case bytes.HasPrefix(rest, []byte("'")):
		return "a single quote"
	case bytes.HasPrefix(rest, byteOrderMark):
		return "a byte order mark"
	}
	r, size := utf8.DecodeRune(rest)
	switch {
	case r == utf8.RuneError && size == 1:
		return fmt.Sprintf("the byte 0x%02x, which is not UTF-8", rest[0])
	case r < ' ' || r == 0x7f:
		return fmt.Sprintf("the control character %U", r)
	default:
		return strconv.QuoteRune(r)
	}
}
