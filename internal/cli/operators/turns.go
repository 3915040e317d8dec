package operators

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/cause"
	"github.com/earshot-dev/earshot/internal/cli"
	"github.com/earshot-dev/earshot/internal/operate"
	"github.com/earshot-dev/earshot/internal/usage"
	"github.com/earshot-dev/earshot/tool/settings"
)

func (m *commands) turnsCommand() *cobra.Command {
	return cli.Parent("turns", "List turns, and show one in full", `List the turns of the ledger, and show one with its calls, its receipts and its end. It takes the
role auditor or operator at a server, and works on the data directory where none runs.`,
		m.turnsListCommand(), m.turnsTreeCommand(), m.turnsShowCommand())
}

func (m *commands) turnsListCommand() *cobra.Command {
	limit, all, open := cli.UsualSessions, false, false
	c := m.Operated(&cobra.Command{
		Use:   "list",
		Short: "List the newest turns, the newest first",
		Args:  usage.None,
	}, func(ctx context.Context, ask operate.Ask, f cli.RemoteFlags, _ []string) error {
		if limit < 1 {
			return cause.Misuse(fmt.Sprintf("--limit %d is not a number of turns", limit), "give one from 1 on, or --all")
		}
		return m.listTurns(ctx, ask, f, open, all, limit)
	})
	c.Flags().BoolVar(&open, "open", false, "only those that have not ended")
	c.Flags().IntVar(&limit, "limit", limit, "how many")
	c.Flags().BoolVar(&all, "all", false, "all of them")
	c.MarkFlagsMutuallyExclusive("limit", "all")
	return c
}

func (m *commands) listTurns(ctx context.Context, ask operate.Ask, f cli.RemoteFlags, open, all bool, limit int) error {
	list := m.NewRows(f.AsJSON)
	more := false
	err := operate.EachTurn(ctx, ask, api.SessionsRequest{Open: open, Newest: true, Waits: true}, func(t api.SessionRow) (bool, error) {
		if !all && list.N == limit {
			more = true
			return false, nil
		}
		return true, list.Add(t, m.Listing().TurnLine(t))
	})
	if err != nil {
		return err
	}
	list.End("There are no turns.")
	if more {
		m.Notef("There are older ones: `earshot turns list --all` lists every one, --limit N so many.")
	}
	return nil
}

func (m *commands) turnsShowCommand() *cobra.Command {
	return m.Operated(&cobra.Command{
		Use:     "show TURN|SESSION",
		Short:   "Show one turn: what was asked for, its calls, its receipts, its end",
		Example: `  earshot turns show turn_0199a1b2c3d47e5f8a9b0c1d2e3f4a5b`,
		Args:    usage.One("the id of a turn, or of its session"),
	}, func(ctx context.Context, ask operate.Ask, f cli.RemoteFlags, args []string) error {
		whole, err := operate.Turn(ctx, ask, args[0])
		if err != nil {
			return noTurn(ctx, ask, args[0], err)
		}
		if f.AsJSON {
			return m.WriteJSON(whole)
		}
		m.Listing().Turn(whole)
		return nil
	}, cli.OfferOne(offerTurns))
}

// noTurn is the error of a turn that is not there, with the one that is meant, if one of the newest has a similar id. Other errors
// are returned as they are.
func noTurn(ctx context.Context, ask operate.Ask, name string, err error) error {
	if !cli.Absent(err) {
		return err
	}
	var rows []api.SessionRow
	_ = ask(ctx, api.OpSessions, api.SessionsRequest{Newest: true, Limit: offeredRows}, &rows) // without them there is only the hint
	var known []string
	for _, t := range rows {
		known = append(known, t.Turn, t.Session)
	}
	return &cause.Error{
		Message: "there is no turn or session called " + cause.Quoted(name), Hint: settings.Suggest(name, known, "see `earshot turns list`"), Err: err,
	}
}
