package postgres

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"

	"github.com/earshot-dev/earshot/internal/kernel/store/ledgersql"
)

// Owner is the mark of whose the ledger is, "" where nobody has set one, and whether it has been
// used: one without a turn is nobody's yet.
func (s *Store) Owner(ctx context.Context) (mark string, used bool, err error) {
	err = s.pool.QueryRow(ctx, `SELECT EXISTS (SELECT 1 FROM turns)`).Scan(&used)
	if err == nil {
		err = s.pool.QueryRow(ctx, `SELECT value FROM meta WHERE key = 'owner'`).Scan(&mark)
	}
	if errors.Is(err, pgx.ErrNoRows) {
		err = nil
	}
	return mark, used, s.locate(border("reading whose it is", err))
}

// SetOwner marks the ledger, in the place of a mark that it had. A mark is what only its owner can
// make, such as a MAC of [Store.ID], and tells nothing of the key. Call it under a [ServerLock].
func (s *Store) SetOwner(ctx context.Context, mark string) error {
	if mark == "" {
		return &ledgersql.Error{Kind: ledgersql.ErrInvalid, Op: "marking", Path: s.where, Found: "no mark", Expected: "one"}
	}
	_, err := s.pool.Exec(ctx, `INSERT INTO meta (key, value) VALUES ('owner', $1) ON CONFLICT (key) DO UPDATE SET value = excluded.value`, mark)
	return s.locate(border("marking whose it is", err))
}
