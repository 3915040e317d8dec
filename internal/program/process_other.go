//go:build unix && !linux

package program

import (
	"io/fs"
	"os"
	"os/exec"
	"syscall"
)

// Attributes put a program into a session, and so into a group, of its own, without our terminal. That it ends with us, if
// we are killed, can only be asked for on Linux.
func Attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

// Wait waits for the end of a program. Last is done right after it.
func Wait(cmd *exec.Cmd, last func()) {
	_ = cmd.Wait() // the state says how it ended
	last()
}

// privileged reports whether a program is run with rights of its own: those of its owner or of its group.
func privileged(file *os.File) (bool, error) {
	info, err := file.Stat()
	if err != nil {
		return false, err //nolint:wrapcheck // the caller names the program
	}
	return info.Mode()&(fs.ModeSetuid|fs.ModeSetgid) != 0, nil
}
