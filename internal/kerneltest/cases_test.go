package kerneltest_test

import (
	"testing"

	"github.com/earshot-dev/earshot/internal/kernel/store"
	"github.com/earshot-dev/earshot/internal/kerneltest"
)

// TestCases runs them on SQLite.
func TestCases(t *testing.T) {
	t.Parallel()
	kerneltest.Exercise(t, func(t *testing.T) store.Ledger {
		t.Helper()
		return openAt(t, t.TempDir())
	})
}
