package main

import (
	"context"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/spf13/cobra"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/listing"
	"github.com/earshot-dev/earshot/internal/operate"
	"github.com/earshot-dev/earshot/internal/usage"
)

func (m *Main) cardsCommand() *cobra.Command {
	return parent("cards", "Show cards: the arguments and results of calls", `Show the cards that calls leave behind: their arguments and their results. It takes the role auditor or
operator at a server, and works on the data directory where none runs.`,
		m.cardsListCommand(), m.cardsShowCommand())
}

func (m *Main) cardsListCommand() *cobra.Command {
	return m.operated(&cobra.Command{
		Use:   "list TURN|SESSION",
		Short: "List the cards of a turn's calls",
		Args:  usage.One("the id of a turn, or of its session"),
	}, func(ctx context.Context, ask operate.Ask, f remoteFlags, args []string) error {
		var of api.TurnDetail // one that is not there is refused, and has not merely no cards
		if err := ask(ctx, api.OpTurn, api.TurnRequest{Name: args[0]}, &of); err != nil {
			return err
		}
		list := m.newRows(f.asJSON)
		err := operate.EachCard(ctx, ask, of.Turn, func(raw jsontext.Value) (string, error) {
			c := listing.CardOf(raw)
			return c.ID, list.add(raw, m.listing().CardLine(c))
		})
		if err == nil {
			list.end("The turn has no cards.")
		}
		return err
	}, offerOne(offerTurns))
}

func (m *Main) cardsShowCommand() *cobra.Command {
	return m.operated(&cobra.Command{
		Use:   "show CARD",
		Short: "Show one card in full",
		Args:  usage.One("the id of a card, as `earshot turns show` tells it"),
	}, func(ctx context.Context, ask operate.Ask, f remoteFlags, args []string) error {
		var page api.CardsAnswer
		if err := ask(ctx, api.OpCards, api.CardsRequest{ID: args[0]}, &page); err != nil {
			return err
		}
		for _, raw := range page.Cards {
			if f.asJSON {
				return m.writeJSON(raw)
			}
			m.listing().Card(raw)
		}
		return nil
	})
}
