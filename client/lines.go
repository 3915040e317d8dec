package client

import (
	"bufio"
	"bytes"
	"errors"
	"io"

	"github.com/earshot-dev/earshot/aaep/transport/sse"
)

// lines reads a stream line by line.
type lines struct{ from *bufio.Reader }

func newLines(from io.Reader) *lines { return &lines{from: bufio.NewReader(from)} }

// next returns a copy of the next line without its end.
func (l *lines) next() ([]byte, error) {
	var line []byte

	for {
		part, err := l.from.ReadSlice('\n')
		line = append(line, part...)

		switch {
		case len(line) > sse.MaxLine:
			return nil, sse.ErrLongLine
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		}

		return bytes.TrimRight(line, "\r\n"), err
	}
}
