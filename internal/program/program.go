package program

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"os"
	"path/filepath"
	"sync"

	"golang.org/x/sys/unix"
)

// ErrChanged says that the program is not the one that was bound.
var ErrChanged = errors.New("it changed since review")

// Program ties what is run to the bytes of its program, as they were when the file of tools was read.
type Program struct {
	path string // as it is configured
	file string // what that leads to, without links
	// entry is the path without links but the last one: by this name the copy is run.
	entry string
	sum   [sha256.Size]byte
	// inPlace: the program has rights of its own, which a copy would lose. The file itself is run.
	inPlace bool

	mu   sync.Mutex
	seen fileState // of the file when it held what was bound
}

// fileState is what the system tells of a file. Two equal ones mean that it was not written in between; this saves the reading of
// what has most likely not changed, and nothing relies on it.
type fileState struct {
	device, number      uint64
	size, change, write int64
}

func stateOf(file *os.File) (fileState, error) {
	var st unix.Stat_t
	if err := unix.Fstat(int(file.Fd()), &st); err != nil {
		return fileState{}, err //nolint:wrapcheck // the caller names the program
	}
	return fileState{uint64(st.Dev), st.Ino, st.Size, st.Ctim.Nano(), st.Mtim.Nano()}, nil //nolint:unconvert // widths differ between systems
}

// Bind reads the program at a path. The error is a [*LocationError].
func Bind(path string) (*Program, error) {
	b := &Program{path: path}
	var err error
	if b.file, err = follow(path); err != nil {
		return nil, err
	}
	folder, err := filepath.EvalSymlinks(filepath.Dir(path))
	if err != nil {
		return nil, absent(path, err)
	}
	b.entry = filepath.Join(folder, filepath.Base(path))
	file, err := openProgram(b.file)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	before, err := stateOf(file)
	if err != nil {
		return nil, absent(path, err)
	}
	if b.inPlace, err = privileged(file); err != nil {
		return nil, absent(path, err)
	}
	if b.sum, err = digest(file); err != nil {
		return nil, absent(path, err)
	}
	if b.seen, err = stateOf(file); err != nil || b.seen != before {
		return nil, misplaced("one that nobody writes to", "%s changed while it was read", path)
	}
	return b, nil
}

// SHA256 is the program's SHA-256 in hexadecimal digits.
func (b *Program) SHA256() string { return hex.EncodeToString(b.sum[:]) }

// open opens the program as it lies there now. The error is a [*LocationError], or ErrChanged.
func (b *Program) open() (*os.File, error) {
	now, err := follow(b.path)
	if err != nil {
		return nil, err
	}
	if now != b.file {
		return nil, ErrChanged
	}
	file, err := openProgram(b.file)
	if err != nil {
		return nil, err
	}
	if err := b.compare(file); err != nil {
		_ = file.Close()
		return nil, err
	}
	return file, nil
}

// compare reads the file again if it has been touched; one that is run itself always.
func (b *Program) compare(file *os.File) error {
	now, err := stateOf(file)
	if err != nil {
		return absent(b.file, err)
	}
	b.mu.Lock()
	seen := b.seen
	b.mu.Unlock()
	if now == seen && !b.inPlace {
		return nil
	}
	sum, err := digest(file)
	if err != nil {
		return absent(b.file, err)
	}
	if own, err := privileged(file); err != nil || own != b.inPlace || sum != b.sum {
		return ErrChanged
	}
	b.mu.Lock()
	b.seen = now
	b.mu.Unlock()
	return nil
}

// digest reads a file from its beginning to its end.
func digest(file *os.File) (sum [sha256.Size]byte, err error) {
	if _, err = file.Seek(0, io.SeekStart); err != nil {
		return sum, err //nolint:wrapcheck // the caller names the program
	}
	hash := sha256.New()
	if _, err = io.Copy(hash, file); err != nil {
		return sum, err //nolint:wrapcheck // the caller names the program
	}
	return [sha256.Size]byte(hash.Sum(nil)), nil
}
