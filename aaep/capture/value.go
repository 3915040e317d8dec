package capture

import (
	"errors"
	"fmt"
	"io"
	"strings"
)

// value goes to the end of the value whose first byte is c. The reason says why it has
// none; "" where it has.
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

// nested goes to the bracket that closes an object or an array. It looks at no more than
// brackets, strings and what may stand before them: enough to see that a value is never
// closed before it has swallowed those that follow.
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

// text goes past a string's closing quote.
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

// literal goes to the end of what is not an object, array or string: a number, a literal, or
// something else.
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
