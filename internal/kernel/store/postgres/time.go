package postgres

import (
	"context"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
)

const (
	// timeEvery is how often the database's clock is compared again: ours may run faster or slower,
	// and its own may be set.
	timeEvery = time.Minute
	// timeTries is how often it is asked each time. Of the answers the quickest counts.
	timeTries = 4
)

// clock is the time of the database, which all kernels on the ledger share. It goes on by the time
// since this machine booted, so that nobody who sets the time of day here changes it.
type clock struct {
	boot func() time.Duration

	mu   sync.Mutex
	last reading
}

// reading is what the database's clock said when ours was at, give or take.
type reading struct {
	time            time.Time
	at, uncertainty time.Duration
}

// now is the time of the database, in the zone of this machine.
func (c *clock) now() time.Time {
	at := c.boot()
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.last.on(at)
}

func (r reading) on(at time.Duration) time.Time { return r.time.Add(at - r.at) }

// learn takes a reading, unless it says no more than what is known: the time should not jump about
// within what a reading cannot tell. It returns by how much the time has been set.
func (c *clock) learn(r reading) time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	off := r.time.Sub(c.last.on(r.at))
	first := c.last.time.IsZero()
	if !first && off.Abs() <= r.uncertainty {
		return 0
	}
	c.last = r
	if first {
		return 0
	}
	return off
}

// ask asks the database a few times. Its clock was read somewhere between the sending and the
// answer; the middle of the shortest way there and back is the best guess.
func (c *clock) ask(ctx context.Context, pg *pgx.Conn) (reading, error) {
	var best reading
	for try := range timeTries {
		var r reading
		sent := c.boot()
		if err := pg.QueryRow(ctx, `SELECT clock_timestamp()`).Scan(&r.time); err != nil {
			return best, err //nolint:wrapcheck // who asks says what for
		}
		r.uncertainty = (c.boot() - sent) / 2
		r.at = sent + r.uncertainty
		if try == 0 || r.uncertainty < best.uncertainty {
			best = r
		}
	}
	return best, nil
}

// Now is the time of the database, for [kernel.Clock]: kernels on several machines whose clocks
// differ agree on it, to within half of the way there and back. It is measured with each new
// connection and once a minute; in between it goes on by the time since the machine booted.
func (s *Store) Now() time.Time { return s.clock.now() }

// measure compares the clocks on a connection.
func (s *Store) measure(ctx context.Context, pg *pgx.Conn) error {
	r, err := s.clock.ask(ctx, pg)
	if err != nil {
		return err
	}
	if off := s.clock.learn(r); off.Abs() >= time.Second {
		s.log.Warn("the database's clock and this machine's have come apart; the database's counts", "by", off, "ledger", s.where)
	}
	return nil
}

// connected prepares a new connection. It may lead to another machine than the one before.
func (s *Store) connected(ctx context.Context, pg *pgx.Conn) error {
	if err := insist(ctx, pg); err != nil {
		return err
	}
	return s.measure(ctx, pg)
}

// followTime measures until ctx ends.
func (s *Store) followTime(ctx context.Context) {
	due := time.NewTicker(timeEvery)
	defer due.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-due.C:
			if err := s.remeasure(ctx); err != nil && ctx.Err() == nil {
				s.log.Debug("the time of the database could not be read again", "error", err)
			}
		}
	}
}

// remeasure compares the clocks on any connection.
func (s *Store) remeasure(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	pooled, err := s.pool.Acquire(ctx)
	if err != nil {
		return err //nolint:wrapcheck // it is logged only
	}
	defer pooled.Release()
	return s.measure(ctx, pooled.Conn())
}
