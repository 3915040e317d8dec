package main

import (
	"io"
	"os"
	"sync"

	"github.com/earshot-dev/earshot/internal/cli"
)

// line is the connection to the terminals of one run. When one of them goes away, by a
// closed window or a lost connection, that is told once, and what is still said to it
// is dropped: a session is brought to its end also where nobody hears it.
type line struct {
	cut  func() // the terminal has gone away
	once sync.Once
}

// to is w, or where w is a terminal, that terminal on the line.
func (l *line) to(w io.Writer) io.Writer {
	file, isFile := w.(*os.File)
	if !isFile || !cli.IsTerminal(file) {
		return w
	}
	return &screen{file: file, line: l}
}

// lost reports whether a file that was a terminal has gone away, and tells it.
func (l *line) lost(file *os.File) bool {
	if cli.IsTerminal(file) {
		return false
	}
	l.once.Do(l.cut)
	return true
}

// screen is a terminal that is written to. It is safe for concurrent use.
type screen struct {
	file *os.File
	line *line
}

// Write never fails for the terminal's going away.
func (s *screen) Write(p []byte) (int, error) {
	n, err := s.file.Write(p)
	if err != nil && s.line.lost(s.file) {
		return len(p), nil
	}
	return n, err //nolint:wrapcheck // It passes for the file.
}
