package sqlite_test

import (
	"database/sql"
	"errors"
	"strings"
	"testing"

	code "modernc.org/sqlite/lib"

	"github.com/earshot-dev/earshot/internal/kernel/store"
	"github.com/earshot-dev/earshot/internal/kernel/store/ledgersql"
	"github.com/earshot-dev/earshot/internal/kernel/store/sqlite"
)

func TestResultCodes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		rc   int
		want error
	}{
		{code.SQLITE_FULL, store.ErrFull},
		{code.SQLITE_IOERR_SHMSIZE, store.ErrFull},
		{code.SQLITE_CONSTRAINT_UNIQUE, store.ErrConflict},
		{code.SQLITE_CONSTRAINT_PRIMARYKEY, store.ErrConflict},
		{code.SQLITE_CONSTRAINT_FOREIGNKEY, store.ErrConflict},
		{code.SQLITE_CONSTRAINT_CHECK, ledgersql.ErrInvalid},
		{code.SQLITE_CONSTRAINT_NOTNULL, ledgersql.ErrInvalid},
		{code.SQLITE_CORRUPT, ledgersql.ErrCorrupt},
		{code.SQLITE_CORRUPT_INDEX, ledgersql.ErrCorrupt},
		{code.SQLITE_NOTADB, ledgersql.ErrCorrupt},
		{code.SQLITE_READONLY, ledgersql.ErrAccess},
		{code.SQLITE_READONLY_DIRECTORY, ledgersql.ErrAccess},
		{code.SQLITE_CANTOPEN, ledgersql.ErrAccess},
		{code.SQLITE_PERM, ledgersql.ErrAccess},
		{code.SQLITE_IOERR_ACCESS, ledgersql.ErrAccess},
		{code.SQLITE_BUSY, ledgersql.ErrBusy},
		{code.SQLITE_BUSY_SNAPSHOT, ledgersql.ErrBusy},
		{code.SQLITE_IOERR_FSYNC, ledgersql.ErrIO},
		{code.SQLITE_IOERR_WRITE, ledgersql.ErrIO},
		{code.SQLITE_TOOBIG, ledgersql.ErrInvalid},
		{code.SQLITE_ERROR, ledgersql.ErrIO},
	} {
		if got := sqlite.Kind(c.rc); !errors.Is(got, c.want) {
			t.Errorf("result code %d is %v, want %v", c.rc, got, c.want)
		}
	}
	if err := sqlite.Border("reading a row", sql.ErrNoRows); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("no rows: got %v", err)
	}
	if err := sqlite.Border("reading", nil); err != nil {
		t.Errorf("nothing: got %v", err)
	}
}

func TestErrorsSayWhatToDo(t *testing.T) {
	t.Parallel()
	err := &ledgersql.Error{
		Kind: ledgersql.ErrCorrupt, Op: "opening", Path: "/data/ledger.db", Found: "a poem", Expected: "a ledger", Advice: "use another file", Err: errStop,
	}
	if got, want := err.Error(), "ledger: opening /data/ledger.db: found a poem; expected a ledger; use another file (stop)"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if !errors.Is(err, ledgersql.ErrCorrupt) || !errors.Is(err, errStop) || err.SafeToRetry() {
		t.Error("the error is its kind and its cause, and not safe to retry")
	}
}

// TestConflictsKeepTheirCause: a constraint is a conflict that says what it was about.
func TestConflictsKeepTheirCause(t *testing.T) {
	t.Parallel()
	s := open(t, t.TempDir())
	if err := save(t.Context(), s, twoEvents(1)); err != nil {
		t.Fatal(err)
	}
	err := save(t.Context(), s, twoEvents(1))
	if !errors.Is(err, store.ErrConflict) || !strings.Contains(err.Error(), "turn_1") {
		t.Errorf("got %v", err)
	}
}
