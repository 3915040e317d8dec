package memory

import (
	"fmt"

	"github.com/earshot-dev/earshot/internal/kernel/store"
	"github.com/earshot-dev/earshot/internal/kernel/store/ledgersql"
)

// usable returns why nothing can be read, or nil.
func (t *tx) usable() error {
	if t.ended {
		return invalid("using a transaction", "one that has ended", "use within the function it was given to")
	}
	t.used = true
	return t.failed
}

// writable returns why nothing can be written, or nil.
func (t *tx) writable(op string) error {
	if err := t.usable(); err != nil {
		return err
	}
	if !t.writes {
		return fmt.Errorf("%w: %s", store.ErrReadOnly, op)
	}
	return nil
}

// fail remembers the first error of a write and returns its argument.
func (t *tx) fail(err error) error {
	if err != nil && t.failed == nil {
		t.failed = err
	}
	return err
}

func missing(what string, id any) error { return fmt.Errorf("%w: %s %+v", store.ErrNotFound, what, id) }

func conflict(what string, id any) error {
	return fmt.Errorf("%w: %s %v", store.ErrConflict, what, id)
}

func invalid(op, found, expected string) error {
	return &ledgersql.Error{Kind: ledgersql.ErrInvalid, Op: op, Found: found, Expected: expected}
}

// Count implements [store.Tx].
func (t *tx) Count(counter string, add int64) (int64, error) {
	if add == 0 {
		return t.rows.counters.row(counter), t.usable()
	}
	if err := t.writable("counting"); err != nil {
		return 0, err
	}
	n := t.rows.counters.row(counter) + add
	t.rows.counters.put(counter, n)
	return n, nil
}
