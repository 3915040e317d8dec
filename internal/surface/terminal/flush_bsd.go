//go:build darwin || freebsd || netbsd || openbsd || dragonfly

package terminal

import (
	"os"

	"golang.org/x/sys/unix"
)

// FlushTerminal throws away what was typed at a terminal and not yet read. It is
// what [Options.FlushInput] is made of; where f is not a terminal it does nothing.
func FlushTerminal(f *os.File) {
	const read = 1 // FREAD: the queue of what was typed

	_ = withFD(f, func(fd uintptr) { _ = unix.IoctlSetPointerInt(int(fd), unix.TIOCFLUSH, read) }) // no terminal, nothing typed
}

// The requests that read and set how a terminal works.
const (
	getTermios = unix.TIOCGETA
	setTermios = unix.TIOCSETA
)
