package ledgersql

import (
	"errors"
	"fmt"
	"strings"

	"github.com/earshot-dev/earshot/internal/kernel/store"
)

// Kinds of errors of a ledger; [Error] says more. A full disk is [store.ErrFull], a lost race
// [store.ErrConflict], a missing row [store.ErrNotFound].
var (
	// ErrCorrupt: the ledger is damaged, or is not a ledger at all.
	ErrCorrupt = errors.New("ledger: it is damaged or is not a ledger")
	// ErrAccess: the ledger may not be opened or written.
	ErrAccess = errors.New("ledger: it cannot be opened or written")
	// ErrBusy: others have locked the ledger for too long; nothing was written.
	ErrBusy = errors.New("ledger: others hold it")
	// ErrUnreachable: the connection to the ledger is gone or cannot be made; nothing was
	// written.
	ErrUnreachable = errors.New("ledger: it cannot be reached")
	// ErrIO: reading or writing failed. If it was a commit, it may have been written: read before
	// you try again.
	ErrIO = errors.New("ledger: reading or writing failed")
	// ErrClosed: the store was closed; nothing was done.
	ErrClosed = errors.New("ledger: the store is closed")
	// ErrInvalid: the request itself cannot be right; nothing was done.
	ErrInvalid = errors.New("ledger: not a valid request")
)

// Error is an error of a database: what was being done, what was found, what was expected and what to do.
// It unwraps to one of the sentinels and to its cause.
type Error struct {
	Kind     error  // a sentinel of this package, or kernel.ErrFull
	Op       string // what was being done
	Path     string // where the ledger lies, where that is meant
	Found    string
	Expected string
	Advice   string
	Err      error
}

func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString("ledger: " + e.Op)
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

// SafeToRetry reports whether the same request may be sent again: it is certain that nothing was written,
// and a retry may succeed.
func (e *Error) SafeToRetry() bool {
	for _, kind := range []error{store.ErrFull, ErrBusy, ErrUnreachable, ErrClosed} {
		if errors.Is(e.Kind, kind) {
			return true
		}
	}
	return false
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

// PanicError is a panic of a function that was passed to Update or View. Its writes were rolled back; those
// of other updates in the same commit were not.
type PanicError struct {
	Value any
	Stack []byte
}

func (e *PanicError) Error() string {
	return fmt.Sprintf("ledger: a transaction's function panicked: %v", e.Value)
}

// conflict says which thing that may be once is there, or which row is not as expected.
func conflict(format string, args ...any) error {
	return fmt.Errorf("%w: %s", store.ErrConflict, fmt.Sprintf(format, args...))
}

func invalid(op, found, expected string) error {
	return &Error{Kind: ErrInvalid, Op: op, Found: found, Expected: expected}
}
