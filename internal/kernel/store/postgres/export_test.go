package postgres

import (
	"context"

	"github.com/earshot-dev/earshot/internal/kernel/store"
	"github.com/earshot-dev/earshot/internal/kernel/store/ledgersql"
)

// Kind is what a SQLSTATE means, Settle where nothing can come any more, Committing what the
// error of a commit means.
var (
	Kind       = kind
	Settle     = lastSettled
	Committing = committing
)

// Tries is how often an update is run at most.
const Tries = tries

// WritingHands is how many connections commit for many.
const WritingHands = writingHands

// Writing is how many of them are busy, and how many updates wait for one.
func Writing(s *Store) (busy, waiting int) {
	s.writers.mu.Lock()
	defer s.writers.mu.Unlock()
	return len(s.writers.busy), len(s.writers.waiting)
}

// Remeasure compares the clocks once more, as is done every minute.
func Remeasure(ctx context.Context, s *Store) error { return s.remeasure(ctx) }

// Ask runs a query on the connection of a transaction and reads one value, and an error of
// the database counts as in every other method.
func Ask(t store.Tx, query string, into any) error {
	mine := t.(*ledgersql.Tx)
	if err := mine.Conn().(*conn).ready(); err != nil { // on one of its own
		return mine.Fail(mine.Conn().Border("asking", err))
	}
	return mine.Fail(mine.Conn().Border("asking", mine.Conn().QueryRow(query, nil, into)))
}

// Latest is the newest schema version that this program knows.
func Latest(t interface{ Fatal(args ...any) }) int64 {
	n, err := latest()
	if err != nil {
		t.Fatal(err)
	}
	return n
}
