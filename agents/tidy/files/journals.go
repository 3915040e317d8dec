package files

import (
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// makeJournals makes the folder of the journals when it is missing, and reports whether it was.
func makeJournals(path string) (bool, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return false, err //nolint:wrapcheck // the caller adds the path.
	}
	err := os.Mkdir(path, 0o700)
	if !errors.Is(err, fs.ErrExist) {
		return err == nil, err //nolint:wrapcheck // the same.
	}
	info, err := os.Stat(path)
	if err == nil && !info.IsDir() {
		err = &fs.PathError{Op: "mkdir", Path: path, Err: fs.ErrExist}
	}
	return false, err
}

// lost reports whether the call is older than the folder, which this service had to make: then its journal may
// have been removed together with an earlier folder. It can be told only of a call that is named after a UUIDv7,
// which begins with its time.
func (s *Service) lost(call string) bool {
	made, known := madeAt(call)
	return known && made.Before(s.since)
}

// madeAt reads the time in the last 32 digits of a call's id.
func madeAt(call string) (time.Time, bool) {
	const digits = 32
	if len(call) < digits {
		return time.Time{}, false
	}
	id, err := hex.DecodeString(call[len(call)-digits:])
	if err != nil || id[6]>>4 != 7 {
		return time.Time{}, false
	}
	var ms int64
	for _, b := range id[:6] {
		ms = ms<<8 | int64(b)
	}
	return time.UnixMilli(ms), true
}
