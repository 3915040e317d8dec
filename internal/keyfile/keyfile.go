// Package keyfile keeps private keys in files that only their owner can open.
package keyfile

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/earshot-dev/earshot/internal/cause"
)

// The modes of the files of a key.
const (
	PrivateMode os.FileMode = 0o600
	PublicMode  os.FileMode = 0o644
)

// CreatePair writes a private key and its public half into two files that must not exist yet: both of them or none.
func CreatePair(privateFile string, private []byte, publicFile string, public []byte) error {
	if err := create(privateFile, private, PrivateMode); err != nil {
		return err
	}
	err := create(publicFile, public, PublicMode)
	if err != nil {
		_ = os.Remove(privateFile) // nothing was signed with it
	}
	return err
}

func create(name string, content []byte, mode os.FileMode) error {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err == nil {
		_, err = f.Write(content)
		if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
			_ = os.Remove(name)
		}
	}
	if err != nil {
		return cause.Fail(err, "the key was not written", "name a new file, in a folder that you may write to")
	}
	return nil
}

// Replace writes a file whole or not at all, in the place of another one.
func Replace(name string, content []byte, mode os.FileMode) (err error) {
	f, err := os.CreateTemp(filepath.Dir(name), "."+filepath.Base(name)+"-*") // open to the owner alone
	if err == nil {
		defer func() { _ = os.Remove(f.Name()) }() // it is there only after a failure
		_, err = f.Write(content)
		err = errors.Join(err, f.Chmod(mode), f.Sync(), f.Close())
	}
	if err == nil {
		err = os.Rename(f.Name(), name)
	}
	if err != nil {
		return cause.Fail(err, "the key in "+name+" was not replaced", "make room, and name a file in a folder that you may write to")
	}
	return nil
}

// CheckClosed refuses the file of a key that others can open. One that is not there is for its reader to report.
func CheckClosed(name string) error {
	info, err := os.Stat(name)
	if err != nil || info.Mode().Perm()&0o077 == 0 {
		return nil //nolint:nilerr // reading it says why
	}
	return cause.Fail(nil, fmt.Sprintf("the file of the key, %s, is open to others (mode %04o, expected %04o)", name, info.Mode().Perm(), PrivateMode),
		"others may have read it: make another key, and sign with that")
}
