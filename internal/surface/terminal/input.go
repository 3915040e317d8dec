package terminal

import (
	"bytes"
	"io"
	"strings"
	"sync"
)

// maxLine is how many bytes of a line are kept.
const maxLine = 4096

// typedLine is one line, or where every key comes by itself some keys, and how many flushes had happened
// when its last byte was read.
type typedLine struct {
	text    string
	flushes int
}

// input reads lines in a goroutine of its own. The goroutine ends at the end of
// in, or at stop; where in cannot be waited for, a Read that blocks holds it
// until it returns, and stop does not wait.
type input struct {
	in    io.Reader
	empty func()         // nil for a pipe
	keys  bool           // what is read is handed over as it comes, not by the line
	gate  gate           // nil where in cannot be waited for
	lines chan typedLine // closed by the goroutine at the end of in
	quit  chan struct{}
	done  chan struct{}

	mu      sync.Mutex // held while bytes are taken from in, and while it is flushed
	flushes int
}

// gate waits until a reader has something to give.
type gate interface {
	wait() bool     // false once it is closed
	readable() bool // without waiting
	close()
	release() // after the last use
}

func newInput(in io.Reader, empty func(), keys bool) *input {
	i := &input{in: in, empty: empty, keys: keys, gate: newGate(in), lines: make(chan typedLine), quit: make(chan struct{}), done: make(chan struct{})}

	go i.run()

	return i
}

// flush throws away what was typed until now: what the terminal holds, and, by
// their count, the lines that have been read.
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

// wholeLines is what is put together to lines: nothing where keys come by themselves.
func (i *input) wholeLines(read []byte) []byte {
	if i.keys {
		return nil
	}

	return read
}

// read reads once. Taking the bytes and counting the flushes is one step where
// there is a gate, so that nothing typed before a flush can pass for later. Where
// there is none, a line that is being read during the flush may.
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

// end hands over a last line that has no line end, and closes the channel.
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

// assembly is a line that is not complete.
type assembly struct {
	bytes   []byte
	flushes int
}

// add takes the bytes that were read and returns the lines they complete. What
// was begun before a flush is thrown away.
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
