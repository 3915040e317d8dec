package files

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// markName is the file that says since when the journals are complete. No journal can have this name.
const markName = "since.json"

const markVersion = 1

// mark says from which time a call without a journal never began. It is stored with the journals, so that anyone who
// removes them removes it too. It contains its own inode and its folder's, so that a copy from elsewhere or from a
// backup does not count.
type mark struct {
	Version int    `json:"v"`
	Since   int64  `json:"since_ms"` // Unix milliseconds
	Folder  uint64 `json:"folder"`   // inode number; device numbers may change with a reboot, so they do not count
	File    uint64 `json:"file"`     // inode number
}

var errNoMark = errors.New("nothing there says since when the journals are kept")

// makeJournals creates the folder of the journals if it is missing, and marks it unless an earlier start has created it
// in the same way.
func makeJournals(path string, now time.Time) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err //nolint:wrapcheck // the caller adds the path.
	}
	if err := os.Mkdir(path, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err //nolint:wrapcheck // the caller adds the path.
	}
	if _, err := readMark(path); err == nil {
		return nil
	}
	return writeMark(path, now)
}

// writeMark replaces the whole mark at once. It need not be synced to the disk: a lost mark is created again with a
// later time.
func writeMark(path string, now time.Time) error {
	f, err := os.CreateTemp(path, markName+".*")
	if err != nil {
		return err //nolint:wrapcheck // the caller adds the path.
	}
	m := mark{Version: markVersion, Since: now.UnixMilli()}
	m.Folder, m.File, err = inodesOf(path, f.Name())
	if err == nil {
		data, _ := json.Marshal(m) //nolint:errchkjson // numbers always encode.
		_, err = f.Write(data)
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), filepath.Join(path, markName))
	}
	if err != nil {
		_ = os.Remove(f.Name())
	}
	return err //nolint:wrapcheck // the caller adds the path.
}

func readMark(path string) (mark, error) {
	file := filepath.Join(path, markName)
	data, err := os.ReadFile(file)
	if err != nil {
		return mark{}, errors.Join(errNoMark, err)
	}
	folder, inode, err := inodesOf(path, file)
	if err != nil {
		return mark{}, errors.Join(errNoMark, err)
	}
	var m mark
	if err := json.Unmarshal(data, &m); err != nil || m.Version != markVersion || m.Folder != folder || m.File != inode {
		return mark{}, errors.Join(errNoMark, err)
	}
	return m, nil
}

// inodesOf gives the inode numbers of a folder and of a file in it.
func inodesOf(path, file string) (folder, inode uint64, err error) {
	outer, err := os.Stat(path)
	if err != nil {
		return 0, 0, err //nolint:wrapcheck // the caller adds the path.
	}
	inner, err := os.Lstat(file)
	if err != nil {
		return 0, 0, err //nolint:wrapcheck // the caller adds the path.
	}
	return stampOf(outer).ino, stampOf(inner).ino, nil
}

// neverBegan returns nil if a missing journal proves that the call never began: the call was created after this very
// folder had been marked. The mark is read for each question, after the journal was looked for, because both may have
// been removed meanwhile. Only a call that is named after a UUIDv7, which begins with its time, can be proved not to
// have begun, and not while that time is in the future.
func (s *Service) neverBegan(call string) error {
	made, known := madeAt(call)
	if !known {
		return s.lost("has no journal of this call, whose id does not tell its time", nil)
	}
	m, err := readMark(s.journals)
	if err != nil {
		return s.lost("has no journal of this call, and is not the folder that was made for them", err)
	}
	if since := time.UnixMilli(m.Since); !made.After(since) {
		return s.lost(fmt.Sprintf("was made at %s, after this call: its journal may be gone", since.UTC().Format(time.RFC3339)), nil)
	}
	if made.After(s.now()) {
		return s.lost("has no journal of this call, which was made at a later time than now: a clock was set back", nil)
	}
	return nil
}

func (s *Service) lost(found string, err error) error {
	return &Error{Code: ErrJournal, Path: s.journals, Found: found, Hint: "look at the files of the call; it is not repeated", Err: err}
}

// madeAt returns the time in the last 32 digits of a call's id.
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
