package backup_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/earshot-dev/earshot/internal/backup"
)

// TestNoFolder: a backup into a folder that is not there says which, before anything is copied.
func TestNoFolder(t *testing.T) {
	t.Parallel()
	data := filepath.Join(t.TempDir(), "data")
	if err := os.Mkdir(data, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(data, "ledger.db"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	folder := filepath.Join(t.TempDir(), "backups")
	_, err := backup.Make(t.Context(), data, filepath.Join(folder, "l.db"), time.Now(), func(line string) { t.Errorf("it began: %s", line) })
	if err == nil || !strings.Contains(err.Error(), "there is no folder "+folder) {
		t.Errorf("found %v, expected that the folder is not there", err)
	}
}
