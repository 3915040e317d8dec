package access

import (
	"bytes"
	"encoding/binary"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// touches are the events after which the file may be another one. The end of a write is enough: the folder contains
// files that are written to all the time.
const touches = unix.IN_CLOSE_WRITE | unix.IN_CREATE | unix.IN_DELETE | unix.IN_MOVED_FROM | unix.IN_MOVED_TO | unix.IN_ATTRIB |
	unix.IN_DELETE_SELF | unix.IN_MOVE_SELF | unix.IN_ONLYDIR

// changes sends when a file may have changed. It watches the file's folder until stop is called (which waits for the
// end) or notifications end; then it closes the channel. It returns nil if notifications are not available.
func changes(path string) (changed <-chan struct{}, stop func()) {
	fd, err := unix.InotifyInit1(unix.IN_CLOEXEC | unix.IN_NONBLOCK)
	if err != nil {
		return nil, func() {}
	}
	folder := os.NewFile(uintptr(fd), "inotify")
	if _, err := unix.InotifyAddWatch(fd, filepath.Dir(path), touches); err != nil {
		_ = folder.Close()
		return nil, func() {}
	}
	wakeup, done := make(chan struct{}, 1), make(chan struct{})
	go func() {
		defer close(done)
		defer close(wakeup)
		var buffer [4 << 10]byte
		for {
			n, err := folder.Read(buffer[:])
			if err != nil { // closed, or broken
				return
			}
			about, last := read(buffer[:n], filepath.Base(path))
			if about || last {
				select {
				case wakeup <- struct{}{}:
				default:
				}
			}
			if last {
				return
			}
		}
	}()
	return wakeup, func() {
		_ = folder.Close()
		<-done
	}
}

// read parses notifications. It reports whether one of them may concern the file, and whether they are the last because
// the folder itself was removed.
func read(notices []byte, name string) (about, last bool) {
	for len(notices) >= unix.SizeofInotifyEvent {
		mask := binary.NativeEndian.Uint32(notices[4:])
		size := int(binary.NativeEndian.Uint32(notices[12:]))
		rest := notices[unix.SizeofInotifyEvent:]
		if size > len(rest) {
			return true, last
		}
		of := string(bytes.TrimRight(rest[:size], "\x00"))
		about = about || of == name || mask&unix.IN_Q_OVERFLOW != 0
		last = last || mask&(unix.IN_IGNORED|unix.IN_DELETE_SELF|unix.IN_MOVE_SELF|unix.IN_UNMOUNT) != 0
		notices = rest[size:]
	}
	return about, last
}
