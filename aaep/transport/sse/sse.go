// Package sse reads streams of server-sent events. It is the one place that knows their lines; the client and the judge of producers
// know messages.
package sse

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"strconv"
	"strings"
	"time"
)

// MaxLine bounds one line of a stream, and maxFrame one event of it, in bytes.
const (
	MaxLine  = 8 << 20
	maxFrame = 16 << 20
)

// ErrLongLine and ErrLongFrame end a stream that exceeds the limits.
var (
	ErrLongLine  = errors.New("a line is longer than 8 MiB")
	ErrLongFrame = errors.New("an event is longer than 16 MiB")
)

// Frame is one event of a stream.
type Frame struct {
	Name string // of the event; "" if it has none
	ID   string // the last id that was sent, with this event or an earlier one
	Data []byte
}

// Reader reads a stream of server-sent events according to the HTML standard: lines end with LF, CR or both, several
// data lines form one text, and an id holds until another is sent.
type Reader struct {
	from  *bufio.Reader
	begun bool // whether the first line has been read
	cr    bool // whether the last line ended with CR, so that a following LF belongs to it
	id    string
	pause time.Duration
}

// NewReader returns a reader of a stream that resumes after the id; "" is the beginning.
func NewReader(from io.Reader, after string) *Reader {
	return &Reader{from: bufio.NewReader(from), id: after}
}

// Pause returns the reconnection time that the server asked for; 0 if it did not.
func (s *Reader) Pause() time.Duration { return s.pause }

// Next reads up to the end of an event that has data. It calls onData for each line, including comments. An event that
// is not ended by an empty line is dropped.
func (s *Reader) Next(onData func()) (Frame, error) {
	var (
		f       Frame
		hasData bool
	)

	for {
		line, err := s.line()
		if err != nil {
			return Frame{}, err
		}

		onData()

		if len(line) == 0 {
			if f.ID = s.id; hasData {
				return f, nil
			}

			f = Frame{}

			continue
		}

		name, value, _ := bytes.Cut(line, []byte(":"))
		value = bytes.TrimPrefix(value, []byte(" "))

		if string(name) != "data" {
			s.field(&f, string(name), string(value))

			continue
		}

		if hasData {
			f.Data = append(f.Data, '\n')
		}

		if f.Data = append(f.Data, value...); len(f.Data) > maxFrame {
			return Frame{}, ErrLongFrame
		}

		hasData = true
	}
}

// field processes a line that is not data. Comments and unknown fields are ignored.
func (s *Reader) field(f *Frame, name, value string) {
	switch name {
	case "event":
		f.Name = value
	case "id":
		if !strings.ContainsRune(value, 0) {
			s.id = value
		}
	case "retry":
		if ms, err := strconv.ParseUint(value, 10, 31); err == nil {
			s.pause = time.Duration(ms) * time.Millisecond
		}
	default:
	}
}

// line returns a copy of the next line without its end.
func (s *Reader) line() ([]byte, error) {
	var line []byte

	for {
		ahead, err := s.ahead()
		if err != nil {
			return nil, err
		}

		end := bytes.IndexAny(ahead, "\r\n")
		if end < 0 {
			line = append(line, ahead...)
			s.drop(len(ahead))
		} else {
			line = append(line, ahead[:end]...)
			s.cr = ahead[end] == '\r'
			s.drop(end + 1)
		}

		if len(line) > MaxLine {
			return nil, ErrLongLine
		}

		if end >= 0 {
			return s.unmarked(line), nil
		}
	}
}

// ahead returns the buffered bytes, at least one.
func (s *Reader) ahead() ([]byte, error) {
	for {
		if _, err := s.from.Peek(1); err != nil {
			return nil, err //nolint:wrapcheck // the caller knows where it comes from
		}

		ahead, _ := s.from.Peek(s.from.Buffered())
		if !s.cr || ahead[0] != '\n' {
			s.cr = false

			return ahead, nil
		}

		s.cr = false
		s.drop(1)
	}
}

func (s *Reader) drop(n int) { _, _ = s.from.Discard(n) }

// unmarked removes the byte order mark from the first line.
func (s *Reader) unmarked(line []byte) []byte {
	if !s.begun {
		s.begun = true
		line = bytes.TrimPrefix(line, []byte("\xef\xbb\xbf"))
	}

	return line
}
