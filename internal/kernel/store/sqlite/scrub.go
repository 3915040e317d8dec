package sqlite

import (
	"context"
	"errors"

	"github.com/earshot-dev/earshot/internal/kernel/store"
	"github.com/earshot-dev/earshot/internal/kernel/store/ledgersql"
)

var _ store.Scrubber = (*Store)(nil)

// Scrub brings the write-ahead log into the ledger and empties it, so that what was erased is
// in neither. While somebody reads from the log it cannot: [ledgersql.ErrBusy], at once, and
// nobody has waited for it.
func (s *Store) Scrub(ctx context.Context) error {
	if err := s.enter(); err != nil {
		return err
	}
	defer s.views.Done()
	c, err := dial(ctx, s.path, writing)
	if err != nil {
		return err
	}
	var busy, log, done int
	_, err = c.Exec("PRAGMA busy_timeout(0)")
	if err == nil {
		err = c.QueryRow("PRAGMA wal_checkpoint(TRUNCATE)", nil, &busy, &log, &done)
	}
	err = border("emptying the log of "+s.path, err)
	if err == nil && busy != 0 {
		err = &ledgersql.Error{Kind: ledgersql.ErrBusy, Op: "emptying the log of", Path: s.path, Found: "somebody who reads from it", Advice: "try again"}
	}
	return errors.Join(err, c.close())
}
