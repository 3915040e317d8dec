package ledgersql

import (
	"database/sql"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/earshot-dev/earshot/internal/kernel/store"
	"github.com/earshot-dev/earshot/utp"
)

// Tx is one transaction, or one savepoint of a connection that writes for many. It
// implements [store.Tx]. It does not begin and not end what it stands for: that is the
// store's part.
type Tx struct {
	c      Conn
	d      Dialect
	now    func() time.Time
	writes bool
	// used: something was asked of the database.
	used bool
	// eventsLocked: LockEvents was run.
	eventsLocked bool
	// chained: LockAudit was run.
	chained bool
	// ended: fn has returned; the transaction may be somebody else's by now.
	ended bool
	// failed is the first failure of a write or of the database. After it nothing more
	// is done: the database may have ended the transaction, and what came next would be
	// written by itself.
	failed error
	// condemned are blobs whose content is not what their name says. They are removed
	// although the transaction is undone, so that an upload can begin again.
	condemned []string
	// tools are those that were read, as they were: one that has changed since is not
	// replaced.
	tools map[string]store.Tool
	// turns are those that were read, as they were: what has not changed is not written.
	turns map[string]found
	// cards are those that were read: they never change.
	cards map[string]utp.Card
}

var _ store.Tx = (*Tx)(nil)

// Update makes a transaction that writes; now dates what the kernel gives no time for.
func Update(c Conn, d Dialect, now func() time.Time) *Tx {
	t := View(c, d)
	t.now, t.writes = now, true
	return t
}

// View makes a transaction that refuses to write.
func View(c Conn, d Dialect) *Tx {
	return &Tx{c: c, d: d, tools: map[string]store.Tool{}, turns: map[string]found{}, cards: map[string]utp.Card{}}
}

// Run calls fn with the transaction and returns its error. One that fn has hidden counts
// all the same: a transaction whose write has failed is not committed in part. A panic is
// a [*PanicError].
func (t *Tx) Run(fn func(store.Tx) error) (err error) {
	defer func() {
		t.ended = true
		if v := recover(); v != nil {
			err = &PanicError{Value: v, Stack: debug.Stack()}
		}
	}()
	if err := fn(t); err != nil {
		return err
	}
	return t.failed
}

// Failed returns the first failure of a write or of the database, even if fn has hidden it.
func (t *Tx) Failed() error { return t.failed }

// Conn returns what the transaction runs on.
func (t *Tx) Conn() Conn { return t.c }

// usable returns why nothing can be read, or nil.
func (t *Tx) usable() error {
	if t.ended {
		return &Error{Kind: ErrInvalid, Op: "using a transaction", Found: "one that has ended", Expected: "use within the function it was given to"}
	}
	t.used = true
	return t.failed
}

// writable returns why nothing can be written, or nil.
func (t *Tx) writable(op string) error {
	if err := t.usable(); err != nil {
		return err
	}
	if !t.writes {
		return fmt.Errorf("%w: %s", store.ErrReadOnly, op)
	}
	return nil
}

// read maps the error of a read. A missing row, or one that cannot be decoded, leaves the
// transaction usable.
func (t *Tx) read(err error, format string, args ...any) error {
	if err == nil {
		return nil
	}
	what := fmt.Sprintf(format, args...)
	if noRows(err) {
		return fmt.Errorf("%w: %s", store.ErrNotFound, what)
	}
	if errors.Is(err, store.ErrDamaged) {
		return err
	}
	return t.Fail(t.c.Border("reading "+what, err))
}

// Fail remembers the first error of a write or of the database and returns its argument.
func (t *Tx) Fail(err error) error {
	if err != nil && t.failed == nil {
		t.failed = err
	}
	return err
}

// must runs a statement that has to touch exactly one row; otherwise it is a conflict.
func (t *Tx) must(what, query string, args ...any) error {
	n, err := t.c.Write(query, 1, args...)
	if err != nil {
		return t.c.Border(what, err)
	}
	if n != 1 {
		return conflict("%s: the row is not there as expected", what)
	}
	return nil
}

// exec runs a statement.
func (t *Tx) exec(what, query string, args ...any) error {
	_, err := t.c.Write(query, Any, args...)
	return t.c.Border(what, err)
}

// lock runs one of the dialect's, if it has it.
func (t *Tx) lock(what, query string, args ...any) error {
	if query == "" {
		return nil
	}
	return t.exec("waiting for "+what, query, args...)
}

// Count implements [store.Tx].
func (t *Tx) Count(counter string, add int64) (int64, error) {
	if add == 0 {
		return t.counter(counter)
	}
	if err := t.writable("counting"); err != nil {
		return 0, err
	}
	var n int64
	err := t.c.QueryRow(`INSERT INTO counters (name, value) VALUES ($1, $2)
		ON CONFLICT (name) DO UPDATE SET value = counters.value + excluded.value RETURNING value`, []any{counter, add}, &n)
	return n, t.Fail(t.c.Border("counting "+counter, err))
}

func (t *Tx) counter(name string) (int64, error) {
	if err := t.usable(); err != nil {
		return 0, err
	}
	var n int64
	err := t.c.QueryRow(`SELECT value FROM counters WHERE name = $1`, []any{name}, &n)
	if noRows(err) {
		return 0, nil
	}
	return n, t.read(err, "the counter %s", name)
}

func noRows(err error) bool { return errors.Is(err, sql.ErrNoRows) }
