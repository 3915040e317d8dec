// Package backup copies the ledger of a data directory while a server uses it, and restores a copy so that nothing in
// it is carried out a second time.
package backup

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/earshot-dev/earshot/internal/cause"
	"github.com/earshot-dev/earshot/internal/datadir"
	"github.com/earshot-dev/earshot/internal/instance"
	"github.com/earshot-dev/earshot/internal/kernel/incarnation"
	"github.com/earshot-dev/earshot/internal/kernel/store/sqlite"
)

// Make copies the ledger of a data directory, as of one moment, to a new file, or to a folder under a name with the
// time. It returns the file, and reports its steps to notice.
func Make(ctx context.Context, data, to string, now time.Time, notice func(line string)) (file string, err error) {
	d := &datadir.Dir{Path: data}
	if err := instance.InDatabase(d, "back it up with PostgreSQL's own means, such as pg_dump, and copy the data directory at the same time"); err != nil {
		return "", err
	}
	from := d.File(datadir.LedgerFile)
	if !datadir.Exists(from) {
		return "", cause.Fail(nil, "there is no ledger in "+data, "name the data directory with --data DIR")
	}
	if err := datadir.CheckOwner(data); err != nil {
		return "", err
	}
	if info, err := os.Stat(to); err == nil && info.IsDir() {
		to = filepath.Join(to, "ledger-"+now.UTC().Format("20060102T150405Z")+".db")
	}
	if datadir.Exists(to) {
		return "", cause.Fail(nil, "there is something already: "+to, "name a file that is not there yet; a backup is never written over")
	}
	if folder := filepath.Dir(to); !datadir.Exists(folder) {
		return "", cause.Fail(nil, "there is no folder "+folder, "make it, or name another one")
	}
	notice("Copying the ledger of " + cause.OneLine(data) + ".")
	if err := sqlite.Backup(ctx, from, to); err != nil {
		return "", instance.LedgerFailure(to, err)
	}
	return to, nil
}

// Restore replaces the ledger by a complete and readable copy, and makes the next start detect that it is older than
// the world. It returns the path of the former ledger; "" if there was none. It reports its steps to notice.
func Restore(ctx context.Context, path, backup string, now time.Time, notice func(line string)) (kept string, err error) {
	if info, err := os.Stat(backup); err != nil || !info.Mode().IsRegular() || info.Size() == 0 {
		return "", cause.Fail(err, "there is no backup in "+backup, "name the file of an `earshot backup`")
	}
	if info, err := os.Stat(backup + "-wal"); err == nil && info.Size() > 0 { // a copy that was made by other means; without its log it would look complete
		return "", cause.Fail(nil, "what was written last is in "+backup+"-wal, and not in "+backup,
			"copy both into an empty folder, as ledger.db and ledger.db-wal; `earshot backup --data FOLDER COPY` makes a whole one of them")
	}
	data, err := datadir.Open(path)
	if err != nil {
		return "", err
	}
	defer data.Close()
	fresh := !datadir.Exists(data.File(datadir.KeyFile))
	if fresh && datadir.Exists(data.File(datadir.LedgerFile)) {
		_, err = data.Key() // its error says what to do
		return "", err
	}
	if _, err := data.Key(); err != nil {
		return "", err
	}
	if fresh {
		notice("Key: there was none in " + cause.OneLine(path) +
			", and a new one was made. Secrets in the copy cannot be read with it; put the old file key back if you have it.")
	}
	notice("Looking through " + cause.OneLine(backup) + ".")
	copied := data.File(datadir.LedgerFile + ".restoring")
	for _, end := range []string{"", "-wal", "-shm"} {
		_ = os.Remove(copied + end) // of an interrupted restore
	}
	if err := copyWhole(backup, copied); err != nil {
		return "", cause.Fail(err, "the backup cannot be copied", "make room on the disk of "+path)
	}
	incarnations, err := readThrough(ctx, copied, backup)
	if err != nil {
		_ = os.Remove(copied)
		return "", err
	}
	if err := ahead(data, incarnations); err != nil {
		return "", err
	}
	return replace(ctx, data, copied, now)
}

// readThrough opens the copy once, so that a newer, damaged or foreign one is refused before anything has changed. It
// returns the copy's own count.
func readThrough(ctx context.Context, copied, backup string) (incarnations int64, err error) {
	if err := sqlite.Verify(ctx, copied); err != nil {
		return 0, instance.LedgerFailure(backup, err)
	}
	s, err := sqlite.Open(ctx, sqlite.Options{Path: copied})
	if err != nil {
		return 0, instance.LedgerFailure(backup, err)
	}
	incarnations, err = incarnation.Count(ctx, s)
	if err = errors.Join(err, s.Close()); err != nil {
		return 0, instance.LedgerFailure(backup, err)
	}
	return incarnations, nil
}

// ahead advances the counter file, so that the restored ledger is behind it.
func ahead(data *datadir.Dir, incarnations int64) error {
	counter := &datadir.Counter{Path: data.File(datadir.CounterFile), Trouble: func(error) {}}
	n, err := counter.Load()
	if err == nil {
		err = counter.Store(max(n, incarnations) + 1)
	}
	if err != nil {
		return cause.Fail(err, "the counter beside the ledger cannot be written", "look at who may write to "+data.Path)
	}
	return nil
}

// replace keeps the former ledger under another name, which it returns.
func replace(ctx context.Context, data *datadir.Dir, copied string, at time.Time) (kept string, err error) {
	now := data.File(datadir.LedgerFile)
	if datadir.Exists(now) {
		if s, err := sqlite.Open(ctx, sqlite.Options{Path: now}); err == nil {
			_ = s.Close() // the content of its log is in the file now
		}
		kept, err = setAside(now, data.File("ledger-before-"+at.UTC().Format("20060102T150405Z")))
		if err != nil {
			return "", cause.Fail(err, "the ledger that is there cannot be kept", "look at who may write to "+data.Path)
		}
	}
	if err := errors.Join(os.Rename(copied, now), syncFolder(data.Path)); err != nil {
		return kept, cause.Fail(err, "the copy cannot be put in place", "rename "+copied+" to "+now)
	}
	return kept, nil
}

// setAside gives a ledger a second, unused name, together with its log files. If the file system can do that, the file
// also keeps its own name until another replaces it: a start in between must not find nothing and begin a new ledger.
func setAside(ledger, name string) (kept string, err error) {
	kept = name + ".db"
	for n := 2; datadir.Exists(kept); n++ { // of another restore in the same second
		kept = fmt.Sprintf("%s-%d.db", name, n)
	}
	if os.Link(ledger, kept) != nil {
		if err := os.Rename(ledger, kept); err != nil {
			return kept, fmt.Errorf("keeping: %w", err)
		}
	}
	for _, end := range []string{"-wal", "-shm"} {
		if err := os.Rename(ledger+end, kept+end); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return kept, fmt.Errorf("keeping: %w", err)
		}
	}
	return kept, nil
}

func syncFolder(path string) error {
	dir, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("writing %s: %w", path, err)
	}
	return errors.Join(dir.Sync(), dir.Close())
}

// copyWhole copies a file durably.
func copyWhole(from, to string) (err error) {
	in, err := os.Open(from)
	if err != nil {
		return fmt.Errorf("reading: %w", err)
	}
	defer func() { _ = in.Close() }()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return fmt.Errorf("writing: %w", err)
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Sync(), out.Close())
}
