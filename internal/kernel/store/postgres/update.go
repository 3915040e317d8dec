package postgres

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/earshot-dev/earshot/internal/kernel/store"
	"github.com/earshot-dev/earshot/internal/kernel/store/ledgersql"
)

// tries is how often an update is run that the server undoes because it and others wait for
// each other.
const tries = 8

// Update runs fn and returns once what it wrote is durable. A context that ends while it
// waits for a connection takes it out, and fn never runs, or what it wrote is not sent; after
// that the answer is waited for, because it tells what was written. An error of fn is
// returned as it is, a panic as a [*ledgersql.PanicError].
func (s *Store) Update(ctx context.Context, fn func(store.Tx) error) error {
	if err := s.enter(ctx); err != nil {
		return err
	}
	defer s.under.Done()
	plain := false
	for try := 1; ; try++ {
		again, err := s.attempt(ctx, plain, fn)
		if !again || try == tries {
			return err
		}
		s.log.Debug("an update is run again", "try", try, "error", err)
		if plain && !pause(ctx, try) {
			return err
		}
		plain = true
	}
}

// attempt runs an update once and says whether it should be run again: what was put off came
// out otherwise, or the server has undone it for no fault of its own, whatever fn made of
// that.
func (s *Store) attempt(ctx context.Context, plain bool, fn func(store.Tx) error) (again bool, err error) {
	c := s.conn(ctx, beginUpdate)
	defer c.end()
	if c.plain = plain; plain {
		if err := c.start(); err != nil {
			return false, err
		}
	}
	d := dialect
	if plain {
		d.LockFamily = lockFamily
	}
	t := ledgersql.Update(c, d, s.now)
	if err := t.Run(fn); err != nil {
		c.rollback()
		if c.rerun == nil {
			s.condemn(c, t.Condemned())
		}
		return c.rerun != nil || transient(t.Failed()), err
	}
	if !c.begun {
		return s.together(ctx, c.later)
	}
	if len(c.later) > 0 {
		if err := c.ready(); err != nil {
			c.rollback()
			return true, border("saving", err)
		}
	}
	err = c.run("COMMIT")
	return transient(err), committing(err)
}

// together commits what one update writes with what others write.
func (s *Store) together(ctx context.Context, later []statement) (again bool, err error) {
	if len(later) == 0 {
		return false, nil
	}
	switch err := s.writers.commit(ctx, later); {
	case errors.Is(err, errAlone):
		return true, border("saving", err)
	default:
		return false, err
	}
}

// condemn removes wrong blobs.
func (s *Store) condemn(c *conn, blobs []string) {
	if err := s.drop(c, blobs); err != nil {
		s.log.Error("a wrong blob stays", "error", err)
	}
}

// committing maps the error of a commit. Whatever the server itself says, it has not
// committed; who hears nothing knows nothing.
func committing(err error) error {
	var told *pgconn.PgError
	switch {
	case err == nil:
		return nil
	case errors.Is(err, pgx.ErrTxCommitRollback):
		return &ledgersql.Error{Kind: ledgersql.ErrBusy, Op: "committing", Found: "a transaction that had failed before", Advice: advice(ledgersql.ErrBusy), Err: err}
	case errors.As(err, &told) && !lost(err), pgconn.SafeToRetry(err):
		return border("committing", err)
	}
	return &ledgersql.Error{Kind: ledgersql.ErrIO, Op: "committing", Found: "no answer", Advice: advice(ledgersql.ErrIO), Err: err}
}

// drop removes wrong blobs, in a transaction of their own: the one that found them is
// undone.
func (s *Store) drop(c *conn, blobs []string) error {
	if len(blobs) == 0 {
		return nil
	}
	if err := c.run(beginUpdate); err != nil {
		return err
	}
	c.plain = true
	if err := ledgersql.Update(c, dialect, s.now).Drop(blobs); err != nil {
		return errors.Join(err, c.run("ROLLBACK"))
	}
	return c.run("COMMIT")
}

// pause waits a little before an update is run again, longer each time and not as long as
// the others, and reports whether there is time.
func pause(ctx context.Context, try int) bool {
	timer := time.NewTimer(time.Duration(rand.Int64N(int64(time.Millisecond) << try))) //nolint:gosec // who waits how long is not a secret
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
