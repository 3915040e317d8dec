package terminal

import (
	"bytes"
	"io"
	"strings"
	"sync"
)

// maxLine is the maximum number of bytes of a line; the rest is dropped.
const maxLine = 4096

// typedLine is one line, or some keys if the terminal sends every key, with the number of flushes before its last byte
// was read.
type typedLine struct {
	text    string
	flushes int
}

// input reads lines in a separate goroutine. The goroutine ends at the end of in, or at stop. If in cannot be polled, a
// blocked Read holds the goroutine until it returns, and stop does not wait.
type input struct {
	in    io.Reader
	empty func()         // nil for a pipe
	keys  bool           // input is passed on as it is read, not line by line
	gate  gate           // nil if in cannot be polled
	lines chan typedLine // closed by the goroutine at the end of in
	quit  chan struct{}
	done  chan struct{}

	mu      sync.Mutex // locked while in is read or flushed
	flushes int
}

// gate waits until a reader is readable.
type gate interface {
	wait() bool     // false once it is closed
	readable() bool // without blocking
	close()
	release() // after the last use
}

func newInput(in io.Reader, empty func(), keys bool) *input {
	i := &input{in: in, empty: empty, keys: keys, gate: newGate(in), lines: make(chan typedLine), quit: make(chan struct{}), done: make(chan struct{})}

	go i.run()

	return i
}

// flush discards what was typed until now: what the terminal has buffered and, by the flush count, the lines that have
// been read.
func (i *input) flush() {
	if i.empty == nil {
		return
	}

	i.mu.Lock()
	defer i.mu.Unlock()

	i.flushes++
	i.empty()
}

// current reports whether a line was read after the latest flush.
func (i *input) current(line typedLine) bool {
	i.mu.Lock()
	defer i.mu.Unlock()

	return line.flushes == i.flushes
}

func (i *input) stop() {
	close(i.quit)

	if i.gate == nil {
		return
	}

	i.gate.close()
	<-i.done
	i.gate.release()
}

func (i *input) run() {
	defer close(i.done)

	var (
		buffer = make([]byte, maxLine)
		line   assembly
	)

	for {
		n, flushes, err := i.read(buffer)
		if i.keys && n > 0 && !i.hand(typedLine{string(buffer[:n]), flushes}) {
			return
		}

		for _, text := range line.add(i.wholeLines(buffer[:n]), flushes) {
			if !i.hand(typedLine{text, flushes}) {
				return
			}
		}

		if err != nil {
			i.end(line)

			return
		}
	}
}

// wholeLines returns the bytes to assemble to lines: none if the terminal sends every key.
func (i *input) wholeLines(read []byte) []byte {
	if i.keys {
		return nil
	}

	return read
}

// read reads once. With a gate, reading the bytes and counting the flushes is atomic, so that nothing typed before a
// flush can pass for later. Without one, a line that is being read during the flush may.
func (i *input) read(buffer []byte) (n, flushes int, err error) {
	if i.gate == nil {
		n, err = i.in.Read(buffer)

		i.mu.Lock()
		defer i.mu.Unlock()

		return n, i.flushes, err //nolint:wrapcheck // any error is the end of the input
	}

	if !i.gate.wait() {
		return 0, 0, io.EOF
	}

	i.mu.Lock()
	defer i.mu.Unlock()

	if !i.gate.readable() { // a flush was faster
		return 0, i.flushes, nil
	}

	n, err = i.in.Read(buffer)

	return n, i.flushes, err //nolint:wrapcheck // any error is the end of the input
}

func (i *input) hand(line typedLine) bool {
	select {
	case i.lines <- line:
		return true
	case <-i.quit:
		return false
	}
}

// end passes on a last line without a line end, and closes the channel.
func (i *input) end(line assembly) {
	if len(line.bytes) > 0 && !i.hand(typedLine{line.text(), line.flushes}) {
		return
	}

	select {
	case <-i.quit: // nobody reads any more
	default:
		close(i.lines)
	}
}

// assembly is an incomplete line.
type assembly struct {
	bytes   []byte
	flushes int
}

// add adds the bytes that were read and returns the lines they complete. It discards what was begun before a flush.
func (a *assembly) add(read []byte, flushes int) []string {
	if flushes != a.flushes {
		a.bytes, a.flushes = nil, flushes
	}

	var lines []string

	for len(read) > 0 {
		rest, after, ends := bytes.Cut(read, []byte{'\n'})
		a.bytes = append(a.bytes, rest[:min(len(rest), maxLine-len(a.bytes))]...)
		read = after

		if ends {
			lines = append(lines, a.text())
			a.bytes = nil
		}
	}

	return lines
}

func (a *assembly) text() string { return strings.TrimSuffix(string(a.bytes), "\r") }
