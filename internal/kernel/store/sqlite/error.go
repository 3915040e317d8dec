package sqlite

import (
	"database/sql"
	"errors"
	"fmt"

	driver "modernc.org/sqlite"
	code "modernc.org/sqlite/lib"

	"github.com/earshot-dev/earshot/internal/kernel/store"
	"github.com/earshot-dev/earshot/internal/kernel/store/ledgersql"
)

// border turns an error of the driver into one of ours, by its result code.
func border(op string, err error) error {
	var raw *driver.Error
	switch {
	case err == nil:
		return nil
	case errors.Is(err, sql.ErrNoRows):
		return fmt.Errorf("%w: %s", store.ErrNotFound, op)
	case !errors.As(err, &raw):
		return &ledgersql.Error{Kind: ledgersql.ErrIO, Op: op, Err: err}
	}
	return &ledgersql.Error{Kind: kind(raw.Code()), Op: op, Found: found(raw.Code()), Advice: advice(raw.Code()), Err: err}
}

// kind names what a result code means. The extended code decides where the primary one
// is too coarse.
func kind(rc int) error {
	switch rc {
	case code.SQLITE_CONSTRAINT_CHECK, code.SQLITE_CONSTRAINT_NOTNULL, code.SQLITE_CONSTRAINT_DATATYPE:
		return ledgersql.ErrInvalid
	case code.SQLITE_IOERR_SHMSIZE: // the index of the log could not grow
		return store.ErrFull
	case code.SQLITE_IOERR_ACCESS:
		return ledgersql.ErrAccess
	case code.SQLITE_IOERR_CORRUPTFS, code.SQLITE_IOERR_DATA:
		return ledgersql.ErrCorrupt
	}
	switch rc & 0xff {
	case code.SQLITE_CONSTRAINT:
		return store.ErrConflict
	case code.SQLITE_FULL:
		return store.ErrFull
	case code.SQLITE_CORRUPT, code.SQLITE_NOTADB, code.SQLITE_FORMAT:
		return ledgersql.ErrCorrupt
	case code.SQLITE_READONLY, code.SQLITE_PERM, code.SQLITE_AUTH, code.SQLITE_CANTOPEN, code.SQLITE_NOLFS:
		return ledgersql.ErrAccess
	case code.SQLITE_BUSY, code.SQLITE_LOCKED, code.SQLITE_PROTOCOL:
		return ledgersql.ErrBusy
	case code.SQLITE_TOOBIG, code.SQLITE_MISMATCH, code.SQLITE_RANGE:
		return ledgersql.ErrInvalid
	default:
		return ledgersql.ErrIO
	}
}

// torn is what a damaged database looks like to a person; which page it is stays in the cause.
const torn = "pages that contradict each other"

// found says in words for a person what SQLite found. The number stays in the cause, for who reads the code.
func found(rc int) string {
	switch rc & 0xff {
	case code.SQLITE_CORRUPT:
		return torn
	case code.SQLITE_NOTADB, code.SQLITE_FORMAT:
		return "a file of another form"
	case code.SQLITE_FULL:
		return "no room for it"
	case code.SQLITE_READONLY:
		return "a file that can only be read"
	case code.SQLITE_PERM, code.SQLITE_AUTH:
		return "a file that this user may not use"
	case code.SQLITE_CANTOPEN:
		return "a file that cannot be opened"
	case code.SQLITE_NOLFS:
		return "a disk that takes no file as large"
	case code.SQLITE_BUSY, code.SQLITE_LOCKED, code.SQLITE_PROTOCOL:
		return "another program that holds it"
	case code.SQLITE_IOERR:
		return "a disk that failed"
	case code.SQLITE_CONSTRAINT:
		return "what contradicts a rule of the ledger"
	case code.SQLITE_TOOBIG, code.SQLITE_MISMATCH, code.SQLITE_RANGE:
		return "a value that does not fit"
	case code.SQLITE_NOMEM:
		return "no memory"
	default:
		return "an error of the database"
	}
}

func advice(rc int) string {
	switch k := kind(rc); {
	case errors.Is(k, store.ErrFull):
		return "make room and try again; nothing was written"
	case errors.Is(k, ledgersql.ErrCorrupt):
		return "restore the ledger from a backup"
	case errors.Is(k, ledgersql.ErrAccess):
		return "check the permissions of the ledger and of its folder"
	case errors.Is(k, ledgersql.ErrBusy):
		return "end the other process, or try again; nothing was written"
	case errors.Is(k, ledgersql.ErrIO):
		return "check the disk; read what was recorded before trying again"
	}
	return ""
}
