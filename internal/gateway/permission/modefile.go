package permission

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"time"
)

// usualMode is the mode of a session without a record.
const usualMode = "default"

// keepMode is how long a mode is stored for a session that has not reported its end.
const keepMode = 7 * 24 * time.Hour

// ModeFiles implement [Modes] in a folder, with a file for each session that is not in the usual mode. If a mode cannot
// be stored, it is announced again.
type ModeFiles struct {
	Folder string
	Host   string
	Now    func() time.Time
}

func (f ModeFiles) path(session string) string {
	sum := sha256.Sum256([]byte(f.Host + "\n" + session))
	return filepath.Join(f.Folder, hex.EncodeToString(sum[:16]))
}

// Changed implements [Modes].
func (f ModeFiles) Changed(session, mode string) bool {
	path := f.path(session)
	before := usualMode
	if raw, err := os.ReadFile(path); err == nil {
		before = string(raw)
	}
	if before == mode {
		return false
	}
	f.sweep()
	if mode == usualMode {
		_ = os.Remove(path)
		return true
	}
	if os.MkdirAll(f.Folder, 0o700) == nil {
		_ = os.WriteFile(path, []byte(mode), 0o600)
	}
	return true
}

// Forget implements [Modes].
func (f ModeFiles) Forget(session string) { _ = os.Remove(f.path(session)) }

// sweep removes the files of sessions that never reported their end.
func (f ModeFiles) sweep() {
	entries, _ := os.ReadDir(f.Folder) // there may be no folder yet
	for _, e := range entries {
		if info, err := e.Info(); err == nil && f.Now().Sub(info.ModTime()) > keepMode {
			_ = os.Remove(filepath.Join(f.Folder, e.Name()))
		}
	}
}
