package main

import (
	"io"
	"os"
	"sync"

	"github.com/earshot-dev/earshot/internal/cli"
)

// line is the connection to the terminals of one run. If one of them is lost, by a closed window or a lost connection,
// this is reported once, and further output to it is dropped: a session is completed even if nobody hears it.
type line struct {
	cut  func() // called when the terminal is lost
	once sync.Once
}

// to returns w or, if w is a terminal, a writer that tolerates its loss.
func (l *line) to(w io.Writer) io.Writer {
	file, isFile := w.(*os.File)
	if !isFile || !cli.IsTerminal(file) {
		return w
	}
	return &screen{file: file, line: l}
}

// lost checks whether a file that was a terminal is lost, and reports that.
func (l *line) lost(file *os.File) bool {
	if cli.IsTerminal(file) {
		return false
	}
	l.once.Do(l.cut)
	return true
}

// screen writes to a terminal. It is safe for concurrent use.
type screen struct {
	file *os.File
	line *line
}

// Write never fails because the terminal is lost.
func (s *screen) Write(p []byte) (int, error) {
	n, err := s.file.Write(p)
	if err != nil && s.line.lost(s.file) {
		return len(p), nil
	}
	return n, err //nolint:wrapcheck // It passes for the file.
}
