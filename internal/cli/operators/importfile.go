package operators

import (
	"context"
	"os"

	"github.com/spf13/cobra"

	"github.com/earshot-dev/earshot/aaep/legible"
	"github.com/earshot-dev/earshot/internal/cause"
	"github.com/earshot-dev/earshot/internal/cli"
	"github.com/earshot-dev/earshot/internal/operate"
	"github.com/earshot-dev/earshot/internal/usage"
)

func (m *commands) importCommand() *cobra.Command {
	c := m.Operated(&cobra.Command{
		Use:   "import FILE",
		Short: "Bring turns of an export in, as a record of what was",
		Long: `Bring the turns of an export in, with their cards, events and receipts. Nothing of them can run here: no
consent, token, question or message comes with them, a turn that had not ended where it came from has ended here,
and of a call that was under way it is said that its outcome is unknown. Turns that are here already stay as they are.

The whole file is read through first: one that is damaged, cut off or of a newer form changes nothing, and the line
is named. It may be imported twice. It takes the roles operator and approver at a server.`,
		Example: `  earshot import turns.jsonl`,
		Args:    usage.One("the file of an export"),
	}, func(ctx context.Context, ask operate.Ask, f cli.RemoteFlags, args []string) error {
		return m.importFile(ctx, ask, f, args[0])
	})
	c.ValidArgsFunction = cli.FileFirst(nil)
	return c
}

func (m *commands) importFile(ctx context.Context, ask operate.Ask, f cli.RemoteFlags, path string) error {
	file, err := os.Open(path)
	if err != nil {
		return cause.Fail(err, "the export cannot be read", "name the file of an `earshot export`")
	}
	defer func() { _ = file.Close() }()
	n, err := operate.Import(ctx, ask, file, path, func(n int) { m.Notef("Imported so far: %s.", legible.Counted(int64(n), "turn")) })
	if err != nil {
		return err
	}
	if f.AsJSON {
		return m.WriteJSON(n)
	}
	m.Printf("Imported: %s; %d were here already.", legible.Counted(int64(n.Turns), "turn"), n.Known)
	return nil
}
