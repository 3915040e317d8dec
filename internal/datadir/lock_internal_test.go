package datadir

import (
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// TestLockGivenBack: the lock is free once it was given back, also while a process that is
// just being started shares the open file.
func TestLockGivenBack(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "data")
	first, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	shared, err := unix.Dup(int(first.lock.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = unix.Close(shared) }()
	if _, err := Open(path); err == nil {
		t.Error("it is held twice")
	}
	first.Close()
	second, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	second.Close()
}
