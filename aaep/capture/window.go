package capture

import (
	"bytes"
	"errors"
	"fmt"
	"io"
)

const (
	windowSize = 256 << 10
	headSize   = 4 << 10 // the part of an oversized message that is retained
)

// window is the buffered part of a file: from the first byte of the current value to what has been read ahead.
type window struct {
	in    io.Reader
	limit int

	bytes  []byte
	start  int // where the value begins; -1 between values
	next   int // the next byte
	failed error

	line, column int
	offset       int64
	head         []byte // of an oversized value
}

func newWindow(in io.Reader, limit int) *window {
	return &window{in: in, limit: limit, bytes: make([]byte, 0, windowSize), start: -1, line: 1, column: 1}
}

// peek returns the next byte.
func (w *window) peek() (byte, error) {
	for w.next == len(w.bytes) {
		if w.failed != nil {
			return 0, w.failed
		}
		w.fill()
	}
	return w.bytes[w.next], nil
}

// fill reads more. It drops bytes that were read and belong to no value.
func (w *window) fill() {
	w.shorten()
	from := w.next
	if w.start >= 0 {
		from = w.start
		w.start = 0
	}
	w.bytes = w.bytes[:copy(w.bytes, w.bytes[from:])]
	w.next -= from
	if len(w.bytes) == cap(w.bytes) {
		w.bytes = append(make([]byte, 0, min(2*cap(w.bytes), w.limit+windowSize)), w.bytes...)
	}
	n, err := w.in.Read(w.bytes[len(w.bytes):cap(w.bytes)])
	w.bytes = w.bytes[:len(w.bytes)+n]
	if err != nil {
		w.failed = fmt.Errorf("capture: %w", err)
		if errors.Is(err, io.EOF) {
			w.failed = io.EOF
		}
	}
}

// shorten drops an oversized value except its beginning.
func (w *window) shorten() {
	if w.start < 0 || w.next-w.start <= w.limit {
		return
	}
	if len(w.head) == 0 {
		w.head = append(w.head, w.bytes[w.start:w.start+min(headSize, w.limit)]...)
	}
	w.start = w.next
}

// begin starts a value at the next byte.
func (w *window) begin() { w.start, w.head = w.next, w.head[:0] }

// end returns the value that ends before the next byte, and whether it is complete.
func (w *window) end() (raw []byte, whole bool) {
	w.shorten()
	raw, whole = w.bytes[w.start:w.next], len(w.head) == 0
	w.start = -1
	if !whole {
		raw = w.head
	}
	return raw, whole
}

// advance skips the next byte.
func (w *window) advance() {
	c := w.bytes[w.next]
	w.next++
	w.offset++
	w.column++
	if c == '\n' {
		w.line, w.column = w.line+1, 1
	}
}

// skip skips buffered bytes that are not in set, which contains a line feed.
func (w *window) skip(set string) {
	ahead := w.bytes[w.next:]
	n := bytes.IndexAny(ahead, set)
	if n < 0 {
		n = len(ahead)
	}
	w.next += n
	w.offset += int64(n)
	w.column += n
}
