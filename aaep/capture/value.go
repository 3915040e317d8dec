package capture

import (
	"errors"
	"fmt"
	"io"
	"strings"
)

// value reads to the end of the value whose first byte is c. The reason says why it is broken; "" if it is not.
func (r *Reader) value(c byte) (reason string, err error) {
	switch c {
	case '{', '[':
		return r.nested()
	case '"':
		return r.text()
	default:
		return r.literal()
	}
}

// nested reads to the bracket that closes an object or an array. It only checks brackets, strings and what may precede
// them: enough to notice an unclosed value before it has swallowed the values that follow.
func (r *Reader) nested() (reason string, err error) {
	for depth, before := 0, byte(':'); ; {
		c, err := r.gap()
		if errors.Is(err, io.EOF) {
			return "the file ends within the message, expected what closes it", nil
		}
		if err != nil {
			return "", err
		}
		switch c {
		case '{', '[', '"':
			if !strings.ContainsRune("{[,:", rune(before)) {
				return fmt.Sprintf("found %q, expected a comma or what closes the message", c), nil
			}
		default:
		}
		before = c
		switch c {
		case '"':
			if reason, err := r.text(); reason != "" || err != nil {
				return reason, err
			}
			continue
		case '{', '[':
			depth++
		case '}', ']':
			depth--
		default:
		}
		r.w.advance()
		if depth == 0 {
			return "", nil
		}
	}
}

// text reads past a string's closing quote.
func (r *Reader) text() (reason string, err error) {
	r.w.advance()
	for {
		r.w.skip("\"\\\n")
		c, err := r.w.peek()
		switch {
		case errors.Is(err, io.EOF):
			return "the file ends within a text, expected its closing quote", nil
		case err != nil:
			return "", err
		case c == '\n':
			return "the line ends within a text, expected its closing quote", nil
		}
		r.w.advance()
		switch c {
		case '"':
			return "", nil
		case '\\':
			if escaped, err := r.w.peek(); err == nil && escaped != '\n' {
				r.w.advance()
			}
		default: // more has been read
		}
	}
}

// literal reads to the end of anything but an object, array or string: a number, a literal, or something invalid.
func (r *Reader) literal() (reason string, err error) {
	for first := true; ; first = false {
		c, err := r.w.peek()
		switch {
		case errors.Is(err, io.EOF):
			return "", nil
		case err != nil:
			return "", err
		case !first && (space(c) || strings.ContainsRune(`,{[]"`, rune(c))):
			return "", nil
		}
		r.w.advance()
	}
}
