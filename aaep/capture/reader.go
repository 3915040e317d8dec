package capture

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
)

// DefaultLimit is the default maximum size of a message, in bytes.
const DefaultLimit = 16 << 20

// Options of a [Reader].
type Options struct {
	// Limit is the maximum size of a message, in bytes; default [DefaultLimit]. A larger one is skipped, and returned
	// with an error and its first bytes.
	Limit int
}

// Reader splits a file into its messages. Values follow each other with or without white space; the items of an
// outermost array are separate messages. Create it with [NewReader].
type Reader struct {
	w     *window
	limit int

	array  bool // within an outermost array
	comma  bool // the array has an item, so that a comma is due
	marked bool // a byte order mark stands before the first message
	begun  position
	err    error
}

type position struct {
	line, column int
	offset       int64
}

// NewReader returns a reader of in. It reads ahead of the messages that it returns.
func NewReader(in io.Reader, o Options) *Reader {
	limit := cmp.Or(max(o.Limit, 0), DefaultLimit)
	return &Reader{w: newWindow(in, limit), limit: limit}
}

// Offset returns how many bytes have been returned or skipped.
func (r *Reader) Offset() int64 { return r.w.offset }

// Next returns the next message, valid or broken. At the end it returns [io.EOF]; any other error is a read error, and
// final.
func (r *Reader) Next() (Message, error) {
	if r.err != nil {
		return Message{}, r.err
	}
	m, err := r.next()
	if err != nil {
		r.err = err
		return Message{}, err
	}
	if r.marked {
		m.Raw, r.marked = append(bytes.Clone(byteOrderMark), m.Raw...), false
	}
	return m, nil
}

var byteOrderMark = []byte("\xef\xbb\xbf")

func (r *Reader) next() (Message, error) {
	if r.w.offset == 0 {
		r.skipByteOrderMark()
	}
	for {
		c, err := r.gap()
		switch {
		case errors.Is(err, io.EOF) && r.array:
			return r.unclosed(), nil
		case err != nil:
			return Message{}, err
		case c == '[' && !r.array:
			r.array, r.comma = true, false
		case c == ']' && r.array:
			r.array = false
		case c == ',' && r.comma:
			r.comma = false
		default:
			return r.message(c)
		}
		r.w.advance()
	}
}

// skipByteOrderMark skips a byte order mark, which belongs to no value.
func (r *Reader) skipByteOrderMark() {
	r.w.begin() // so that nothing is dropped before all of it is there
	defer func() { r.w.start = -1 }()
	for i, want := range byteOrderMark {
		if c, err := r.w.peek(); err != nil || c != want {
			r.w.next -= i
			return
		}
		r.w.next++
	}
	r.w.offset, r.w.column, r.marked = int64(len(byteOrderMark)), 1+len(byteOrderMark), true
}

// unclosed is the final error for an array that the file does not close.
func (r *Reader) unclosed() Message {
	r.array, r.comma = false, false
	here := r.here()
	return Message{Line: here.line, Column: here.column, Offset: here.offset, Err: r.broken(here, "the file ends within an array, expected ] at its end")}
}

func (r *Reader) here() position {
	return position{line: r.w.line, column: r.w.column, offset: r.w.offset}
}

func (r *Reader) broken(at position, reason string) *BrokenError {
	return &BrokenError{Line: at.line, Column: at.column, Offset: at.offset, Reason: reason}
}

// message reads the value whose first byte is c.
func (r *Reader) message(c byte) (Message, error) {
	r.begun = r.here()
	due := r.array && r.comma
	r.comma = r.array
	r.w.begin()
	reason, err := r.value(c)
	if err != nil {
		return Message{}, err
	}
	at := r.here()
	raw, whole := r.w.end()
	m := Message{Raw: raw, Line: r.begun.line, Column: r.begun.column, Offset: r.begun.offset}
	switch {
	case reason != "":
		m.Raw = bytes.Clone(raw) // going on may move the window
		m.Err = r.broken(at, reason)
		return m, r.resume()
	case !whole:
		m.Err = r.broken(r.begun, fmt.Sprintf("found a message of more than %d bytes, which is the limit", r.limit))
	case due:
		m.Err = r.broken(r.begun, "found the next item of the array, expected a comma before it")
	}
	return m, nil
}

// resume skips to the end of a broken value: to the next line with a bracket in the column where the value began, which
// is where the messages of a file begin.
func (r *Reader) resume() error {
	for {
		c, err := r.w.peek()
		switch {
		case errors.Is(err, io.EOF):
			r.array = false // that it is not closed is the same mistake
			return nil
		case err != nil:
			return err
		case (c == '{' || c == '[') && r.w.column == r.begun.column && r.w.line > r.begun.line:
			r.comma = false
			return nil
		case c == ']' && r.array && r.w.column < r.begun.column:
			return nil
		}
		r.w.advance()
	}
}

// gap skips what may stand between values and returns the byte after it.
func (r *Reader) gap() (byte, error) {
	for {
		c, err := r.w.peek()
		if err != nil || !space(c) {
			return c, err
		}
		r.w.advance()
	}
}

func space(c byte) bool { return c == ' ' || c == '\t' || c == '\r' || c == '\n' }
