package postgres_test

import (
	"testing"

	"github.com/earshot-dev/earshot/internal/kernel/store"
	"github.com/earshot-dev/earshot/internal/kerneltest"
)

// TestCases: what a kernel does with turns that have others do something, and with what stops, crashes and late answers do to them,
// does not depend on the database.
func TestCases(t *testing.T) {
	t.Parallel()
	needsServer(t)
	kerneltest.Exercise(t, func(t *testing.T) store.Ledger {
		t.Helper()
		return open(t, nowhere(t))
	})
}
