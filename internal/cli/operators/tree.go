package operators

import (
	"context"
	"slices"

	"github.com/spf13/cobra"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/cli"
	"github.com/earshot-dev/earshot/internal/listing"
	"github.com/earshot-dev/earshot/internal/operate"
	"github.com/earshot-dev/earshot/internal/usage"
)

func (m *commands) turnsTreeCommand() *cobra.Command {
	all := false
	c := m.Operated(&cobra.Command{
		Use:   "tree",
		Short: "Show which open turn is within which, and what each waits for",
		Args:  usage.None,
	}, func(ctx context.Context, ask operate.Ask, f cli.RemoteFlags, _ []string) error {
		var rows []api.SessionRow
		err := operate.EachTurn(ctx, ask, api.SessionsRequest{Open: !all, Newest: true, Waits: true}, func(t api.SessionRow) (bool, error) {
			rows = append(rows, t)
			return true, nil
		})
		if err != nil {
			return err
		}
		slices.Reverse(rows) // in the order in which they were asked for
		tree := listing.Tree(rows)
		if f.AsJSON {
			return m.WriteJSON(tree)
		}
		for _, line := range m.Listing().TreeLines(tree) {
			m.Printf("%s", line)
		}
		if len(tree) == 0 {
			m.Printf("No turn is open.")
		}
		return nil
	})
	c.Flags().BoolVar(&all, "all", false, "also those that have ended")
	return c
}
