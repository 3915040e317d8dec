package main

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

// dataDir is the folder that holds the ledger, held by this process alone.
type dataDir struct {
	path string
	lock *os.File
}

// The files of a data directory.
const (
	ledgerFile      = "ledger.db"
	lockFile        = "lock"
	keyFile         = "key"
	databaseFile    = "database"
	incarnationFile = "incarnation"
	journalDir      = "journal"
	tokensFile      = "tokens.json"
	serverFile      = "server.json"
	personFile      = "person.token"
	pageFile        = "page"
)

const keySize = 32

// dataPath is where the data lives: the flag, $EARSHOT_DATA, $XDG_DATA_HOME/earshot, or
// ~/.local/share/earshot.
func (m *Main) dataPath(flag string, given bool) (string, error) {
	if given && flag == "" { // a shell's variable without a value: it does not mean the default
		return "", usage("the name of the data directory is empty", "name a folder, or leave --data out")
	}
	if flag == "" {
		flag = m.Getenv("EARSHOT_DATA")
	}
	if flag != "" {
		path, err := filepath.Abs(flag)
		if err != nil {
			return "", failed(err, "the data directory cannot be named", "use --data DIR with an absolute path")
		}
		return path, nil
	}
	base := m.Getenv("XDG_DATA_HOME")
	if !filepath.IsAbs(base) {
		home := m.Getenv("HOME")
		if home == "" {
			return "", failed(nil, "there is no home folder to keep the ledger in", "set EARSHOT_DATA or use --data DIR")
		}
		base = filepath.Join(home, ".local", "share")
	}
	return filepath.Join(base, "earshot"), nil
}

// openData makes the folder if need be and takes its lock.
func openData(path string) (*dataDir, error) {
	if err := makeData(path); err != nil {
		return nil, err
	}
	lock, err := os.OpenFile(filepath.Join(path, lockFile), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, failed(err, "the data directory cannot be written to", "use --data DIR or EARSHOT_DATA with a folder that you may write to")
	}
	if err := unix.Flock(int(lock.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		holder := readHolder(lock)
		_ = lock.Close()
		return nil, heldBy(path, holder, err)
	}
	d := &dataDir{path: path, lock: lock}
	if err := d.sign(); err != nil {
		d.Close()
		return nil, failed(err, "the data directory cannot be written to", "make room, or use another folder with --data DIR")
	}
	return d, nil
}

// makeData makes the folder if need be, and looks whether it is safe to use.
func makeData(path string) error {
	if err := os.MkdirAll(path, 0o700); err != nil {
		return failed(err, "the data directory cannot be made", "use --data DIR or EARSHOT_DATA with a folder that you may write to")
	}
	return checkOwner(path)
}

// errHeld says that another process works with the data.
var errHeld = errors.New("the data directory is held")

func heldBy(path string, holder int, err error) error {
	if !errors.Is(err, unix.EWOULDBLOCK) {
		return failed(err, "the data directory cannot be locked", "use --data DIR with a folder on a disk of this machine")
	}
	by := ""
	if holder > 0 {
		by = fmt.Sprintf(" (process %d)", holder)
	}
	return &cause.Error{
		Message: "another earshot works with the data in " + path + by,
		Hint:    "wait until it has ended, or use another folder with --data DIR", Err: errHeld,
	}
}

// checkOwner refuses a folder of somebody else: who can write there can say yes.
func checkOwner(path string) error {
	var st unix.Stat_t
	if err := unix.Stat(path, &st); err != nil {
		return failed(err, "the data directory cannot be looked at", "use --data DIR with a folder of your own")
	}
	if st.Mode&unix.S_IFMT != unix.S_IFDIR {
		return failed(nil, path+" is no folder", "use --data DIR with a folder")
	}
	if int(st.Uid) != os.Geteuid() {
		return failed(nil, fmt.Sprintf("the data directory %s belongs to user %d, and this is user %d", path, st.Uid, os.Geteuid()),
			"use --data DIR with a folder of your own")
	}
	if st.Mode&0o022 != 0 {
		return failed(nil, "others may write to the data directory "+path, "run `chmod 700 "+path+"`, then try again")
	}
	return nil
}

// readHolder is the process id that the lock's holder has left; 0 where there is none.
func readHolder(lock io.Reader) int {
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

// sign leaves our process id for whoever finds the lock taken.
func (d *dataDir) sign() error {
	if err := d.lock.Truncate(0); err != nil {
		return fmt.Errorf("the lock: %w", err)
	}
	if _, err := d.lock.WriteAt([]byte(fmt.Sprintln(os.Getpid())), 0); err != nil {
		return fmt.Errorf("the lock: %w", err)
	}
	return nil
}

// Close gives the lock back, also where a process that is just being started still shares
// the file: a tool may start one at any time.
func (d *dataDir) Close() {
	_ = unix.Flock(int(d.lock.Fd()), unix.LOCK_UN)
	_ = d.lock.Close()
}

func (d *dataDir) file(name string) string { return filepath.Join(d.path, name) }

// key reads the key that seals secrets, or makes it.
func (d *dataDir) key() ([]byte, error) {
	raw, err := os.ReadFile(d.file(keyFile))
	switch {
	case err == nil && len(raw) == keySize:
		return raw, nil
	case err == nil:
		return nil, failed(nil, fmt.Sprintf("the key file %s has %d bytes; it should have %d", d.file(keyFile), len(raw), keySize),
			restoreKey)
	case !errors.Is(err, fs.ErrNotExist):
		return nil, failed(err, "the key file cannot be read", "make "+d.file(keyFile)+" readable for yourself, or restore it from your backup")
	case exists(d.file(ledgerFile)):
		return nil, failed(nil, fmt.Sprintf("the key file %s is missing beside a ledger that is in use", d.file(keyFile)),
			"restore it from your backup, without it secrets in the ledger cannot be read; or use another folder with --data DIR")
	}
	raw = make([]byte, keySize)
	if _, err := io.ReadFull(rand.Reader, raw); err != nil {
		return nil, fmt.Errorf("randomness: %w", err)
	}
	if err := writeWhole(d.file(keyFile), raw); err != nil {
		return nil, failed(err, "the key file cannot be written", "make room, or use another folder with --data DIR")
	}
	return raw, nil
}

// gone tells whether the folder is no longer the one whose lock is held here.
func (d *dataDir) gone() bool {
	held, err := d.lock.Stat()
	if err != nil {
		return false
	}
	there, err := os.Stat(d.file(lockFile))
	return errors.Is(err, fs.ErrNotExist) || err == nil && !os.SameFile(held, there)
}

// lost is what to say of that: SQLite works on with what nobody can find again.
func (d *dataDir) lost() error {
	return failed(nil, "the data directory "+d.path+" has been moved or removed while the program worked; the record of this run is lost",
		"look at what was done before you run it again, or put the directory back")
}

// exists tells whether there is anything of that name.
func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// writeWhole replaces a file so that it is either the old or the new one, durably.
func writeWhole(path string, content []byte) error {
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
