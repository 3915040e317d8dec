package kernel_test

import (
	"context"
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/earshot-dev/earshot/internal/kernel/store/sqlite"
	"github.com/earshot-dev/earshot/internal/testkit"
)

// blank is the file of a ledger with its tables and nothing in them, not even a name. Each test begins with a
// copy: migrating a ledger for each of them took a quarter of the time of all.
var blank = sync.OnceValues(func() (raw []byte, err error) {
	folder, err := os.MkdirTemp("", "earshot-blank-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	store, err := sqlite.Open(context.Background(), sqlite.Options{Path: folder})
	if err != nil {
		return nil, err
	}
	path := store.Path()
	if err := store.Close(); err != nil {
		return nil, err
	}
	db, err := sql.Open("sqlite", address(path))
	if err != nil {
		return nil, err
	}
	_, err = db.Exec(`DELETE FROM meta WHERE key = 'ledger'`)
	if err := errors.Join(err, db.Close()); err != nil {
		return nil, err
	}
	return os.ReadFile(path)
})

// blankLedger returns a new folder with a blank ledger in it. The first call has to be outside of a bubble.
func blankLedger(t *testing.T) string {
	t.Helper()
	raw, err := blank()
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "ledger.db"), raw, 0o600); err != nil {
		t.Fatal(err)
	}
	return folder
}

// raced reports whether sizes are to be small for the race detector: what is large runs without it.
func raced() bool { return testkit.Raced && os.Getenv("EARSHOT_SOAK") == "" }
