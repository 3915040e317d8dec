package ledgertest

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/earshot-dev/earshot/internal/kernel/store/sqlite"
)

// OpenFile returns an empty ledger in a folder of the test, which closes it.
func OpenFile(tb testing.TB) *sqlite.Store {
	tb.Helper()
	ledger, err := sqlite.Open(tb.Context(), sqlite.Options{Path: Folder(tb)})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := ledger.Close(); err != nil {
			tb.Error(err)
		}
	})
	return ledger
}

// Folder returns a new folder of the test with an empty ledger in it. In a bubble of virtual time it works only after a first
// call outside.
func Folder(tb testing.TB) string {
	tb.Helper()
	raw, err := blank()
	if err != nil {
		tb.Fatal(err)
	}
	folder := tb.TempDir()
	if err := os.WriteFile(filepath.Join(folder, file), raw, 0o600); err != nil {
		tb.Fatal(err)
	}
	return folder
}

// file is the name of a ledger in its folder.
const file = "ledger.db"

// blank is the file of a ledger with its tables and nothing in them, not even a name. Each test begins with a
// copy: migrating a ledger for each of them took a quarter of the time of all.
var blank = sync.OnceValues(func() ([]byte, error) {
	folder, err := os.MkdirTemp("", "earshot-blank-")
	if err != nil {
		return nil, fmt.Errorf("an empty ledger: %w", err)
	}
	raw, err := makeBlank(folder)
	return raw, errors.Join(err, os.RemoveAll(folder))
})

func makeBlank(folder string) ([]byte, error) {
	store, err := sqlite.Open(context.Background(), sqlite.Options{Path: folder})
	if err != nil {
		return nil, fmt.Errorf("an empty ledger: %w", err)
	}
	path := store.Path()
	if err := store.Close(); err != nil {
		return nil, fmt.Errorf("an empty ledger: %w", err)
	}
	db, err := sql.Open("sqlite", Address(path))
	if err != nil {
		return nil, fmt.Errorf("an empty ledger: %w", err)
	}
	_, err = db.ExecContext(context.Background(), `DELETE FROM meta WHERE key = 'ledger'`)
	if err := errors.Join(err, db.Close()); err != nil {
		return nil, fmt.Errorf("an empty ledger: %w", err)
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("an empty ledger: %w", err)
	}
	return raw, nil
}

// Address returns the data source name by which the driver "sqlite" opens a ledger beside its store.
func Address(path string) string {
	u := url.URL{Scheme: "file", OmitHost: true, Path: path, RawQuery: "_pragma=busy_timeout(5000)"}
	return u.String()
}
