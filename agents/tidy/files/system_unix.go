//go:build linux || darwin || freebsd || netbsd

package files

import (
	"errors"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

const (
	supported = true
	// openPlainFlags never follow a link and never wait for the other end of a pipe.
	openPlainFlags = os.O_RDONLY | syscall.O_NOFOLLOW | syscall.O_NONBLOCK
)

// lock takes the file for this process's open description; false means that another holds it.
func lock(f *os.File) (bool, error) {
	err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return false, nil
	}
	return err == nil, err //nolint:wrapcheck // the journal wraps it with its path.
}

// writable asks the system whether this user may change what lies in an open folder.
func writable(dir *os.File) bool {
	return unix.Faccessat(int(dir.Fd()), ".", unix.W_OK|unix.X_OK, unix.AT_EACCESS) == nil
}

// unlock gives the lock up at once. Closing alone would leave it to a process that is being forked just now, until it has started.
func unlock(f *os.File) {
	_ = syscall.Flock(int(f.Fd()), syscall.LOCK_UN)
}
