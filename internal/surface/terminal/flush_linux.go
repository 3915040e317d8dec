package terminal

import (
	"os"

	"golang.org/x/sys/unix"
)

// FlushTerminal throws away what was typed at a terminal and not yet read. It is
// what [Options.FlushInput] is made of; where f is not a terminal it does nothing.
func FlushTerminal(f *os.File) {
	_ = withFD(f, func(fd uintptr) { _ = unix.IoctlSetInt(int(fd), unix.TCFLSH, unix.TCIFLUSH) }) // no terminal, nothing typed
}

// The requests that read and set how a terminal works.
const (
	getTermios = unix.TCGETS
	setTermios = unix.TCSETS
)
