package client

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"strconv"
	"strings"
	"time"
)

// maxStreamLine bounds one line of a stream, and maxFrame one event of it.
const (
	maxStreamLine = 8 << 20
	maxFrame      = 16 << 20
)

var (
	errLongLine  = errors.New("a line is longer than 8 MiB")
	errLongFrame = errors.New("an event is longer than 16 MiB")
)

func isEOF(err error) bool { return errors.Is(err, io.EOF) }

// frame is one event of a stream.
type frame struct {
	name string // of the event; "" if it has none
	id   string // the last id that was sent, with this event or an earlier one
	data []byte
}

// frames reads a stream of server-sent events according to the HTML standard: lines end with LF, CR or both, several
// data lines form one text, and an id holds until another is sent.
type frames struct {
	from  *bufio.Reader
	begun bool // whether the first line has been read
	cr    bool // whether the last line ended with CR, so that a following LF belongs to it
	id    string
	// pause is the reconnection time that the server asked for; 0 if it did not.
	pause time.Duration
}

func newFrames(from io.Reader) *frames { return &frames{from: bufio.NewReader(from)} }

// next reads up to the end of an event that has data. It calls onData for each line, including comments. An event that
// is not ended by an empty line is dropped.
func (s *frames) next(onData func()) (frame, error) {
	var (
		f       frame
		hasData bool
	)

	for {
		line, err := s.line()
		if err != nil {
			return frame{}, err
		}

		onData()

		if len(line) == 0 {
			if f.id = s.id; hasData {
				return f, nil
			}

			f = frame{}

			continue
		}

		name, value, _ := bytes.Cut(line, []byte(":"))
		value = bytes.TrimPrefix(value, []byte(" "))

		if string(name) != "data" {
			s.field(&f, string(name), string(value))

			continue
		}

		if hasData {
			f.data = append(f.data, '\n')
		}

		if f.data = append(f.data, value...); len(f.data) > maxFrame {
			return frame{}, errLongFrame
		}

		hasData = true
	}
}

// field processes a line that is not data. Comments and unknown fields are ignored.
func (s *frames) field(f *frame, name, value string) {
	switch name {
	case "event":
		f.name = value
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
func (s *frames) line() ([]byte, error) {
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

		if len(line) > maxStreamLine {
			return nil, errLongLine
		}

		if end >= 0 {
			return s.unmarked(line), nil
		}
	}
}

// ahead returns the buffered bytes, at least one.
func (s *frames) ahead() ([]byte, error) {
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

func (s *frames) drop(n int) { _, _ = s.from.Discard(n) }

// unmarked removes the byte order mark from the first line.
func (s *frames) unmarked(line []byte) []byte {
	if !s.begun {
		s.begun = true
		line = bytes.TrimPrefix(line, []byte("\xef\xbb\xbf"))
	}

	return line
}
