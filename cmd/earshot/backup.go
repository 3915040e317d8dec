package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/earshot-dev/earshot/aaep/legible"
	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/cause"
	"github.com/earshot-dev/earshot/internal/datadir"
	"github.com/earshot-dev/earshot/internal/instance"
	"github.com/earshot-dev/earshot/internal/kernel"
	"github.com/earshot-dev/earshot/internal/kernel/store/sqlite"
)

func (m *Main) backupCommand() *cobra.Command {
	dataFlag, asJSON := "", false
	c := &cobra.Command{
		Use:   "backup FILE|DIR",
		Short: "Copy the ledger as it is at this moment, also while a server works with it",
		Long: `Copy the ledger, as it is at one moment, into a new file that you alone can read, or into a folder under a name
with the time. It works beside a server, which goes on, and without one. The copy holds all content, and no key:
keep the file key of the data directory as well, apart from it, or secrets in the copy cannot be read.

` + "`earshot restore`" + ` puts a copy back.`,
		Example: `  earshot backup /mnt/backups
  earshot backup ledger-of-today.db`,
		Args:              oneName("a file that is not there yet, or a folder"),
		ValidArgsFunction: fileFirst(nil),
		RunE: func(c *cobra.Command, args []string) error {
			path, err := m.dataPath(dataFlag, dataFlag != "")
			if err != nil {
				return err
			}
			return m.unlessInterrupted(c.Context(), func(ctx context.Context) error { return m.backup(ctx, path, args[0], asJSON) })
		},
	}
	c.Flags().StringVar(&dataFlag, "data", "", dataUsage)
	c.Flags().BoolVar(&asJSON, "json", false, "write which file it is as JSON")
	markPaths(c, []string{"data"}, nil)
	return c
}

func (m *Main) backup(ctx context.Context, data, to string, asJSON bool) error {
	d := &datadir.Dir{Path: data}
	if err := instance.InDatabase(d, "back it up with PostgreSQL's own means, and the directory as files; see docs/operations.md"); err != nil {
		return err
	}
	from := d.File(datadir.LedgerFile)
	if !datadir.Exists(from) {
		return cause.Fail(nil, "there is no ledger in "+data, "name the data directory with --data DIR")
	}
	if err := datadir.CheckOwner(data); err != nil {
		return err
	}
	if info, err := os.Stat(to); err == nil && info.IsDir() {
		to = filepath.Join(to, "ledger-"+m.Now().UTC().Format("20060102T150405Z")+".db")
	}
	if datadir.Exists(to) {
		return cause.Fail(nil, "there is something already: "+to, "name a file that is not there yet; a backup is never written over")
	}
	m.tellf("Copying the ledger of %s.", cause.OneLine(data))
	if err := sqlite.Backup(ctx, from, to); err != nil {
		return instance.LedgerFailure(to, err)
	}
	info, err := os.Stat(to)
	if err != nil {
		return cause.Fail(err, "the backup cannot be found again", "look at the disk")
	}
	if asJSON {
		return m.writeJSON(map[string]any{"file": to, "bytes": info.Size()})
	}
	m.sayf("Backed up: %s, %s.", cause.OneLine(to), legible.Bytes(info.Size()))
	return nil
}

func (m *Main) restoreCommand() *cobra.Command {
	dataFlag, asJSON := "", false
	c := &cobra.Command{
		Use:   "restore FILE",
		Short: "Put a backup of the ledger back; nothing in it is sent again by itself",
		Long: `Put a copy that ` + "`earshot backup`" + ` made in the place of the ledger. No server may work with the data. The
ledger that was there is kept beside it. What happened after the copy was made is not in it, and may have had
effects; so nothing of the copy goes on by itself: calls with an effect that were under way become unknown, and a
person is asked about each; messages that were to leave are put aside until you look, with ` + "`earshot dead list`" + `; no
consent of before counts any more.`,
		Example:           `  earshot restore /mnt/backups/ledger-20260301T120000Z.db`,
		Args:              oneName("the file of a backup"),
		ValidArgsFunction: fileFirst(nil),
		RunE: func(c *cobra.Command, args []string) error {
			path, err := m.dataPath(dataFlag, dataFlag != "")
			if err != nil {
				return err
			}
			return m.restore(c.Context(), path, args[0], asJSON)
		},
	}
	c.Flags().StringVar(&dataFlag, "data", "", dataUsage)
	c.Flags().BoolVar(&asJSON, "json", false, "write what was put back, kept and put aside as JSON")
	markPaths(c, []string{"data"}, nil)
	return c
}

// restored is what `earshot restore --json` tells. The ledger that was there is kept under
// Kept; "" means that there was none. Aside counts messages, Unknown turns.
type restored struct {
	Ledger  string `json:"ledger"`
	From    string `json:"from"`
	Kept    string `json:"kept,omitzero"`
	Aside   int    `json:"put_aside"`
	Unknown int    `json:"under_way"`
}

func (m *Main) restore(ctx context.Context, path, backup string, asJSON bool) error {
	if info, err := os.Stat(backup); err != nil || !info.Mode().IsRegular() || info.Size() == 0 {
		return cause.Fail(err, "there is no backup in "+backup, "name the file of an `earshot backup`")
	}
	if info, err := os.Stat(backup + "-wal"); err == nil && info.Size() > 0 { // a copy that was made by other means; without its log it would look whole
		return cause.Fail(nil, "what was written last is in "+backup+"-wal, and not in "+backup,
			"copy both into an empty folder, as ledger.db and ledger.db-wal; `earshot backup --data FOLDER COPY` makes a whole one of them")
	}
	kept, err := m.swapLedger(ctx, path, backup)
	if err != nil {
		return err
	}
	if kept != "" {
		m.tellf("Kept: the ledger that was there, as %s.", cause.OneLine(kept))
	}
	h, err := m.visit(ctx, path) // it finds that the ledger went back, and freezes it
	if err != nil {
		return err
	}
	defer h.Close()
	aside, unknown, err := frozen(ctx, desk{ask: h.Ask})
	if err != nil {
		return deskFailure(err)
	}
	if asJSON {
		return m.writeJSON(restored{Ledger: filepath.Join(path, datadir.LedgerFile), From: backup, Kept: kept, Aside: aside, Unknown: unknown})
	}
	m.sayf("Restored: %s is the ledger of %s now.", cause.OneLine(backup), cause.OneLine(path))
	m.sayf("Put aside: %s; see `earshot dead list`.", legible.Counted(int64(aside), "message"))
	m.sayf("Under way when the copy was made: %s; see `earshot turns list --open` and, once a server runs, `earshot pending`.", legible.Counted(int64(unknown), "turn"))
	return nil
}

// swapLedger puts a whole and readable copy in the place of the ledger, and sees to it that the
// next start finds it to be older than the world. It tells where the ledger that was there is kept.
func (m *Main) swapLedger(ctx context.Context, path, backup string) (kept string, err error) {
	data, err := datadir.Open(path)
	if err != nil {
		return "", err
	}
	defer data.Close()
	fresh := !datadir.Exists(data.File(datadir.KeyFile))
	if fresh && datadir.Exists(data.File(datadir.LedgerFile)) {
		_, err = data.Key() // which says what to do
		return "", err
	}
	if _, err := data.Key(); err != nil {
		return "", err
	}
	if fresh {
		m.tellf("Key: there was none in %s, and a new one was made. Secrets in the copy cannot be read with it; put the old file key back if you have it.", cause.OneLine(path))
	}
	m.tellf("Looking through %s.", cause.OneLine(backup))
	copied := data.File(datadir.LedgerFile + ".restoring")
	for _, end := range []string{"", "-wal", "-shm"} {
		_ = os.Remove(copied + end) // of a restore that was broken off
	}
	if err := copyWhole(backup, copied); err != nil {
		return "", cause.Fail(err, "the backup cannot be copied", "make room on the disk of "+path)
	}
	lived, err := m.readThrough(ctx, copied, backup)
	if err != nil {
		_ = os.Remove(copied)
		return "", err
	}
	if err := ahead(data, lived); err != nil {
		return "", err
	}
	return putInPlace(ctx, data, copied, m.Now())
}

// readThrough opens the copy once: a newer, damaged or strange one is refused while nothing
// has changed. It tells the copy's own count.
func (m *Main) readThrough(ctx context.Context, copied, backup string) (lived int64, err error) {
	if err := sqlite.Verify(ctx, copied); err != nil {
		return 0, instance.LedgerFailure(backup, err)
	}
	s, err := sqlite.Open(ctx, sqlite.Options{Path: copied, Logger: m.logger(false)})
	if err != nil {
		return 0, instance.LedgerFailure(backup, err)
	}
	lived, err = kernel.Lived(ctx, s)
	if err = errors.Join(err, s.Close()); err != nil {
		return 0, instance.LedgerFailure(backup, err)
	}
	return lived, nil
}

// ahead moves the counter beside the ledger on, so that the ledger which is put there now is
// behind it.
func ahead(data *datadir.Dir, lived int64) error {
	counter := &datadir.Counter{Path: data.File(datadir.CounterFile), Trouble: func(error) {}}
	n, err := counter.Load()
	if err == nil {
		err = counter.Store(max(n, lived) + 1)
	}
	if err != nil {
		return cause.Fail(err, "the counter beside the ledger cannot be written", "look at who may write to "+data.Path)
	}
	return nil
}

// putInPlace keeps the ledger that was there under another name, which it tells.
func putInPlace(ctx context.Context, data *datadir.Dir, copied string, at time.Time) (kept string, err error) {
	now := data.File(datadir.LedgerFile)
	if datadir.Exists(now) {
		if s, err := sqlite.Open(ctx, sqlite.Options{Path: now}); err == nil {
			_ = s.Close() // what its log holds is in the file now
		}
		kept, err = keepAside(now, data.File("ledger-before-"+at.UTC().Format("20060102T150405Z")))
		if err != nil {
			return "", cause.Fail(err, "the ledger that is there cannot be kept", "look at who may write to "+data.Path)
		}
	}
	if err := errors.Join(os.Rename(copied, now), syncFolder(data.Path)); err != nil {
		return kept, cause.Fail(err, "the copy cannot be put in place", "rename "+copied+" to "+now)
	}
	return kept, nil
}

// keepAside gives a ledger a second name that nothing has yet, with what was left beside it. The
// file stays under its own, where the file system can do that, until another is put in its
// place: a start in between must not find nothing and begin a new ledger.
func keepAside(ledger, name string) (kept string, err error) {
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

// frozen counts what was put aside, and the turns that have not ended.
func frozen(ctx context.Context, d desk) (aside, open int, err error) {
	for after := int64(0); ; {
		var page api.DeadAnswer
		if err := d.ask(ctx, api.OpDead, api.DeadRequest{After: after}, &page); err != nil {
			return 0, 0, err
		}
		aside += len(page.Dead)
		if !page.More || len(page.Dead) == 0 {
			break
		}
		after = page.Dead[len(page.Dead)-1].ID
	}
	err = eachTurn(ctx, d, api.SessionsRequest{Open: true}, func(api.SessionRow) (bool, error) {
		open++
		return true, nil
	})
	return aside, open, err
}
