package files

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Journals is the folder of a service's journals, for programs that erase what was stored about calls.
type Journals struct{ Path string }

// Forget removes the journals of calls. It ignores a call without one, and ids that are not calls.
func (j Journals) Forget(calls []string) error {
	var failed []error
	for _, call := range calls {
		if strings.ContainsAny(call, `/\`) || call == "" {
			continue
		}
		if err := os.Remove(filepath.Join(j.Path, call+journalSuffix)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			failed = append(failed, fmt.Errorf("removing: %w", err))
		}
	}
	return errors.Join(failed...)
}

// Older returns the calls whose journals were last written before that time.
func (j Journals) Older(before time.Time) ([]string, error) {
	entries, err := os.ReadDir(j.Path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("journals: %w", err)
	}
	var old []string
	for _, f := range entries {
		call, is := strings.CutSuffix(f.Name(), journalSuffix)
		if info, err := f.Info(); is && err == nil && info.Mode().IsRegular() && info.ModTime().Before(before) {
			old = append(old, call)
		}
	}
	return old, nil
}
