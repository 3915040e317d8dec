package sqlite

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/earshot-dev/earshot/internal/kernel/store"
	"github.com/earshot-dev/earshot/internal/kernel/store/ledgersql"
)

// readers is how many views run at once; the next ones wait for a connection.
const readers = 4

// Store is a ledger in an SQLite file. Make it with [Open]. It is safe for concurrent
// use. A function that is given to Update or View must call neither Update nor Close:
// both would wait for it.
type Store struct {
	path string
	id   string
	log  *slog.Logger
	now  func() time.Time

	together int          // updates that share a commit, at most
	commits  atomic.Int64 // so far

	writer *conn         // the writer goroutine's; others only before it starts and after it has ended
	ended  chan struct{} // closed by the writer goroutine when it is done
	wakeup chan struct{} // says that waiting has changed, or closed has become true
	pool   chan *conn    // connections for views; nil stands for one that is not open yet
	views  sync.WaitGroup

	mu      sync.Mutex
	waiting []*request
	closed  bool
	broken  error // why the writer ended although nobody closed the store

	once     sync.Once
	closeErr error
}

var _ store.Ledger = (*Store)(nil)

// ID names this ledger: 32 hexadecimal digits that it was given when it was made. A
// copy has the same.
func (s *Store) ID() string { return s.id }

// Commits is how often the log was written and flushed for updates so far; a checkpoint,
// once in about 1,000 pages, flushes besides.
func (s *Store) Commits() int64 { return s.commits.Load() }

// Path is the ledger's file.
func (s *Store) Path() string { return s.path }

// View runs fn on a consistent snapshot. It waits while all connections for views are
// in use, as long as ctx allows; once fn runs it is not interrupted.
func (s *Store) View(ctx context.Context, fn func(store.Tx) error) error {
	if err := s.enter(); err != nil {
		return err
	}
	defer s.views.Done()
	c, err := s.reader(ctx)
	if err != nil {
		return err
	}
	defer func() { s.pool <- c }()
	if _, err = c.Exec("BEGIN"); err == nil {
		defer func() {
			if _, err := c.Exec("ROLLBACK"); err != nil {
				s.discard(c, err)
				c = nil
			}
		}()
		return ledgersql.View(c, dialect).Run(fn)
	}
	err = border("beginning a view", err)
	s.discard(c, err)
	c = nil // it is opened again when the next view comes to its place
	return err
}

// discard closes a connection for views that is in an unknown state.
func (s *Store) discard(c *conn, why error) {
	s.log.Error("a view has lost its connection", "path", s.path, "error", errors.Join(why, c.close()))
}

// enter counts a view in, unless the store is closed.
func (s *Store) enter() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return s.closedError("viewing")
	}
	s.views.Add(1)
	return nil
}

// closedError is why nothing can be done any more. The caller holds mu.
func (s *Store) closedError(op string) error {
	return &ledgersql.Error{Kind: ledgersql.ErrClosed, Op: op, Path: s.path, Found: "a closed store", Advice: "open it again; nothing was done", Err: s.broken}
}

// reader takes a connection out of the pool and opens it when it is its first time.
func (s *Store) reader(ctx context.Context) (*conn, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	select {
	case c := <-s.pool:
		if c != nil {
			return c, nil
		}
		c, err := dial(ctx, s.path, reading)
		if err != nil {
			s.pool <- nil
			return nil, err
		}
		return c, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Close refuses new work, waits for what is under way (updates that wait in the queue
// included), brings the log into the file and closes it. A second call does nothing and
// returns the same.
func (s *Store) Close() error {
	s.once.Do(func() { s.closeErr = s.close() })
	return s.closeErr
}

func (s *Store) close() error {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.wake()
	<-s.ended
	s.views.Wait()
	var errs []error
	for range readers {
		if c := <-s.pool; c != nil {
			errs = append(errs, c.close())
		}
	}
	if _, err := s.writer.Exec("PRAGMA wal_checkpoint(TRUNCATE)"); err != nil {
		s.log.Warn("the log stays beside the ledger", "path", s.path, "error", err)
	}
	return errors.Join(append(errs, s.writer.close())...)
}

func (s *Store) wake() {
	select {
	case s.wakeup <- struct{}{}:
	default:
	}
}
