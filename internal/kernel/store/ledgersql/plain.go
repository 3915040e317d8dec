package ledgersql

import (
	"errors"

	"github.com/earshot-dev/earshot/internal/cause"
	"github.com/earshot-dev/earshot/internal/kernel/store"
)

// Plain implements [cause.Plain]: without the names and numbers of the database's own program.
func (e *Error) Plain() string {
	text := "the ledger could not be read or written"
	for _, row := range []struct {
		kind  error
		words string
	}{
		{store.ErrFull, "no room is left for the ledger"},
		{ErrCorrupt, "the ledger is damaged or is not a ledger"},
		{ErrAccess, "this user may not read or write the ledger"},
		{ErrBusy, "another program holds the ledger"},
		{ErrUnreachable, "the ledger cannot be reached"},
		{ErrClosed, "the ledger was closed"},
	} {
		if errors.Is(e.Kind, row.kind) {
			text = row.words
			break
		}
	}
	return text + Because(e)
}

// Because returns what was found instead of a ledger, else the system's own message. It is appended to a message.
func Because(err error) string {
	e, is := errors.AsType[*Error](err)
	if !is {
		return ": " + cause.Of(err)
	}
	if found := Found(e); found != "" {
		return found
	}
	if words := cause.System(e.Err); words != "" {
		return ": " + words
	}
	return ""
}

// Found returns what the store found where it expected a ledger. It is appended to a message.
func Found(err error) string {
	e, is := errors.AsType[*Error](err)
	if !is || e.Found == "" {
		return ""
	}
	found := ": found " + e.Found
	if e.Expected != "" {
		found += ", expected " + e.Expected
	}
	return found
}
