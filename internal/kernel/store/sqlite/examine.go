package sqlite

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/earshot-dev/earshot/internal/kernel/store/ledgersql"
)

// Condition is what [Examine] has found of a whole ledger.
type Condition struct {
	// Version of the schema; 0 for a file without tables, which the next opening fills.
	Version int64
	// Latest is the version that this program works with, and brings a ledger to.
	Latest int64
}

// Examine reads a ledger through and leaves it as it is, also beside a program that works with it. One that is damaged
// or no ledger is [ledgersql.ErrCorrupt], one of a newer program a [*ledgersql.VersionError]. When the context ends before
// the end of the ledger, its error is returned with what is known by then.
func Examine(ctx context.Context, path string) (Condition, error) {
	clean, err := inspect(path)
	if err != nil {
		return Condition{}, err
	}
	if _, open := os.Stat(path + "-shm"); clean && errors.Is(open, os.ErrNotExist) {
		if c, err := examine(ctx, path, lookingStill); err == nil || ctx.Err() != nil {
			return c, err
		} // somebody may have opened it since
	}
	return examine(ctx, path, looking)
}

func examine(ctx context.Context, path string, p purpose) (found Condition, err error) {
	c, err := dial(ctx, path, p)
	if err != nil {
		return found, err
	}
	s := &Store{path: path, writer: c}
	defer func() { err = errors.Join(err, c.close()) }()
	if found.Latest, err = latest(); err != nil {
		return found, err
	}
	if found.Version, err = s.version(); err != nil {
		return found, err
	}
	if found.Version > found.Latest {
		return found, &ledgersql.VersionError{Path: path, Found: found.Version, Expected: found.Latest}
	}
	var verdict string
	err = c.sql.QueryRowContext(ctx, "PRAGMA integrity_check(1)").Scan(&verdict)
	switch {
	case ctx.Err() != nil:
		return found, fmt.Errorf("sqlite: looking through %s: %w", path, ctx.Err())
	case err != nil:
		return found, s.opening(err)
	case verdict != "ok":
		return found, &ledgersql.Error{
			Kind: ledgersql.ErrCorrupt, Op: "looking through", Path: path, Found: torn, Err: errors.New(verdict), Expected: "a whole database", Advice: "restore it from a backup",
		}
	}
	return found, nil
}
