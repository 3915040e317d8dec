//go:build unix

package sqlite_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
)

// visitor is the variable that makes TestBackupKeepsItsHold the other process.
const visitor = "EARSHOT_TEST_VISITOR"

// TestBackupKeepsItsHold: a copy that the ledger's own process makes leaves its hold of the file as
// it was. Another process that finds the file held by nobody takes the log away when it goes,
// and what is written to it after that is lost.
func TestBackupKeepsItsHold(t *testing.T) {
	if path := os.Getenv(visitor); path != "" {
		isHeld(t, path)
		return
	}
	dir := t.TempDir()
	s := open(t, dir)
	if err := save(t.Context(), s, twoEvents(1)); err != nil {
		t.Fatal(err)
	}
	if err := s.Backup(t.Context(), filepath.Join(t.TempDir(), "copy.db")); err != nil {
		t.Fatal(err)
	}
	other := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+t.Name()+"$")
	other.Env = append(os.Environ(), visitor+"="+ledgerIn(dir))
	if said, err := other.CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, said)
	}
}

// isHeld looks for the lock that SQLite holds on a file for as long as it is open.
func isHeld(t *testing.T, path string) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close() //nolint:errcheck // only looked at
	const shared, size = 1<<30 + 2, 510
	lock := syscall.Flock_t{Type: syscall.F_WRLCK, Start: shared, Len: size}
	if err := syscall.FcntlFlock(f.Fd(), syscall.F_GETLK, &lock); err != nil || lock.Type == syscall.F_UNLCK {
		t.Errorf("nobody holds the ledger: %+v, %v", lock, err)
	}
}
