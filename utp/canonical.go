package utp

import (
	"bytes"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
)

// MaxDepth is how deeply arguments may be nested; the outermost object is depth 1.
const MaxDepth = 64

// Canonical returns the RFC 8785 form of arguments, to which consent is bound. It never changes raw. Two arguments with
// the same form mean the same to every reader. To ensure that, Canonical refuses with an [*ArgumentError] whatever
// readers interpret differently (call protocol, "What is consented to"): anything but a single object, a name twice in
// one object, half a surrogate pair, bytes that are not UTF-8, U+0000 in a name or string, nesting deeper than
// [MaxDepth], and numbers that a double cannot represent exactly.
//
// A number is exact if its canonical form is the same decimal number. So 0.1 and 1e23 pass; 9007199254740993,
// 0.1000000000000000055 and 1e400 do not, and neither does 9223372036854775808, whose canonical form is
// 9223372036854776000. Such numbers must be sent as strings. This rule makes the form one-to-one for decimal readers as
// well as for binary ones; -0 is 0 to both.
//
// The time is linear in the size of raw.
func Canonical(raw []byte) ([]byte, error) {
	// The scan comes first because its depth limit bounds the work of what follows.
	if found := scan(raw); found.what != sound {
		return nil, found.explain(raw)
	}
	v := jsontext.Value(raw).Clone()
	if err := v.Canonicalize(); err != nil {
		return nil, argumentError(err)
	}
	return v, nil
}

// defect is a problem that a scan can find and that the JSON grammar allows.
type defect int

const (
	sound defect = iota
	noObject
	tooDeep
	nullCharacter
	inexactNumber
)

// finding is the first defect and its position.
type finding struct {
	what     defect
	from, to int
}

// scan checks text that need not be valid JSON. It ignores what it does not understand, because the parser refuses
// that.
func scan(raw []byte) finding {
	start := skipSpace(raw)
	if start == len(raw) || raw[start] != '{' {
		return finding{what: noObject, from: start, to: start}
	}
	depth := 0
	for i := start; i < len(raw); {
		switch c := raw[i]; {
		case c == '"':
			end, null := scanString(raw, i)
			if null {
				return finding{what: nullCharacter, from: i, to: end}
			}
			i = end
		case c == '{' || c == '[':
			if depth++; depth > MaxDepth {
				return finding{what: tooDeep, from: i, to: i + 1}
			}
			i++
		case c == '}' || c == ']':
			depth--
			i++
		case c == '-' || '0' <= c && c <= '9':
			end := scanNumber(raw, i)
			if !exactNumber(raw[i:end]) {
				return finding{what: inexactNumber, from: i, to: end}
			}
			i = end
		default:
			i++
		}
	}
	return finding{}
}

func skipSpace(raw []byte) int {
	i := 0
	for i < len(raw) && (raw[i] == ' ' || raw[i] == '\t' || raw[i] == '\n' || raw[i] == '\r') {
		i++
	}
	return i
}

// scanString returns the end of the string that begins at i, or the position of the first escaped U+0000 in it. A raw
// zero byte is not JSON; the parser refuses it.
func scanString(raw []byte, i int) (end int, null bool) {
	const zero = "u0000"
	for i++; i < len(raw); i++ {
		switch raw[i] {
		case '"':
			return i + 1, false
		case '\\':
			i++
			if i+len(zero) <= len(raw) && string(raw[i:i+len(zero)]) == zero {
				return i, true
			}
		}
	}
	return len(raw), false
}

func scanNumber(raw []byte, i int) int {
	for i < len(raw) {
		switch c := raw[i]; {
		case '0' <= c && c <= '9', c == '-', c == '+', c == '.', c == 'e', c == 'E':
			i++
		default:
			return i
		}
	}
	return i
}

// explain describes the defect and its place. If the text is malformed before that place, it returns the parser's
// error.
func (f finding) explain(raw []byte) *ArgumentError {
	if f.what == noObject {
		return &ArgumentError{Found: foundInstead(raw, f.from), Expected: "a JSON object"}
	}
	pointer, err := locate(raw, f.from)
	if err != nil {
		return argumentError(err)
	}
	e := &ArgumentError{Pointer: pointer}
	switch f.what {
	case tooDeep:
		e.Found, e.Expected = "more than "+strconv.Itoa(MaxDepth)+" levels of nesting", "at most that"
	case nullCharacter:
		e.Found, e.Expected = "the character U+0000", "text without it"
	case inexactNumber:
		e.Found = "the number " + clip(string(raw[f.from:f.to])) + ", which a double does not carry exactly"
		e.Expected = "another number, or a string"
	case sound, noObject:
	}
	return e
}

func foundInstead(raw []byte, i int) string {
	kind := jsontext.Value(raw[i:]).Kind()
	if i == len(raw) {
		return "nothing"
	}
	if kind == jsontext.KindInvalid {
		return "no JSON"
	}
	return "a value that begins with " + Shown(string(raw[i:i+1]))
}

// locate returns the JSON Pointer of the value at an offset, or the parser's error about the text before it.
func locate(raw []byte, offset int) (string, error) {
	d := jsontext.NewDecoder(bytes.NewBuffer(raw))
	for {
		if _, err := d.ReadToken(); err != nil {
			return string(d.StackPointer()), err
		}
		if d.InputOffset() > int64(offset) {
			return string(d.StackPointer()), nil
		}
	}
}
