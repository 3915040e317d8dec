package main_test

import (
	"errors"
	"io"
	"os"
	"strings"
	"syscall"
	"testing"
	"unicode"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"
	"golang.org/x/text/width"
)

// columns are the widths at which every conversation is held.
func columns() []uint16 { return []uint16{80, 40} }

// sit starts the program on a terminal of its own.
func sit(t *testing.T, wide uint16, o options) *process {
	t.Helper()
	p := &process{t: t, cmd: command(t, o), ended: make(chan struct{})}
	p.prompt = newHeard()
	p.out = p.prompt
	if o.into != "" {
		file, err := os.Create(o.into)
		must(t, err)
		defer func() { _ = file.Close() }() // the program has its own
		p.cmd.Stdout = file
	}
	master := screen(t, p, wide, o.ahead)
	p.input = master
	read := make(chan struct{})
	go func() {
		defer close(read)
		_, _ = io.Copy(p.prompt, master) // ends with an error when the other side is closed
	}()
	go func() {
		_ = p.cmd.Wait() // the state says how it ended
		<-read
		close(p.ended)
	}()
	t.Cleanup(func() {
		_ = p.cmd.Process.Kill() // it may have ended
		<-p.ended
		if err := master.Close(); err != nil && !errors.Is(err, os.ErrClosed) {
			t.Error(err)
		}
	})
	return p
}

// screen starts the program and returns the other end of its terminal, which can be
// closed while it is being read, and which no other program inherits.
func screen(t *testing.T, p *process, wide uint16, ahead string) *os.File {
	t.Helper()
	blocking, tty, err := pty.Open()
	must(t, err)
	must(t, pty.Setsize(blocking, &pty.Winsize{Rows: 50, Cols: wide}))
	_, err = blocking.WriteString(ahead)
	must(t, err)
	p.cmd.Stdin, p.cmd.Stderr = tty, tty
	if p.cmd.Stdout == nil {
		p.cmd.Stdout = tty
	}
	if p.cmd.SysProcAttr == nil {
		p.cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	p.cmd.SysProcAttr.Setsid, p.cmd.SysProcAttr.Setctty = true, true
	must(t, p.cmd.Start())
	must(t, tty.Close())
	fd, err := unix.FcntlInt(blocking.Fd(), unix.F_DUPFD_CLOEXEC, 0)
	must(t, err)
	must(t, blocking.Close())
	must(t, unix.SetNonblock(fd, true))
	return os.NewFile(uintptr(fd), "terminal")
}

// sit starts the agent on the folder, on a terminal.
func (s *scene) sit(wide uint16, args ...string) *process {
	s.t.Helper()
	return sit(s.t, wide, options{data: s.data, args: append([]string{"tidy", s.folder}, s.answering(args)...), fault: s.fault})
}

// readable demands of everything on the screen that no line but one of a single word is wider than the terminal,
// and that nothing in it can move the cursor or turn the text round.
func (p *process) readable(wide int) {
	p.t.Helper()
	text := strings.ReplaceAll(p.prompt.String(), "\r\n", "\n")
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		if strings.Contains(line, "^C") {
			continue // the terminal's own echo
		}
		word := strings.Trim(line, " \u2068\u2069")
		whole := !strings.Contains(word, " ") // a path or another long word stands whole on a line of its own
		if n := columnsOf(line); n > wide && !whole {
			p.t.Errorf("a line has %d columns of %d: %q", n, wide, line)
		}
		depth := 0
		for _, r := range line {
			switch {
			case r == '\u2068':
				depth++
			case r == '\u2069':
				depth--
			case unicode.IsControl(r), unicode.Is(unicode.Bidi_Control, r), r == '\u2028', r == '\u2029', r == unicode.ReplacementChar:
				p.t.Errorf("%U is in the line %q", r, line)
			}
		}
		if depth != 0 {
			p.t.Errorf("isolates do not close in %q", line)
		}
	}
}

// columnsOf counts as a plain terminal does.
func columnsOf(line string) int {
	n := 0
	for _, r := range line {
		switch kind := width.LookupRune(r).Kind(); {
		case unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf):
		case kind == width.EastAsianWide, kind == width.EastAsianFullwidth:
			n += 2
		default:
			n++
		}
	}
	return n
}

// proved closes a conversation: the ledger is whole.
func (s *scene) proved() *ledger {
	s.t.Helper()
	l := readLedger(s.t, s.data)
	l.ended()
	l.consented(1)
	return l
}

// hangUp takes the terminal away.
func (p *process) hangUp() { must(p.t, p.input.Close()) }
