// Package datadir is the folder in which a server stores its data: the ledger, the key that encrypts secrets, the
// tokens, and the address of the server. Only one process at a time uses it, and holds its lock.
package datadir

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/earshot-dev/earshot/internal/cause"
)

// Dir is a data directory. [Open] returns one that this process has locked; one with only its path just names the
// files.
type Dir struct {
	Path string // absolute
	lock *os.File
}

// The files of a data directory.
const (
	LedgerFile   = "ledger.db"
	LockFile     = "lock"
	KeyFile      = "key"
	DatabaseFile = "database"
	CounterFile  = "incarnation"
	JournalDir   = "journal"
	TokensFile   = "tokens.json"
	ServerFile   = "server.json"
	SocketFile   = "aaep.sock"
	PersonFile   = "person.token"
	PageFile     = "page"
	ToolsFile    = "tools.yaml"
)

// KeySize is the length of the key in bytes.
const KeySize = 32

// RestoreKey says what to do if the key cannot be used.
const RestoreKey = "restore it from your backup; without it, secrets in the ledger cannot be read"

// Open creates the folder if necessary and takes its lock.
func Open(path string) (*Dir, error) {
	if err := Make(path); err != nil {
		return nil, err
	}
	lock, err := os.OpenFile(filepath.Join(path, LockFile), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, cause.Fail(err, "the data directory cannot be written to", "use --data DIR or EARSHOT_DATA with a folder that you may write to")
	}
	if err := unix.Flock(int(lock.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		holder := ReadHolder(lock)
		_ = lock.Close()
		return nil, LockedBy(path, holder, err)
	}
	d := &Dir{Path: path, lock: lock}
	if err := d.sign(); err != nil {
		d.Close()
		return nil, cause.Fail(err, "the data directory cannot be written to", "make room, or use another folder with --data DIR")
	}
	return d, nil
}

// Make creates the folder if necessary, and checks that it is safe to use.
func Make(path string) error {
	if err := os.MkdirAll(path, 0o700); err != nil {
		return cause.Fail(err, "the data directory cannot be made", "use --data DIR or EARSHOT_DATA with a folder that you may write to")
	}
	return CheckOwner(path)
}

// ErrLocked means that another process uses the data.
var ErrLocked = errors.New("another process uses the data directory")

// LockedBy returns the error for a folder whose lock is held by the process holder (0 if unknown).
func LockedBy(path string, holder int, err error) error {
	if !errors.Is(err, unix.EWOULDBLOCK) {
		return cause.Fail(err, "the data directory cannot be locked", "use --data DIR with a folder on a disk of this machine")
	}
	by := ""
	if holder > 0 {
		by = fmt.Sprintf(" (process %d)", holder)
	}
	return &cause.Error{
		Message: "another earshot works with the data in " + path + by,
		Hint:    "wait until it has ended, or use another folder with --data DIR", Err: ErrLocked,
	}
}

// CheckOwner refuses a folder that belongs to somebody else: whoever can write there can forge consent.
func CheckOwner(path string) error {
	var st unix.Stat_t
	if err := unix.Stat(path, &st); err != nil {
		return cause.Fail(err, "the data directory cannot be looked at", "use --data DIR with a folder of your own")
	}
	if st.Mode&unix.S_IFMT != unix.S_IFDIR {
		return cause.Fail(nil, path+" is not a folder", "use --data DIR with a folder")
	}
	if int(st.Uid) != os.Geteuid() {
		return cause.Fail(nil, fmt.Sprintf("the data directory %s belongs to user %d, and this is user %d", path, st.Uid, os.Geteuid()),
			"use --data DIR with a folder of your own")
	}
	if st.Mode&0o022 != 0 {
		return cause.Fail(nil, "others may write to the data directory "+path, "run `chmod 700 "+path+"`, then try again")
	}
	return nil
}

// ReadHolder returns the process id that the lock's holder has written; 0 if there is none.
func ReadHolder(lock io.Reader) int {
	raw, err := io.ReadAll(io.LimitReader(lock, 32))
	if err != nil {
		return 0
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(raw)))
	if err != nil {
		return 0
	}
	return pid
}

// sign writes our process id for anyone who finds the lock taken.
func (d *Dir) sign() error {
	if err := d.lock.Truncate(0); err != nil {
		return fmt.Errorf("the lock: %w", err)
	}
	if _, err := d.lock.WriteAt([]byte(fmt.Sprintln(os.Getpid())), 0); err != nil {
		return fmt.Errorf("the lock: %w", err)
	}
	return nil
}

// Close releases the lock explicitly, because a child process that is just being started may still share the file: a
// tool may start one at any time.
func (d *Dir) Close() {
	_ = unix.Flock(int(d.lock.Fd()), unix.LOCK_UN)
	_ = d.lock.Close()
}

// File returns the path of the file with this name in the directory.
func (d *Dir) File(name string) string { return filepath.Join(d.Path, name) }

// Key reads the key that encrypts secrets, or creates it.
func (d *Dir) Key() ([]byte, error) {
	raw, err := os.ReadFile(d.File(KeyFile))
	switch {
	case err == nil && len(raw) == KeySize:
		return raw, nil
	case err == nil:
		return nil, cause.Fail(nil, fmt.Sprintf("the key file %s has %d bytes; it should have %d", d.File(KeyFile), len(raw), KeySize),
			RestoreKey)
	case !errors.Is(err, fs.ErrNotExist):
		return nil, cause.Fail(err, "the key file cannot be read", "make "+d.File(KeyFile)+" readable for yourself, or restore it from your backup")
	case Exists(d.File(LedgerFile)):
		return nil, cause.Fail(nil, fmt.Sprintf("the key file %s is missing beside a ledger that is in use", d.File(KeyFile)),
			"restore it from your backup, without it secrets in the ledger cannot be read; or use another folder with --data DIR")
	}
	raw = make([]byte, KeySize)
	if _, err := io.ReadFull(rand.Reader, raw); err != nil {
		return nil, fmt.Errorf("randomness: %w", err)
	}
	if err := WriteFile(d.File(KeyFile), raw); err != nil {
		return nil, cause.Fail(err, "the key file cannot be written", "make room, or use another folder with --data DIR")
	}
	return raw, nil
}

// Replaced reports whether the folder is no longer the one whose lock is held here.
func (d *Dir) Replaced() bool {
	held, err := d.lock.Stat()
	if err != nil {
		return false
	}
	there, err := os.Stat(d.File(LockFile))
	return errors.Is(err, fs.ErrNotExist) || err == nil && !os.SameFile(held, there)
}

// Lost returns the error for that: SQLite would continue to write to files that nobody can find again.
func (d *Dir) Lost() error {
	return cause.Fail(nil, "the data directory "+d.Path+" has been moved or removed while the program worked; the record of this run is lost",
		"look at what was done before you run it again, or put the directory back")
}

// Exists reports whether the path exists.
func Exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// WriteFile replaces a file atomically and durably: it is always either the old or the new one.
func WriteFile(path string, content []byte) error {
	dir, err := os.Open(filepath.Dir(path))
	if err != nil {
		return fmt.Errorf("writing %s: %w", path, err)
	}
	defer func() { _ = dir.Close() }()
	f, err := os.OpenFile(path+".new", os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return fmt.Errorf("writing %s: %w", path, err)
	}
	_, err = f.Write(content)
	err = errors.Join(err, f.Sync(), f.Close())
	if err == nil {
		err = errors.Join(os.Rename(path+".new", path), dir.Sync())
	}
	if err != nil {
		return fmt.Errorf("writing %s: %w", path, err)
	}
	return nil
}
