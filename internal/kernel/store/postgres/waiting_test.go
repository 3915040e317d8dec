package postgres_test

import (
	"testing"

	"github.com/earshot-dev/earshot/internal/kernel/store"
	"github.com/earshot-dev/earshot/internal/kernel/store/postgres"
	"github.com/earshot-dev/earshot/internal/storetest"
)

// TestWhatWaitsIsNotRead: the lists that a kernel reads again and again read no turn that only waits, however many there are.
func TestWhatWaitsIsNotRead(t *testing.T) {
	t.Parallel()
	dsn := nowhere(t)
	s := open(t, dsn)
	lists := storetest.Waiting(t, s)
	outside(t, dsn, "ANALYZE turns, agenda, turn_inputs") // not those of other tests, which may go meanwhile
	for name, f := range lists {
		must(t, s.View(t.Context(), func(tx store.Tx) error {
			const few = 64 // rows at the ends of indexes, which the planner looks at
			const read = `SELECT coalesce(sum(seq_tup_read + coalesce(idx_tup_fetch, 0)), 0)::bigint FROM pg_stat_xact_user_tables
				WHERE relname IN ('turns', 'agenda', 'turn_inputs')`
			var before, after int64
			must(t, postgres.Ask(tx, read, &before))
			rows, err := tx.Turns(f)
			must(t, err)
			must(t, postgres.Ask(tx, read, &after))
			if len(rows) != 0 || after-before > few {
				t.Errorf("%s: %d turns, for which %d rows were read; want none and at most %d", name, len(rows), after-before, few)
			}
			return nil
		}))
	}
}
