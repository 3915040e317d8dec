package sqlite_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/earshot-dev/earshot/internal/kernel/store"
	"github.com/earshot-dev/earshot/internal/kernel/store/sqlite"
	"github.com/earshot-dev/earshot/internal/storetest"
)

func TestStore(t *testing.T) {
	t.Parallel()
	storetest.Exercise(t, storetest.Factory{
		Open: func(t *testing.T, now func() time.Time) store.Ledger {
			t.Helper()
			return openWith(t, sqlite.Options{Path: t.TempDir(), Now: now})
		},
		Locate: func(t *testing.T) storetest.Location { t.Helper(); return place(t.TempDir()) },
	})
}

func open(t testing.TB, path string) *sqlite.Store {
	t.Helper()
	return openWith(t, sqlite.Options{Path: path})
}

// openWith opens a ledger that is closed with the test, if it is not before.
func openWith(t testing.TB, o sqlite.Options) *sqlite.Store {
	t.Helper()
	s, err := sqlite.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { shut(t, s) })
	return s
}

func shut(t testing.TB, s *sqlite.Store) {
	t.Helper()
	if err := s.Close(); err != nil {
		t.Errorf("Close: %v", err)
	}
}

// place is a folder with a ledger.
type place string

func (p place) Open(t *testing.T) store.Ledger { t.Helper(); return open(t, string(p)) }

// Crashed copies the ledger and its log, without the shared memory: that does not
// survive the machine.
func (p place) Crashed(t *testing.T) storetest.Location {
	t.Helper()
	to := t.TempDir()
	for _, name := range []string{"ledger.db", "ledger.db-wal"} {
		copyFile(t, filepath.Join(string(p), name), filepath.Join(to, name))
	}
	return place(to)
}

func copyFile(t *testing.T, from, to string) {
	t.Helper()
	raw, err := os.ReadFile(from)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(to, raw, 0o600); err != nil {
		t.Fatal(err)
	}
}
