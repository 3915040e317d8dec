package sqlite_test

import (
	"strings"
	"testing"

	"github.com/earshot-dev/earshot/internal/kernel/store"
	"github.com/earshot-dev/earshot/internal/kernel/store/sqlite"
	"github.com/earshot-dev/earshot/internal/storetest"
)

// TestWhatWaitsIsNotRead: the lists that a kernel reads again and again are found by an index that has nothing to do with the turns
// that only wait, however many there are.
func TestWhatWaitsIsNotRead(t *testing.T) {
	t.Parallel()
	s := open(t, t.TempDir())
	for name, f := range storetest.Waiting(t, s) {
		err := s.View(t.Context(), func(tx store.Tx) error {
			rows, err := tx.Turns(f)
			if err != nil || len(rows) != 0 {
				t.Errorf("%s: %+v, %v; want none", name, rows, err)
			}
			plan, err := sqlite.Plan(tx, func() error { _, err := tx.Turns(f); return err })
			if err != nil {
				return err
			}
			tables := strings.ReplaceAll(strings.Join(plan, "\n"), "SCAN json_each", "what was asked for")
			if len(plan) == 0 || strings.Contains(tables, "SCAN") {
				t.Errorf("%s: the plan is %q; want one that scans nothing", name, plan)
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	}
}
