package operators

import (
	"context"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/spf13/cobra"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/cause"
	"github.com/earshot-dev/earshot/internal/cli"
	"github.com/earshot-dev/earshot/internal/listing"
	"github.com/earshot-dev/earshot/internal/operate"
	"github.com/earshot-dev/earshot/internal/usage"
)

func (m *commands) cardsCommand() *cobra.Command {
	return cli.Parent("cards", "Show cards: the arguments and results of calls", `Show the cards that calls leave behind: their arguments and their results. It takes the role auditor or
operator at a server, and works on the data directory where none runs.`,
		m.cardsListCommand(), m.cardsShowCommand())
}

func (m *commands) cardsListCommand() *cobra.Command {
	return m.Operated(&cobra.Command{
		Use:   "list TURN|SESSION",
		Short: "List the cards of a turn's calls",
		Args:  usage.One("the id of a turn, or of its session"),
	}, func(ctx context.Context, ask operate.Ask, f cli.RemoteFlags, args []string) error {
		var of api.TurnDetail // a turn that does not exist is an error, not an empty list
		if err := ask(ctx, api.OpTurn, api.TurnRequest{Name: args[0]}, &of); err != nil {
			return noTurn(ctx, ask, args[0], err)
		}
		list := m.NewRows(f.AsJSON)
		err := operate.EachCard(ctx, ask, of.Turn, func(raw jsontext.Value) (string, error) {
			c := listing.CardOf(raw)
			return c.ID, list.Add(raw, m.Listing().CardLine(c))
		})
		if err == nil {
			list.End("The turn has no cards.")
		}
		return err
	}, cli.OfferOne(offerTurns))
}

func (m *commands) cardsShowCommand() *cobra.Command {
	return m.Operated(&cobra.Command{
		Use:   "show CARD",
		Short: "Show one card in full",
		Args:  usage.One("the id of a card, as `earshot turns show` tells it"),
	}, func(ctx context.Context, ask operate.Ask, f cli.RemoteFlags, args []string) error {
		var page api.CardsAnswer
		if err := ask(ctx, api.OpCards, api.CardsRequest{ID: args[0]}, &page); err != nil {
			return noCard(args[0], err)
		}
		for _, raw := range page.Cards {
			if f.AsJSON {
				return m.WriteJSON(raw)
			}
			m.Listing().Card(raw)
		}
		var in api.BoxesAnswer
		err := ask(ctx, api.OpBoxes, api.BoxesRequest{Card: args[0]}, &in)
		if err == nil && !f.AsJSON {
			m.Listing().BoxesOf(in.Entries)
		}
		return err
	})
}

// noCard is the error of a card that is not there. Other errors are returned as they are.
func noCard(name string, err error) error {
	if !cli.Absent(err) {
		return err
	}
	hint := "see `earshot cards list TURN`, with a turn of `earshot turns list`"
	if strings.HasPrefix(name, "turn_") || strings.HasPrefix(name, "sess_") {
		hint = "see `earshot cards list " + cause.Quoted(name) + "`"
	}
	return &cause.Error{Message: "there is no card called " + cause.Quoted(name), Hint: hint, Err: err}
}
