package kerneltest_test

import (
	"testing"

	"github.com/earshot-dev/earshot/internal/kernel/store"
	"github.com/earshot-dev/earshot/internal/kernel/store/sqlite"
	"github.com/earshot-dev/earshot/internal/kerneltest"
)

// TestCases runs them on SQLite.
func TestCases(t *testing.T) {
	t.Parallel()
	kerneltest.Exercise(t, func(t *testing.T) store.Ledger {
		t.Helper()
		s, err := sqlite.Open(t.Context(), sqlite.Options{Path: t.TempDir()})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		})
		return s
	})
}
