package operators

import (
	"context"
	"errors"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/earshot-dev/earshot/aaep/legible"
	"github.com/earshot-dev/earshot/internal/cause"
	"github.com/earshot-dev/earshot/internal/cli"
	"github.com/earshot-dev/earshot/internal/operate"
)

func (m *commands) exportCommand() *cobra.Command {
	c := m.Operated(&cobra.Command{
		Use:   "export [FILE] [TURN…]",
		Short: "Write turns with their cards, events and receipts as JSON lines",
		Long: `Write the turns of the ledger, or those named, with their calls, cards, blobs, events and receipts as JSON
lines, to a new file, or to standard output for - or without a name. There are no consents, open
questions, messages or secrets in it, and the reply tokens of questions only for who may answer them. How far it is goes to standard error. The last line says how many lines
there are and their SHA-256, so that ` + "`earshot import`" + ` knows a file that was cut off. It takes the role auditor or operator at
a server.`,
		Example: `  earshot export turns.jsonl
  earshot export - turn_0199a1b2c3d47e5f8a9b0c1d2e3f4a5b`,
		Args: cobra.ArbitraryArgs,
	}, func(ctx context.Context, ask operate.Ask, _ cli.RemoteFlags, args []string) error {
		if len(args) == 0 {
			args = []string{"-"}
		}
		if name := cause.OneLine(args[0]); strings.HasPrefix(name, "turn_") || strings.HasPrefix(name, "sess_") {
			return cause.Misuse(name+" stands where the file is named, and every turn would be written to it",
				"write `earshot export - "+name+"` for standard output, or name a file before it (`./"+name+"`, if it is one)")
		}
		if args[0] == "-" {
			return m.export(ctx, ask, "-", args[1:])
		}
		return m.UnlessInterrupted(ctx, func(ctx context.Context) error { return m.export(ctx, ask, args[0], args[1:]) })
	}, offerTurns)
	c.ValidArgsFunction = cli.FileFirst(c.ValidArgsFunction)
	return c
}

func (m *commands) export(ctx context.Context, ask operate.Ask, file string, turns []string) (err error) {
	out := m.Stdout
	if file != "-" {
		f, operr := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if operr != nil {
			return cause.Fail(operr, "the export cannot be written", "name a file that is not there yet")
		}
		defer func() {
			if cerr := errors.Join(f.Sync(), f.Close()); cerr != nil && err == nil {
				err = cause.Fail(cerr, "the export could not be written", "make room on the disk")
			}
			if err != nil {
				_ = os.Remove(file) // an incomplete export is useless
			}
		}()
		out = f
	}
	n, err := operate.Export(ctx, ask, out, turns, m.Now(), func(n int) { m.Notef("Exported so far: %s.", legible.Counted(int64(n), "turn")) })
	if err == nil {
		m.Notef("Exported: %s, %s.", legible.Counted(int64(n.Turns), "turn"), legible.Counted(int64(n.Lines), "line"))
	}
	return err
}
