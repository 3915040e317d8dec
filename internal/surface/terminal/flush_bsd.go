//go:build darwin || freebsd || netbsd || openbsd || dragonfly

package terminal

import (
	"os"

	"golang.org/x/sys/unix"
)

// FlushTerminal discards what was typed at a terminal and not yet read. It is meant for [Options.FlushInput]; if f is
// not a terminal it does nothing.
func FlushTerminal(f *os.File) {
	const read = 1 // FREAD: the input queue

	_ = withFD(f, func(fd uintptr) { _ = unix.IoctlSetPointerInt(int(fd), unix.TIOCFLUSH, read) }) // not a terminal: there is no input to discard
}

// The requests that get and set the terminal mode.
const (
	getTermios = unix.TIOCGETA
	setTermios = unix.TIOCSETA
)
