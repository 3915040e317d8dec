package sqlite

import (
	"context"
	"errors"

	"github.com/earshot-dev/earshot/internal/kernel/store/ledgersql"
)

// Verify reads a copy of a ledger through, page by page, without changing what it holds: one
// that is damaged or no ledger is [ledgersql.ErrCorrupt], one of a newer program a
// [*ledgersql.VersionError].
func Verify(ctx context.Context, path string) error {
	if empty(path) {
		return &ledgersql.Error{Kind: ledgersql.ErrCorrupt, Op: "looking through", Path: path, Found: "an empty file", Expected: "a ledger"}
	}
	if _, err := inspect(path); err != nil {
		return err
	}
	c, err := dial(ctx, path, writing)
	if err != nil {
		return err
	}
	s := &Store{path: path, writer: c}
	return errors.Join(s.verify(), c.close())
}

func (s *Store) verify() error {
	want, err := latest()
	if err != nil {
		return err
	}
	have, err := s.version()
	if err != nil {
		return err
	}
	if have > want {
		return &ledgersql.VersionError{Path: s.path, Found: have, Expected: want}
	}
	if have == 0 {
		return &ledgersql.Error{Kind: ledgersql.ErrCorrupt, Op: "looking through", Path: s.path, Found: "a database without tables", Expected: "a ledger"}
	}
	var verdict string
	if err := s.writer.QueryRow("PRAGMA integrity_check(1)", nil, &verdict); err != nil {
		return s.opening(err)
	}
	if verdict != "ok" {
		return &ledgersql.Error{
			Kind: ledgersql.ErrCorrupt, Op: "looking through", Path: s.path, Found: torn, Err: errors.New(verdict), Expected: "a whole database",
			Advice: "take another copy",
		}
	}
	return nil
}
