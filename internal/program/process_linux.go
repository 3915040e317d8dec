package program

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"syscall"

	"golang.org/x/sys/unix"
)

// Attributes put a program into a session, and so into a group, of its own, and end it with the thread that has started it.
// So it has no terminal: it cannot answer in the one where a person is logged in, nor ask or read there behind our back.
func Attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL}
}

// Wait waits for the end of a program. Last is done while its number still belongs to
// it, and so does that of its group.
func Wait(cmd *exec.Cmd, last func()) {
	for errors.Is(unix.Waitid(unix.P_PID, cmd.Process.Pid, nil, unix.WEXITED|unix.WNOWAIT, nil), unix.EINTR) {
		continue
	}
	last()
	_ = cmd.Wait() // the state says how it ended
}

// privileged reports whether a program is run with rights of its own: those of its owner, of its group, or capabilities.
func privileged(file *os.File) (bool, error) {
	info, err := file.Stat()
	if err != nil {
		return false, err //nolint:wrapcheck // the caller names the program
	}
	size, err := unix.Fgetxattr(int(file.Fd()), "security.capability", nil)
	if err != nil {
		size = 0 // there are none, or the file system keeps none
	}
	return size > 0 || info.Mode()&(fs.ModeSetuid|fs.ModeSetgid) != 0, nil
}
