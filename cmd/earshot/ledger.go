package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/earshot-dev/earshot/kernel"
	"github.com/earshot-dev/earshot/kernel/sqlite"
)

// watched is the ledger as the kernel has it. Where the ledger itself is in trouble,
// a run could only wait without a word; it is told instead.
type watched struct {
	kernel.Store

	trouble func(error)
}

// Update implements kernel.Store.
func (w watched) Update(ctx context.Context, fn func(kernel.Tx) error) error {
	return w.judge(w.Store.Update(ctx, fn))
}

// View implements kernel.Store.
func (w watched) View(ctx context.Context, fn func(kernel.Tx) error) error {
	return w.judge(w.Store.View(ctx, fn))
}

func (w watched) judge(err error) error {
	for _, trouble := range []error{kernel.ErrFull, sqlite.ErrIO, sqlite.ErrCorrupt, sqlite.ErrAccess} {
		if errors.Is(err, trouble) {
			w.trouble(err)
			break
		}
	}
	return err
}

func (h *house) ledgerBroke(err error) { h.fail(ledgerFailure(h.data.file(ledgerFile), err)) }

// foundInstead is what the store found where it expected a ledger.
func foundInstead(err error) string {
	if e, is := errors.AsType[*sqlite.Error](err); is && e.Found != "" {
		return ": found " + e.Found + ", expected " + e.Expected
	}
	return ""
}

func ledgerFailure(path string, err error) error {
	var newer *sqlite.VersionError
	switch {
	case errors.As(err, &newer):
		return failed(nil, newer.Error(), "use the newer earshot that wrote it, or another folder with --data DIR")
	case errors.Is(err, sqlite.ErrCorrupt):
		return failed(nil, fmt.Sprintf("the ledger %s is damaged or is no ledger%s", path, foundInstead(err)),
			"restore it from a backup, or move it away and start afresh")
	case errors.Is(err, kernel.ErrFull):
		return failed(nil, "no room is left for the ledger "+path, "make room on the disk, then run it again")
	}
	return failed(err, "the ledger "+path+" cannot be read or written", "look at the disk and at who may write there, or use --data DIR")
}
