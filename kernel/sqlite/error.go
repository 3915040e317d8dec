package sqlite

import (
	"database/sql"
	"errors"
	"fmt"
	"strings"

	driver "modernc.org/sqlite"
	code "modernc.org/sqlite/lib"

	"github.com/earshot-dev/earshot/kernel"
)

// What can be wrong with the ledger as such; [Error] says more. No room is
// [kernel.ErrFull], a lost race [kernel.ErrConflict], a missing row [kernel.ErrNotFound].
var (
	// ErrCorrupt: the file is damaged, or is no ledger at all.
	ErrCorrupt = errors.New("sqlite: the ledger is damaged or is no ledger")
	// ErrAccess: the file or its folder cannot be opened or written.
	ErrAccess = errors.New("sqlite: the ledger cannot be opened or written")
	// ErrBusy: another process has held the ledger for too long.
	ErrBusy = errors.New("sqlite: another process holds the ledger")
	// ErrIO: reading or writing failed. If it was a commit, it is not known whether it
	// was written: read before trying again.
	ErrIO = errors.New("sqlite: reading or writing the ledger failed")
	// ErrClosed: the store was closed; nothing was done.
	ErrClosed = errors.New("sqlite: the store is closed")
	// ErrInvalid: the request itself cannot be right; nothing was done.
	ErrInvalid = errors.New("sqlite: not a valid request to the ledger")
)

// Error is what went wrong at the border to SQLite: what was being done, what was
// found, what was expected and what to do. It unwraps to one of the sentinels and to
// its cause.
type Error struct {
	Kind     error  // a sentinel of this package, or kernel.ErrFull
	Op       string // what was being done
	Path     string // the ledger's file, where one is meant
	Found    string
	Expected string
	Advice   string
	Err      error
}

func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString("sqlite: " + e.Op)
	if e.Path != "" {
		b.WriteString(" " + e.Path)
	}
	for _, part := range []struct{ lead, text string }{{": found ", e.Found}, {"; expected ", e.Expected}, {"; ", e.Advice}} {
		if part.text != "" {
			b.WriteString(part.lead + part.text)
		}
	}
	if e.Err != nil {
		b.WriteString(" (" + e.Err.Error() + ")")
	}
	return b.String()
}

func (e *Error) Unwrap() []error {
	if e.Err == nil {
		return []error{e.Kind}
	}
	return []error{e.Kind, e.Err}
}

// SafeToRetry reports whether the same request may be sent again: it is certain that
// nothing was written, and it may go better another time.
func (e *Error) SafeToRetry() bool {
	return errors.Is(e.Kind, kernel.ErrFull) || errors.Is(e.Kind, ErrBusy) || errors.Is(e.Kind, ErrClosed)
}

// VersionError says that the ledger was written by a newer program.
type VersionError struct {
	Path     string
	Found    int64
	Expected int64 // the newest version that this program knows
}

func (e *VersionError) Error() string {
	return fmt.Sprintf("the ledger %s has schema version %d; this program knows versions up to %d", e.Path, e.Found, e.Expected)
}

// PanicError is a panic of a function that was given to Update or View. Its writes were
// undone; those of its neighbours were not.
type PanicError struct {
	Value any
	Stack []byte
}

func (e *PanicError) Error() string {
	return fmt.Sprintf("sqlite: a transaction's function panicked: %v", e.Value)
}

// border turns an error of the driver into one of ours, by its result code.
func border(op string, err error) error {
	var raw *driver.Error
	switch {
	case err == nil:
		return nil
	case errors.Is(err, sql.ErrNoRows):
		return fmt.Errorf("%w: %s", kernel.ErrNotFound, op)
	case !errors.As(err, &raw):
		return &Error{Kind: ErrIO, Op: op, Err: err}
	}
	return &Error{Kind: kind(raw.Code()), Op: op, Found: found(raw.Code()), Advice: advice(raw.Code()), Err: err}
}

// kind names what a result code means. The extended code decides where the primary one
// is too coarse.
func kind(rc int) error {
	switch rc {
	case code.SQLITE_CONSTRAINT_CHECK, code.SQLITE_CONSTRAINT_NOTNULL, code.SQLITE_CONSTRAINT_DATATYPE:
		return ErrInvalid
	case code.SQLITE_IOERR_SHMSIZE: // the index of the log could not grow
		return kernel.ErrFull
	case code.SQLITE_IOERR_ACCESS:
		return ErrAccess
	case code.SQLITE_IOERR_CORRUPTFS, code.SQLITE_IOERR_DATA:
		return ErrCorrupt
	}
	switch rc & 0xff {
	case code.SQLITE_CONSTRAINT:
		return kernel.ErrConflict
	case code.SQLITE_FULL:
		return kernel.ErrFull
	case code.SQLITE_CORRUPT, code.SQLITE_NOTADB, code.SQLITE_FORMAT:
		return ErrCorrupt
	case code.SQLITE_READONLY, code.SQLITE_PERM, code.SQLITE_AUTH, code.SQLITE_CANTOPEN, code.SQLITE_NOLFS:
		return ErrAccess
	case code.SQLITE_BUSY, code.SQLITE_LOCKED, code.SQLITE_PROTOCOL:
		return ErrBusy
	case code.SQLITE_TOOBIG, code.SQLITE_MISMATCH, code.SQLITE_RANGE:
		return ErrInvalid
	default:
		return ErrIO
	}
}

func found(rc int) string { return fmt.Sprintf("result code %d", rc) }

func advice(rc int) string {
	switch k := kind(rc); {
	case errors.Is(k, kernel.ErrFull):
		return "make room and try again; nothing was written"
	case errors.Is(k, ErrCorrupt):
		return "restore the ledger from a backup"
	case errors.Is(k, ErrAccess):
		return "check the permissions of the ledger and of its folder"
	case errors.Is(k, ErrBusy):
		return "end the other process, or try again; nothing was written"
	case errors.Is(k, ErrIO):
		return "check the disk; read what was recorded before trying again"
	}
	return ""
}

// conflict says which thing that may be once is there, or which row is not as expected.
func conflict(format string, args ...any) error {
	return fmt.Errorf("%w: %s", kernel.ErrConflict, fmt.Sprintf(format, args...))
}

func invalid(op, found, expected string) error {
	return &Error{Kind: ErrInvalid, Op: op, Found: found, Expected: expected}
}
