package operators

import (
	"context"
	"slices"
	"strconv"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/client"
	"github.com/earshot-dev/earshot/internal/cli"
	"github.com/earshot-dev/earshot/internal/kernel/roster"
)

// offeredRows is the maximum number of rows that a shell is offered: the newest turns, and the first tools and
// messages.
const offeredRows = 50

// offerTurns offers the newest turns that are not among the arguments yet.
func offerTurns(ctx context.Context, remote *client.Client, args []string) []string {
	var rows []api.SessionRow
	if remote.Operate(ctx, api.OpSessions, api.SessionsRequest{Newest: true, Limit: offeredRows}, &rows) != nil {
		return nil
	}
	var words []string
	for _, t := range rows {
		if !slices.Contains(args, t.Turn) && !slices.Contains(args, t.Session) {
			words = append(words, t.Turn+"\t"+cli.Shown(t.Request))
		}
	}
	return words
}

// OfferTools offers the registered tools.
func OfferTools(ctx context.Context, remote *client.Client, _ []string) []string {
	var page api.ToolsAnswer
	if remote.Operate(ctx, api.OpTools, api.ToolsRequest{}, &page) != nil {
		return nil
	}
	var words []string
	for _, t := range page.Tools {
		words = append(words, cli.Shown(t.Tool)+"\t"+cli.Shown(t.Description))
	}
	return words
}

// offerAgents offers the agents that have a definition.
func offerAgents(ctx context.Context, remote *client.Client, _ []string) []string {
	var page api.AgentsAnswer
	if remote.Operate(ctx, api.OpAgents, api.AgentsRequest{}, &page) != nil {
		return nil
	}
	var words []string
	for _, a := range page.Agents {
		words = append(words, cli.Shown(a.Name)+"\t"+cli.Shown(roster.Describe(a.AgentDefinition)))
	}
	return words
}

// offerDead offers the dead letters.
func offerDead(ctx context.Context, remote *client.Client, _ []string) []string {
	var page api.DeadAnswer
	if remote.Operate(ctx, api.OpDead, api.DeadRequest{}, &page) != nil {
		return nil
	}
	var words []string
	for _, d := range page.Dead[:min(len(page.Dead), offeredRows)] {
		words = append(words, strconv.FormatInt(d.ID, 10)+"\t"+cli.Shown(d.Reason))
	}
	return words
}
