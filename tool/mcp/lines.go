package mcp

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"os"
	"sync"
)

// lines reads the messages of a server from its standard output: lines that begin as JSON does. Others, such as a greeting, are
// left out. A message that is too large ends it.
type lines struct {
	file   *os.File
	buffer *bufio.Reader
	most   int
	rest   []byte // of the line that is being read
	// strange is told once that something was left out.
	strange func()
	once    sync.Once
}

func newLines(file *os.File, most int, strange func()) *lines {
	return &lines{file: file, buffer: bufio.NewReaderSize(file, 64<<10), most: most, strange: strange}
}

// Read implements [io.Reader].
func (l *lines) Read(p []byte) (int, error) {
	for len(l.rest) == 0 {
		line, err := l.next()
		if len(line) > 0 {
			l.rest = line
			break
		}
		if err != nil {
			return 0, err
		}
	}
	n := copy(p, l.rest)
	l.rest = l.rest[n:]
	return n, nil
}

// next is the next line with its end, if it is a message; else nothing.
func (l *lines) next() ([]byte, error) {
	var line []byte
	size, message := 0, false
	for {
		part, err := l.buffer.ReadSlice('\n')
		if size == 0 {
			start := bytes.TrimLeft(part, " \t\r\n\ufeff")
			message = len(start) > 0 && (start[0] == '{' || start[0] == '[')
			if len(start) > 0 && !message {
				l.once.Do(l.strange)
			}
		}
		if size += len(part); message && size > l.most {
			return nil, fmt.Errorf("it sent a message of more than %d bytes", l.most)
		}
		if message {
			line = append(line, part...)
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		return line, err //nolint:wrapcheck // it is the reader's own
	}
}

// Close implements [io.Closer].
func (l *lines) Close() error { return l.file.Close() } //nolint:wrapcheck // it is the file's own
