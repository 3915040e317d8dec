package postgres

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/earshot-dev/earshot/internal/kernel/store"
	"github.com/earshot-dev/earshot/internal/kernel/store/ledgersql"
)

// Store is a ledger in a PostgreSQL database. Make it with [Open]. It is safe for concurrent
// use. A function that is given to Update or View should call neither, for it holds a
// connection while it waits for another, and never Close, which would wait for it.
type Store struct {
	where   string
	id      string
	log     *slog.Logger
	now     func() time.Time
	timeout time.Duration
	clock   clock
	stop    context.CancelFunc // of followTime
	pool    *pgxpool.Pool
	readers readers
	writers writers

	mu     sync.Mutex
	closed bool
	under  sync.WaitGroup // what is under way
}

var _ store.Ledger = (*Store)(nil)

// ID returns the ledger's id: 32 hexadecimal digits, set when it was made. A copy has the same
// id.
func (s *Store) ID() string { return s.id }

// Location returns where the ledger is, without its credentials.
func (s *Store) Location() string { return s.where }

// View runs fn on a consistent snapshot, which its first question takes. It waits while all
// connections are in use, as long as ctx allows; once fn runs it is not interrupted.
func (s *Store) View(ctx context.Context, fn func(store.Tx) error) error {
	if err := s.enter(ctx); err != nil {
		return err
	}
	c := s.conn(ctx, beginView)
	err := c.acquire()
	if err == nil {
		err = ledgersql.View(c, dialect).Run(fn)
	}
	end := func() {
		defer s.under.Done()
		c.rollback()
		c.end()
	}
	if !c.begun {
		end()
		return err
	}
	go end() // the answer need not wait for it
	return err
}

// conn makes a transaction that has not begun.
func (s *Store) conn(ctx context.Context, begin string) *conn {
	bound, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.timeout)
	return &conn{ctx: bound, waits: ctx, s: s, begin: begin, cancel: cancel}
}

// acquire takes a connection out of the pool.
func (c *conn) acquire() error {
	pooled, err := c.s.pool.Acquire(c.waits)
	if err != nil {
		if c.waits.Err() != nil {
			return c.waits.Err()
		}
		return c.s.locate(border("connecting to", err))
	}
	c.pooled, c.pg = pooled, pooled.Conn()
	return nil
}

// maxTries is how many connections are tried that turn out to be dead.
const maxTries = 3

// start takes a connection, if there is none yet, and begins the transaction on it. One that
// turns out to be dead is replaced.
func (c *conn) start() error {
	for try := 1; ; try++ {
		if c.pooled == nil {
			if err := c.acquire(); err != nil {
				return err
			}
		}
		err := c.run(c.begin)
		if err == nil {
			c.begun = true
			return nil
		}
		if !lost(err) || try == maxTries {
			c.release()
			return c.s.locate(border("beginning on", err))
		}
		c.discard()
	}
}

// startWith begins a view together with its first question, on one way there and back.
func (c *conn) startWith(q question) error {
	for try := 1; ; try++ {
		err := c.beginAsking(q)
		if !lost(err) || *q.fed || try == maxTries {
			return err
		}
		c.discard()
		if err := c.acquire(); err != nil {
			return err
		}
	}
}

func (c *conn) beginAsking(q question) error {
	var batch pgx.Batch
	batch.Queue(c.begin)
	batch.Queue(q.query, q.args...)
	results := c.pg.SendBatch(c.ctx, &batch)
	_, err := results.Exec()
	if err == nil {
		c.begun = true
		var rows pgx.Rows
		if rows, err = results.Query(); err == nil {
			err = finished(rows, q.read(rows))
		}
	}
	if cerr := results.Close(); err == nil {
		err = cerr
	}
	return err
}

// rollback undoes a transaction, if one has begun.
func (c *conn) rollback() {
	if !c.begun {
		return
	}
	if err := c.run("ROLLBACK"); err != nil {
		c.s.log.Debug("nothing to roll back", "error", err)
	}
}

// discard gives a dead connection back. The server has gone meanwhile; the others are dead as
// well.
func (c *conn) discard() {
	c.release()
	c.s.pool.Reset()
}

// release gives the connection back, if there is one. A transaction that is still open closes it.
func (c *conn) release() {
	if c.pooled != nil {
		c.pooled.Release()
	}
	c.pooled, c.pg, c.begun = nil, nil, false
}

// end gives the connection back and ends the bound of the transaction.
func (c *conn) end() {
	c.release()
	c.cancel()
}

// locate names the ledger in an error.
func (s *Store) locate(err error) error {
	if e, ok := errors.AsType[*ledgersql.Error](err); ok {
		e.Path = s.where
	}
	return err
}

// enter counts work in, unless the store is closed or nobody waits for it any more.
func (s *Store) enter(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return &ledgersql.Error{
			Kind: ledgersql.ErrClosed, Op: "using", Path: s.where, Found: "a closed store", Advice: "open it again; nothing was done",
		}
	}
	s.under.Add(1)
	return nil
}

// Close refuses new work, waits for what is under way and closes the connections. A second
// call does nothing.
func (s *Store) Close() error {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.stop()
	s.under.Wait()
	s.pool.Close()
	return nil
}
