package operators

import (
	"context"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/earshot-dev/earshot/aaep/legible"
	"github.com/earshot-dev/earshot/internal/backup"
	"github.com/earshot-dev/earshot/internal/cause"
	"github.com/earshot-dev/earshot/internal/cli"
	"github.com/earshot-dev/earshot/internal/datadir"
	"github.com/earshot-dev/earshot/internal/operate"
	"github.com/earshot-dev/earshot/internal/usage"
)

func (m *commands) backupCommand() *cobra.Command {
	var f cli.LocalFlags
	return f.Add(&cobra.Command{
		Use:   "backup FILE|DIR",
		Short: "Copy the ledger as it is at this moment, also while a server works with it",
		Long: `Copy the ledger, as it is at one moment, into a new file that you alone can read, or into a folder under a name
with the time. It works beside a server, which goes on, and without one. The copy holds all content, and no key:
keep the file key of the data directory as well, apart from it, or secrets in the copy cannot be read.

` + "`earshot restore`" + ` puts a copy back.`,
		Example: `  earshot backup /mnt/backups
  earshot backup ledger-of-today.db`,
		Args:              usage.One("a file that is not there yet, or a folder"),
		ValidArgsFunction: cli.FileFirst(nil),
		RunE: func(c *cobra.Command, args []string) error {
			path, err := m.DataPath(f.Data, f.Data != "")
			if err != nil {
				return err
			}
			return m.UnlessInterrupted(c.Context(), func(ctx context.Context) error { return m.backup(ctx, path, args[0], f.AsJSON) })
		},
	}, "write which file it is as JSON")
}

func (m *commands) backup(ctx context.Context, data, to string, asJSON bool) error {
	to, err := backup.Make(ctx, data, to, m.Now(), m.Note)
	if err != nil {
		return err
	}
	info, err := os.Stat(to)
	if err != nil {
		return cause.Fail(err, "the backup cannot be found again", "look at the disk")
	}
	if asJSON {
		return m.WriteJSON(map[string]any{"file": to, "bytes": info.Size()})
	}
	m.Printf("Backed up: %s, %s.", cause.OneLine(to), legible.Bytes(info.Size()))
	return nil
}

func (m *commands) restoreCommand() *cobra.Command {
	var f cli.LocalFlags
	return f.Add(&cobra.Command{
		Use:   "restore FILE",
		Short: "Put a backup of the ledger back; nothing in it is sent again by itself",
		Long: `Put a copy that ` + "`earshot backup`" + ` made in the place of the ledger. No server may work with the data. The
ledger that was there is kept beside it. What happened after the copy was made is not in it, and may have had
effects; so nothing of the copy goes on by itself: calls with an effect that were under way become unknown, and a
person is asked about each; messages that were to leave are put aside until you look, with ` + "`earshot dead list`" + `; no
consent of before counts any more.`,
		Example:           `  earshot restore /mnt/backups/ledger-20260301T120000Z.db`,
		Args:              usage.One("the file of a backup"),
		ValidArgsFunction: cli.FileFirst(nil),
		RunE: func(c *cobra.Command, args []string) error {
			path, err := m.DataPath(f.Data, f.Data != "")
			if err != nil {
				return err
			}
			return m.restore(c.Context(), path, args[0], f.AsJSON)
		},
	}, "write what was put back, kept and put aside as JSON")
}

// restored is the result of `earshot restore --json`. Kept is the path of the former ledger; "" if there was none.
// Aside counts messages, Unknown turns.
type restored struct {
	Ledger  string `json:"ledger"`
	From    string `json:"from"`
	Kept    string `json:"kept,omitzero"`
	Aside   int    `json:"put_aside"`
	Unknown int    `json:"under_way"`
}

func (m *commands) restore(ctx context.Context, path, file string, asJSON bool) error {
	kept, err := backup.Restore(ctx, path, file, m.Now(), m.Note)
	if err != nil {
		return err
	}
	if kept != "" {
		m.Notef("Kept: the ledger that was there, as %s.", cause.OneLine(kept))
	}
	h, err := m.Visit(ctx, path) // this detects that the ledger went back, and freezes it
	if err != nil {
		return err
	}
	defer h.Close()
	aside, unknown, err := operate.Frozen(ctx, h.Ask)
	if err != nil {
		return cli.OperatorError(err)
	}
	if asJSON {
		return m.WriteJSON(restored{Ledger: filepath.Join(path, datadir.LedgerFile), From: file, Kept: kept, Aside: aside, Unknown: unknown})
	}
	m.Printf("Restored: %s is the ledger of %s now.", cause.OneLine(file), cause.OneLine(path))
	m.Printf("Put aside: %s; see `earshot dead list`.", legible.Counted(int64(aside), "message"))
	m.Printf("Under way when the copy was made: %s; see `earshot turns list --open` and, once a server runs, `earshot pending`.", legible.Counted(int64(unknown), "turn"))
	return nil
}
