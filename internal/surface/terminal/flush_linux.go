package terminal

import (
	"os"

	"golang.org/x/sys/unix"
)

// FlushTerminal discards what was typed at a terminal and not yet read. It is meant for [Options.FlushInput]; if f is
// not a terminal it does nothing.
func FlushTerminal(f *os.File) {
	_ = withFD(f, func(fd uintptr) { _ = unix.IoctlSetInt(int(fd), unix.TCFLSH, unix.TCIFLUSH) }) // not a terminal: there is no input to discard
}

// The requests that get and set the terminal mode.
const (
	getTermios = unix.TCGETS
	setTermios = unix.TCSETS
)
