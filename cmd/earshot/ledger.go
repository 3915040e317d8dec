package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"

	"github.com/earshot-dev/earshot/internal/cause"
	"github.com/earshot-dev/earshot/internal/datadir"
	"github.com/earshot-dev/earshot/internal/kernel"
	"github.com/earshot-dev/earshot/internal/kernel/store/ledgersql"
	"github.com/earshot-dev/earshot/internal/kernel/store/sqlite"
)

// watched is the ledger as the kernel has it. Where the ledger itself is in trouble,
// a run could only wait without a word; it is told instead.
type watched struct {
	kernel.Store

	fatal   []error // what the run cannot go on after
	trouble func(error)
	// shared: others have turns here too, who are not to wait for one that cannot be read.
	shared bool
}

// Update implements kernel.Store.
func (w watched) Update(ctx context.Context, fn func(kernel.Tx) error) error {
	return w.judge(w.Store.Update(ctx, fn))
}

// View implements kernel.Store.
func (w watched) View(ctx context.Context, fn func(kernel.Tx) error) error {
	return w.judge(w.Store.View(ctx, fn))
}

// Scrub implements kernel.Scrubber, where the store does.
func (w watched) Scrub(ctx context.Context) error {
	if s, can := w.Store.(kernel.Scrubber); can {
		return w.judge(s.Scrub(ctx))
	}
	return nil
}

func (w watched) judge(err error) error {
	if w.shared && errors.Is(err, kernel.ErrDamaged) {
		return err
	}
	for _, fatal := range w.fatal {
		if errors.Is(err, fatal) {
			w.trouble(err)
			break
		}
	}
	return err
}

// watch keeps an eye on the ledger. A database may go away and come back, a file may not.
func (h *house) watch() kernel.Store {
	fatal := []error{kernel.ErrFull, ledgersql.ErrCorrupt}
	if !h.inDatabase {
		fatal = append(fatal, ledgersql.ErrIO, ledgersql.ErrAccess)
	}
	return watched{Store: h.store, fatal: fatal, trouble: h.ledgerBroke, shared: h.access != nil}
}

func (h *house) ledgerBroke(err error) {
	if h.inDatabase {
		h.fail(databaseFailure(err))
		return
	}
	h.fail(ledgerFailure(h.ledger, err))
}

func (h *house) openLedger(ctx context.Context, o houseOptions) error {
	if o.database != "" {
		return h.openDatabase(ctx, o)
	}
	return h.openFile(ctx, o)
}

// openFile opens the ledger in the data directory, whose lock says that nobody else has it.
func (h *house) openFile(ctx context.Context, o houseOptions) error {
	h.ledger, h.counter = h.data.File(datadir.LedgerFile), h.data.File(datadir.CounterFile)
	if info, err := os.Stat(h.ledger); err == nil && info.IsDir() {
		return cause.Fail(nil, "there is a folder where the ledger should be: "+h.ledger, "move it away, or use another folder with --data DIR")
	}
	store, err := sqlite.Open(ctx, sqlite.Options{Path: h.ledger, Logger: o.log})
	if err != nil {
		return ledgerFailure(h.ledger, err)
	}
	h.keepLedger(store)
	if err := os.Remove(h.data.File(datadir.DatabaseFile)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return cause.Fail(err, "it cannot be noted that the ledger is in "+h.data.Path, "remove "+h.data.File(datadir.DatabaseFile))
	}
	return nil
}

func (h *house) keepLedger(store kernel.Store) {
	h.store = store
	h.closers = append(h.closers, func() { _ = store.Close() })
}

// counterBroke is trouble with the counter beside the ledger: nothing with an effect can
// start without it.
func (h *house) counterBroke(err error) {
	switch {
	case h.data.Gone():
		h.fail(h.data.Lost())
	case errors.Is(err, unix.ENOSPC), errors.Is(err, unix.EDQUOT), errors.Is(err, unix.EFBIG):
		h.ledgerBroke(fmt.Errorf("%w: %w", kernel.ErrFull, err))
	default:
		h.fail(cause.Fail(err, "the counter beside the ledger cannot be written", "look at the disk and at who may write to "+h.data.Path))
	}
}

func ledgerFailure(path string, err error) error {
	var newer *ledgersql.VersionError
	switch {
	case errors.As(err, &newer):
		return cause.Fail(nil, newer.Error(), "use the newer earshot that wrote it, or another folder with --data DIR")
	case errors.Is(err, ledgersql.ErrCorrupt):
		return cause.Fail(nil, fmt.Sprintf("the ledger %s is damaged or is no ledger%s", path, ledgersql.Found(err)),
			"restore it from a backup, or move it away and start afresh")
	case errors.Is(err, kernel.ErrFull):
		return cause.Fail(nil, "no room is left for the ledger "+path, "make room on the disk, then run it again")
	}
	return &cause.Error{
		Message: "the ledger " + path + " cannot be read or written" + ledgersql.Because(err),
		Hint:    "look at the disk and at who may write there, or use --data DIR", Err: err,
	}
}
