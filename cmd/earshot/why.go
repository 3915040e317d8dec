package main

import (
	"errors"
	"strings"

	"github.com/earshot-dev/earshot/agents/tidy"
	"github.com/earshot-dev/earshot/agents/tidy/files"
	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/client"
	"github.com/earshot-dev/earshot/internal/bus"
	"github.com/earshot-dev/earshot/internal/cause"
	"github.com/earshot-dev/earshot/internal/hub/access"
	"github.com/earshot-dev/earshot/internal/kernel"
	"github.com/earshot-dev/earshot/internal/kernel/store/ledgersql"
)

// why says in words for a person why something failed: what our own parts say of it for people, and what the system said.
func why(err error) string {
	if e, is := errors.AsType[*cause.Error](err); is {
		return e.Message
	}
	if e, is := errors.AsType[*ledgersql.Error](err); is {
		return ofLedger(e)
	}
	if e, is := errors.AsType[*files.Error](err); is {
		return tidy.Words(e)
	}
	if e, is := errors.AsType[*client.Error](err); is {
		return e.Message
	}
	if e, is := errors.AsType[*bus.Error](err); is {
		return retold(e.Message, e.Err)
	}
	if e, is := errors.AsType[*access.Error](err); is {
		return retold(e.Message, e.Err)
	}
	if e, is := errors.AsType[*api.Fault](err); is {
		return e.Message
	}
	return cause.Of(err)
}

// retold is a message that may hold the text of its cause, with that in words.
func retold(message string, inner error) string {
	if inner == nil {
		return message
	}
	return strings.Replace(message, inner.Error(), cause.Of(inner), 1)
}

// ofLedger leaves out the names and numbers of the database's own program.
func ofLedger(e *ledgersql.Error) string {
	text := "the ledger could not be read or written"
	for _, row := range []struct {
		kind  error
		words string
	}{
		{kernel.ErrFull, "no room is left for the ledger"},
		{ledgersql.ErrCorrupt, "the ledger is damaged or is no ledger"},
		{ledgersql.ErrAccess, "this user may not read or write the ledger"},
		{ledgersql.ErrBusy, "another program holds the ledger"},
		{ledgersql.ErrUnreachable, "the ledger cannot be reached"},
		{ledgersql.ErrClosed, "the ledger was closed"},
	} {
		if errors.Is(e.Kind, row.kind) {
			text = row.words
			break
		}
	}
	return text + ledgerCause(e)
}

// ledgerCause is what was found instead of a ledger, or else what the system said; it stands behind a message.
func ledgerCause(err error) string {
	e, is := errors.AsType[*ledgersql.Error](err)
	if !is {
		return ": " + why(err)
	}
	if found := foundInstead(e); found != "" {
		return found
	}
	if words := cause.System(e.Err); words != "" {
		return ": " + words
	}
	return ""
}
