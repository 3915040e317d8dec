package sqlite

import (
	"context"
	"errors"
	"os"
	"path/filepath"

	"github.com/earshot-dev/earshot/internal/kernel/store/ledgersql"
)

// Backup writes a copy of the ledger, as it is at this moment, into a new file that its
// owner alone can read. It runs beside updates and views. What is there already is not
// touched: that is [ledgersql.ErrAccess]. A copy that is put back later shows in the kernel's
// incarnation.
func (s *Store) Backup(ctx context.Context, path string) error {
	if err := s.enter(); err != nil {
		return err
	}
	defer s.views.Done()
	// Nothing but SQLite may open the file: anyone who closes it drops all locks that this process has on
	// it, and another process would take the log for one that nobody uses.
	return backUp(ctx, s.path, path)
}

// Backup is [Store.Backup] of a ledger that another process may have open, on the same machine;
// for one that is open in this process, that method has to be used. The ledger has to be there:
// it is not made.
func Backup(ctx context.Context, from, path string) error {
	if _, err := inspect(from); err != nil {
		return err
	}
	return backUp(ctx, from, path)
}

func backUp(ctx context.Context, from, path string) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return &ledgersql.Error{
			Kind: ledgersql.ErrAccess, Op: "backing up to", Path: path, Expected: "a path where nothing is yet, in a folder that can be written", Err: err,
		}
	}
	defer f.Close() //nolint:errcheck // SQLite writes it; what counts is Sync
	err = copyTo(ctx, from, path)
	if err == nil {
		err = flush(f, path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(path))
	}
	return nil
}

func copyTo(ctx context.Context, from, path string) error {
	c, err := dial(ctx, from, writing) // a connection for views may not write anywhere
	if err != nil {
		return err
	}
	_, err = c.sql.ExecContext(ctx, "VACUUM INTO ?1", path)
	return errors.Join(border("backing up to "+path, err), c.close())
}

// flush makes the copy and its name durable.
func flush(f *os.File, path string) error {
	dir, err := os.Open(filepath.Dir(path))
	if err == nil {
		err = errors.Join(f.Sync(), dir.Sync(), dir.Close())
	}
	if err != nil {
		return &ledgersql.Error{Kind: ledgersql.ErrIO, Op: "backing up to", Path: path, Err: err}
	}
	return nil
}
