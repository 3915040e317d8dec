//go:build unix

package terminal

import (
	"errors"
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// fileGate waits for a file with poll(2), and for its own end with a pipe.
type fileGate struct {
	file        *os.File
	wakes, wake *os.File
}

// newGate returns nil for what is not a file, or cannot be polled, like some terminals on some systems.
func newGate(in io.Reader) gate {
	file, ok := in.(*os.File)
	if !ok {
		return nil
	}

	wakes, wake, err := os.Pipe()
	if err != nil {
		return nil
	}

	g := &fileGate{file: file, wakes: wakes, wake: wake}
	if _, err := g.pollBoth(0); err != nil {
		g.close()
		g.release()

		return nil
	}

	return g
}

func (g *fileGate) wait() bool {
	ready, stopped := g.poll(-1)

	return ready && !stopped
}

func (g *fileGate) readable() bool {
	ready, _ := g.poll(0)

	return ready
}

func (g *fileGate) close() { _ = g.wake.Close() } // nothing was written; closing is the signal

func (g *fileGate) release() { _ = g.wakes.Close() }

// poll reports whether the file can be read without blocking, also at its end, and whether the gate has been closed.
func (g *fileGate) poll(milliseconds int) (ready, stopped bool) {
	fds, err := g.pollBoth(milliseconds)
	if err != nil {
		return true, false // the read returns the error
	}

	return fds[0].Revents != 0, fds[1].Revents != 0
}

func (g *fileGate) pollBoth(milliseconds int) (fds [2]unix.PollFd, err error) {
	closed := withFD(g.file, func(file uintptr) {
		_ = withFD(g.wakes, func(wakes uintptr) { // open for as long as the gate is used
			fds = [2]unix.PollFd{{Fd: int32(file), Events: unix.POLLIN}, {Fd: int32(wakes), Events: unix.POLLIN}}

			_, err = unix.Poll(fds[:], milliseconds)
			for errors.Is(err, unix.EINTR) {
				_, err = unix.Poll(fds[:], milliseconds)
			}
		})
	})
	if closed != nil {
		return fds, closed
	}

	if err == nil && fds[0].Revents&unix.POLLNVAL != 0 {
		err = unix.EBADF
	}

	return fds, err
}

// withFD uses a file's descriptor without changing its mode.
func withFD(file *os.File, use func(fd uintptr)) error {
	raw, err := file.SyscallConn()
	if err != nil {
		return err //nolint:wrapcheck // only that there is one matters
	}

	return raw.Control(use) //nolint:wrapcheck // only that there is one matters
}
