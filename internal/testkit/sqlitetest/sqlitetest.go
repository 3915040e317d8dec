// Package sqlitetest opens ledgers for the tests of other packages.
package sqlitetest

import (
	"testing"

	"github.com/earshot-dev/earshot/internal/kernel/store/sqlite"
)

// Open opens an empty ledger in a folder of the test, which closes it.
func Open(tb testing.TB) *sqlite.Store {
	tb.Helper()
	ledger, err := sqlite.Open(tb.Context(), sqlite.Options{Path: tb.TempDir()})
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
