package instance

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"

	"github.com/earshot-dev/earshot/internal/cause"
	"github.com/earshot-dev/earshot/internal/datadir"
	"github.com/earshot-dev/earshot/internal/kernel/store"
	"github.com/earshot-dev/earshot/internal/kernel/store/ledgersql"
	"github.com/earshot-dev/earshot/internal/kernel/store/sqlite"
)

// RestoredNote reports that a ledger is older than when it was last used.
const RestoredNote = "Ledger: it is older than when it was last used here, as if restored from a backup. " +
	"What was under way is not repeated; you will be asked about it."

// watched is the ledger for the kernel. It reports failures of the ledger itself, because a run would otherwise wait
// silently.
type watched struct {
	store.Ledger

	fatal   []error // the errors that the run cannot recover from
	trouble func(error)
	// shared means that others have turns here too, which should not have to wait because one cannot be read.
	shared bool
}

// Update implements store.Ledger.
func (w watched) Update(ctx context.Context, fn func(store.Tx) error) error {
	return w.judge(w.Ledger.Update(ctx, fn))
}

// View implements store.Ledger.
func (w watched) View(ctx context.Context, fn func(store.Tx) error) error {
	return w.judge(w.Ledger.View(ctx, fn))
}

// Scrub implements kernel.Scrubber, where the store does.
func (w watched) Scrub(ctx context.Context) error {
	if s, can := w.Ledger.(store.Scrubber); can {
		return w.judge(s.Scrub(ctx))
	}
	return nil
}

func (w watched) judge(err error) error {
	if w.shared && errors.Is(err, store.ErrDamaged) {
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

// watch returns the ledger wrapped to detect failures. A database may go away and come back, a file may not.
func (i *Instance) watch() store.Ledger {
	fatal := []error{store.ErrFull, ledgersql.ErrCorrupt}
	if !i.InDatabase {
		fatal = append(fatal, ledgersql.ErrIO, ledgersql.ErrAccess)
	}
	return watched{Ledger: i.Store, fatal: fatal, trouble: i.ledgerBroke, shared: i.Access != nil}
}

func (i *Instance) ledgerBroke(err error) {
	if i.InDatabase {
		i.Fail(databaseFailure(err))
		return
	}
	i.Fail(LedgerFailure(i.Ledger, err))
}

func (i *Instance) openLedger(ctx context.Context) error {
	if i.options.Database != "" {
		return i.openDatabase(ctx)
	}
	return i.openFile(ctx)
}

// openFile opens the ledger in the data directory, whose lock guarantees that nobody else uses it.
func (i *Instance) openFile(ctx context.Context) error {
	i.Ledger, i.counter = i.Data.File(datadir.LedgerFile), i.Data.File(datadir.CounterFile)
	if info, err := os.Stat(i.Ledger); err == nil && info.IsDir() {
		return cause.Fail(nil, "there is a folder where the ledger should be: "+i.Ledger, "move it away, or use another folder with --data DIR")
	}
	store, err := sqlite.Open(ctx, sqlite.Options{Path: i.Ledger, Logger: i.options.Logger})
	if err != nil {
		return LedgerFailure(i.Ledger, err)
	}
	i.startKeeper(store)
	if err := os.Remove(i.Data.File(datadir.DatabaseFile)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return cause.Fail(err, "it cannot be noted that the ledger is in "+i.Data.Path, "remove "+i.Data.File(datadir.DatabaseFile))
	}
	return nil
}

func (i *Instance) startKeeper(store store.Ledger) {
	i.Store = store
	i.closers = append(i.closers, func() { _ = store.Close() })
}

// counterBroke reports a failure of the counter file: without it, no call with an effect can start.
func (i *Instance) counterBroke(err error) {
	switch {
	case i.Data.Replaced():
		i.Fail(i.Data.Lost())
	case errors.Is(err, unix.ENOSPC), errors.Is(err, unix.EDQUOT), errors.Is(err, unix.EFBIG):
		i.ledgerBroke(fmt.Errorf("%w: %w", store.ErrFull, err))
	default:
		i.Fail(cause.Fail(err, "the counter beside the ledger cannot be written", "look at the disk and at who may write to "+i.Data.Path))
	}
}

// LedgerFailure explains a problem with a ledger in a file, and what to do.
func LedgerFailure(path string, err error) error {
	var newer *ledgersql.VersionError
	switch {
	case errors.As(err, &newer):
		return cause.Fail(nil, newer.Error(), "use the newer earshot that wrote it, or another folder with --data DIR")
	case errors.Is(err, ledgersql.ErrCorrupt):
		return cause.Fail(nil, fmt.Sprintf("the ledger %s is damaged or is not a ledger%s", path, ledgersql.Found(err)),
			"restore it from a backup, or move it away and start afresh")
	case errors.Is(err, store.ErrFull):
		return cause.Fail(nil, "no room is left for the ledger "+path, "make room on the disk, then run it again")
	}
	return &cause.Error{
		Message: "the ledger " + path + " cannot be read or written" + ledgersql.Because(err),
		Hint:    "look at the disk and at who may write there, or use --data DIR", Err: err,
	}
}
