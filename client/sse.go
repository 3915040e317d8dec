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
	name string // of the event; "" for the unnamed one
	id   string // the last that was given, by this event or one before
	data []byte
}

// frames reads a stream of server-sent events as the HTML standard has it: lines end
// with LF, CR or both, several data lines are one text, and an id holds until another
// is given.
type frames struct {
	from  *bufio.Reader
	begun bool // the first line has been read
	cr    bool // the last line ended with CR, so that an LF belongs to it
	id    string
	// pause is how soon the server wants its listeners back; 0 where it has not said.
	pause time.Duration
}

func newFrames(from io.Reader) *frames { return &frames{from: bufio.NewReader(from)} }

// next reads up to the end of an event that has data. Alive is called for each line,
// comments among them. What is not ended by an empty line does not count.
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

// field takes in a line that is not data. Comments and unknown fields mean nothing.
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

// line reads a line without its end, in memory of its own.
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

// ahead is what can be looked at, at least a byte of it.
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

// unmarked takes the byte order mark from the first line.
func (s *frames) unmarked(line []byte) []byte {
	if !s.begun {
		s.begun = true
		line = bytes.TrimPrefix(line, []byte("\xef\xbb\xbf"))
	}

	return line
}
