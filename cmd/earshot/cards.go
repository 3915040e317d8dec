package main

import (
	"context"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/spf13/cobra"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/cause"
	"github.com/earshot-dev/earshot/internal/operate"
	"github.com/earshot-dev/earshot/utp"
)

func (m *Main) cardsCommand() *cobra.Command {
	return parent("cards", "Show cards: the arguments and results of calls", `Show the cards that calls leave behind: their arguments and their results. It takes the role auditor or
operator at a server, and works on the data directory where none runs.`,
		m.cardsListCommand(), m.cardsShowCommand())
}

// shownCard is what a line says of a card.
type shownCard struct {
	ID       string         `json:"card_id"`
	Type     string         `json:"type"`
	Author   string         `json:"author_id"`
	Call     string         `json:"tool_call_id"`
	Created  time.Time      `json:"created_at"`
	Content  jsontext.Value `json:"content"`
	Metadata jsontext.Value `json:"metadata"`
}

func (m *Main) cardsListCommand() *cobra.Command {
	return m.operated(&cobra.Command{
		Use:   "list TURN|SESSION",
		Short: "List the cards of a turn's calls",
		Args:  oneName("the id of a turn, or of its session"),
	}, func(ctx context.Context, ask operate.Ask, f wordFlags, args []string) error {
		var of api.TurnDetail // one that is not there is refused, and has not merely no cards
		if err := ask(ctx, api.OpTurn, api.TurnRequest{Name: args[0]}, &of); err != nil {
			return err
		}
		list := rows{m: m, asJSON: f.asJSON}
		for after := ""; ; {
			var page api.CardsAnswer
			if err := ask(ctx, api.OpCards, api.CardsRequest{Turn: of.Turn, After: after}, &page); err != nil {
				return err
			}
			for _, raw := range page.Cards {
				c := cardOf(raw)
				if err := list.add(raw, strings.Join([]string{c.ID, cause.OneLine(c.Type), c.Call, m.moment(c.Created)}, ", ")+"."); err != nil {
					return err
				}
				after = c.ID
			}
			if !page.More || len(page.Cards) == 0 {
				list.end("The turn has no cards.")
				return nil
			}
		}
	}, offerOne(offerTurns))
}

// cardOf reads what is shown; a member that is missing stays empty.
func cardOf(raw jsontext.Value) shownCard {
	if c, err := utp.DecodeCard(raw); err == nil {
		return shownCard{ID: c.ID, Type: c.Type, Author: c.AuthorID, Call: c.ToolCallID, Created: c.CreatedAt, Content: c.Content, Metadata: c.Metadata}
	}
	var c shownCard
	_ = json.Unmarshal(raw, &c)
	return c
}

func (m *Main) cardsShowCommand() *cobra.Command {
	return m.operated(&cobra.Command{
		Use:   "show CARD",
		Short: "Show one card in full",
		Args:  oneName("the id of a card, as `earshot turns show` tells it"),
	}, func(ctx context.Context, ask operate.Ask, f wordFlags, args []string) error {
		var page api.CardsAnswer
		if err := ask(ctx, api.OpCards, api.CardsRequest{ID: args[0]}, &page); err != nil {
			return err
		}
		for _, raw := range page.Cards {
			if f.asJSON {
				return m.writeJSON(raw)
			}
			c := cardOf(raw)
			m.field("Card", c.ID)
			m.field("Type", c.Type)
			m.field("Author", c.Author)
			m.field("Call", c.Call)
			m.since("Created", c.Created)
			m.document("Content", c.Content)
			m.document("Metadata", c.Metadata)
		}
		return nil
	})
}
