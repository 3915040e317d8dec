package sqlite

import (
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/earshot-dev/earshot/kernel"
)

// tx is one transaction, or one savepoint of the writer's.
type tx struct {
	c      *conn
	now    func() time.Time
	writes bool
	// over: fn has returned; the transaction may be somebody else's by now.
	over bool
	// failed is the first failure of a write or of the database. After it nothing more
	// is done: SQLite may have ended the transaction, and what came next would be
	// written by itself.
	failed error
	// condemned are blobs whose content is not what their name says. They are removed
	// although the transaction is undone, so that an upload can begin anew.
	condemned []string
}

var _ kernel.Tx = (*tx)(nil)

// usable says why nothing can be read, or nil.
func (t *tx) usable() error {
	if t.over {
		return &Error{Kind: ErrInvalid, Op: "using a transaction", Found: "one that has ended", Expected: "use within the function it was given to"}
	}
	return t.failed
}

// writable says why nothing can be written, or nil.
func (t *tx) writable(op string) error {
	if err := t.usable(); err != nil {
		return err
	}
	if !t.writes {
		return fmt.Errorf("%w: %s", kernel.ErrReadOnly, op)
	}
	return nil
}

// read maps the error of a read. A missing row leaves the transaction usable.
func (t *tx) read(err error, format string, args ...any) error {
	if err == nil {
		return nil
	}
	what := fmt.Sprintf(format, args...)
	if errors.Is(err, sql.ErrNoRows) {
		return fmt.Errorf("%w: %s", kernel.ErrNotFound, what)
	}
	t.failed = border("reading "+what, err)
	return t.failed
}

// fail remembers the error of a write.
func (t *tx) fail(err error) error {
	if err != nil && t.failed == nil {
		t.failed = err
	}
	return err
}

// must runs a statement that has to touch exactly one row; otherwise it is a conflict.
func (t *tx) must(what, query string, args ...any) error {
	n, err := t.c.exec(query, args...)
	if err != nil {
		return border(what, err)
	}
	if n != 1 {
		return conflict("%s: the row is not there as expected", what)
	}
	return nil
}

// put runs a statement.
func (t *tx) put(what, query string, args ...any) error {
	_, err := t.c.exec(query, args...)
	return border(what, err)
}

// Count implements [kernel.Tx].
func (t *tx) Count(counter string, add int64) (int64, error) {
	if add == 0 {
		return t.counter(counter)
	}
	if err := t.writable("counting"); err != nil {
		return 0, err
	}
	var n int64
	err := t.c.one(`INSERT INTO counters (name, value) VALUES (?1, ?2)
		ON CONFLICT (name) DO UPDATE SET value = value + excluded.value RETURNING value`, []any{counter, add}, &n)
	return n, t.fail(border("counting "+counter, err))
}

func (t *tx) counter(name string) (int64, error) {
	if err := t.usable(); err != nil {
		return 0, err
	}
	var n int64
	err := t.c.one(`SELECT value FROM counters WHERE name = ?1`, []any{name}, &n)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, nil
	}
	return n, t.read(err, "the counter %s", name)
}
