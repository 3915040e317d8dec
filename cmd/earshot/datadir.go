package main

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
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
	incarnationFile = "incarnation"
	journalDir      = "journal"
)

const keySize = 32

// dataPath is where the data lives: the flag, $EARSHOT_DATA, $XDG_DATA_HOME/earshot, or
// ~/.local/share/earshot.
func (m *Main) dataPath(flag string) (string, error) {
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
	if err := os.MkdirAll(path, 0o700); err != nil {
		return nil, failed(err, "the data directory cannot be made", "use --data DIR or EARSHOT_DATA with a folder that you may write to")
	}
	if err := checkOwner(path); err != nil {
		return nil, err
	}
	lock, err := os.OpenFile(filepath.Join(path, lockFile), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, failed(err, "the data directory cannot be written to", "use --data DIR or EARSHOT_DATA with a folder that you may write to")
	}
	if err := unix.Flock(int(lock.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		holder := readHolder(lock)
		_ = lock.Close()
		return nil, failed(nil, "another earshot works with the data in "+path+holder, "wait until it has ended, or use another folder with --data DIR")
	}
	d := &dataDir{path: path, lock: lock}
	if err := d.sign(); err != nil {
		d.Close()
		return nil, failed(err, "the data directory cannot be written to", "make room, or use another folder with --data DIR")
	}
	return d, nil
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

func readHolder(lock *os.File) string {
	raw, err := io.ReadAll(io.LimitReader(lock, 32))
	if err != nil || strings.TrimSpace(string(raw)) == "" {
		return ""
	}
	return " (process " + strings.TrimSpace(string(raw)) + ")"
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

// Close gives the lock back.
func (d *dataDir) Close() { _ = d.lock.Close() }

func (d *dataDir) file(name string) string { return filepath.Join(d.path, name) }

// key reads the key that seals secrets, or makes it.
func (d *dataDir) key() ([]byte, error) {
	raw, err := os.ReadFile(d.file(keyFile))
	switch {
	case err == nil && len(raw) == keySize:
		return raw, nil
	case err == nil:
		return nil, failed(nil, fmt.Sprintf("the key file %s has %d bytes; it should have %d", d.file(keyFile), len(raw), keySize),
			"restore it from your backup; without it, secrets in the ledger cannot be read")
	case !errors.Is(err, fs.ErrNotExist):
		return nil, failed(err, "the key file cannot be read", "")
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
