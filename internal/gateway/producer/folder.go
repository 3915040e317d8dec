package producer

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// Folder is a [Memory] of files in a folder, which is made with the first of them.
type Folder string

// Load implements [Memory].
func (f Folder) Load(key string) ([]byte, error) {
	raw, err := os.ReadFile(filepath.Join(string(f), key))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return raw, err //nolint:wrapcheck // it names the file
}

// Save implements [Memory]. A file is there whole or not at all.
func (f Folder) Save(key string, state []byte) error {
	if err := os.MkdirAll(string(f), 0o700); err != nil {
		return err //nolint:wrapcheck // it names the folder
	}
	path := filepath.Join(string(f), key)
	if err := os.WriteFile(path+".new", state, 0o600); err != nil {
		return err //nolint:wrapcheck // it names the file
	}
	return os.Rename(path+".new", path) //nolint:wrapcheck // the same
}

// Sweep removes the files that were not written for so long.
func (f Folder) Sweep(now time.Time, age time.Duration) {
	files, _ := os.ReadDir(string(f)) // without a folder there are none
	for _, file := range files {
		if info, err := file.Info(); err == nil && now.Sub(info.ModTime()) > age {
			_ = os.Remove(filepath.Join(string(f), file.Name()))
		}
	}
}
