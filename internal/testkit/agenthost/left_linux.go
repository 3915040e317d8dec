package agenthost

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"unicode"

	"golang.org/x/sys/unix"
)

// leftLimit is how many milliseconds a killed process has to be gone.
const leftLimit = 10_000

// attributes give a host a process group of its own, and have it end with a test that panics.
func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// endAllOf ends each process that has a folder in its environment or works in it, however it has left its parents, and
// says which they were. It waits for them, so that the folder can be removed.
func endAllOf(t testing.TB, folder string) []string {
	t.Helper()
	var ended []string
	for again := true; again; {
		again = false
		folders, err := filepath.Glob("/proc/[0-9]*")
		if err != nil {
			t.Fatal(err)
		}
		for _, proc := range folders {
			if !belongs(proc, folder) {
				continue
			}
			command, err := endOne(proc, folder)
			if err != nil {
				t.Error(err)
				continue
			}
			if command != "" {
				ended, again = append(ended, command), true // it may have had children since
			}
		}
	}
	return ended
}

// belongs reports whether a process is of a run. Those of others cannot be read, and are none of ours.
func belongs(proc, folder string) bool {
	environment, _ := os.ReadFile(filepath.Join(proc, "environ"))
	if bytes.Contains(environment, []byte(folder+"/home")) {
		return true
	}
	cwd, _ := os.Readlink(filepath.Join(proc, "cwd"))
	return cwd == folder || strings.HasPrefix(cwd, folder+"/")
}

// endOne ends one process by a handle, which can mean no other process that got the same number. It is empty for one that
// has gone by itself.
func endOne(proc, folder string) (command string, err error) {
	pid, err := strconv.Atoi(filepath.Base(proc))
	if err != nil || pid == os.Getpid() {
		return "", err //nolint:wrapcheck // it names the number
	}
	handle, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		return "", nil // it has gone
	}
	defer func() { _ = unix.Close(handle) }()
	if !belongs(proc, folder) {
		return "", nil
	}
	line, _ := os.ReadFile(filepath.Join(proc, "cmdline"))
	command = shorten(line)
	if err := unix.PidfdSendSignal(handle, unix.SIGKILL, nil, 0); err != nil {
		return "", nil // it has gone
	}
	for {
		n, err := unix.Poll([]unix.PollFd{{Fd: int32(handle), Events: unix.POLLIN}}, leftLimit)
		switch {
		case errors.Is(err, unix.EINTR):
		case err != nil:
			return "", fmt.Errorf("wait for process %d (%s): %w", pid, command, err)
		case n == 0:
			return "", fmt.Errorf("process %d (%s) was killed and has not ended", pid, command)
		default:
			return fmt.Sprintf("%d (%s)", pid, command), nil
		}
	}
}

// shorten is the beginning of a command line: scripts that shells are given can be long.
func shorten(line []byte) string {
	const most = 160
	words := strings.Join(strings.FieldsFunc(string(line), func(r rune) bool { return r == 0 || unicode.IsSpace(r) }), " ")
	if len(words) > most {
		return words[:most] + "…"
	}
	return words
}
