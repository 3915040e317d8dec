package command

import (
	"errors"
	"os"
	"os/exec"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// attributes put a program into a group of its own, and end it with us.
func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// folderOf names an open folder for the program: the one that was looked at, also if its
// name has come to mean another since.
func folderOf(folder *os.File) string { return "/proc/self/fd/" + strconv.Itoa(int(folder.Fd())) }

// wait waits for the end of a program. Last is done while its number still belongs to
// it, and so does that of its group.
func wait(cmd *exec.Cmd, last func()) {
	for errors.Is(unix.Waitid(unix.P_PID, cmd.Process.Pid, nil, unix.WEXITED|unix.WNOWAIT, nil), unix.EINTR) {
		continue
	}
	last()
	_ = cmd.Wait() // the state says how it ended
}
