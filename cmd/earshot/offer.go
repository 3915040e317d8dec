package main

import (
	"context"
	"slices"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/client"
)

// offeredRows is how many rows of a ledger a shell is offered at most: the newest turns, and
// the first tools and messages.
const offeredRows = 50

// offerOne offers for the first argument only.
func offerOne(offer completion) completion {
	return func(ctx context.Context, remote *client.Client, args []string) []string {
		if len(args) > 0 {
			return nil
		}
		return offer(ctx, remote, args)
	}
}

// fileFirst offers files for the first argument, and for the others what behind does, if anything.
func fileFirst(behind cobra.CompletionFunc) cobra.CompletionFunc {
	return func(c *cobra.Command, args []string, word string) ([]string, cobra.ShellCompDirective) {
		switch {
		case len(args) == 0:
			return nil, cobra.ShellCompDirectiveDefault
		case behind != nil:
			return behind(c, args, word)
		}
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
}

// offerTurns offers the newest turns that are not named yet.
func offerTurns(ctx context.Context, remote *client.Client, args []string) []string {
	var rows []api.SessionRow
	if remote.Operate(ctx, api.OpSessions, api.SessionsRequest{Newest: true, Limit: offeredRows}, &rows) != nil {
		return nil
	}
	var words []string
	for _, t := range rows {
		if !slices.Contains(args, t.Turn) && !slices.Contains(args, t.Session) {
			words = append(words, t.Turn+"\t"+shown(t.Request))
		}
	}
	return words
}

// offerTools offers the registered tools.
func offerTools(ctx context.Context, remote *client.Client, _ []string) []string {
	var page api.ToolsAnswer
	if remote.Operate(ctx, api.OpTools, api.ToolsRequest{}, &page) != nil {
		return nil
	}
	var words []string
	for _, t := range page.Tools {
		words = append(words, shown(t.Tool)+"\t"+shown(t.Description))
	}
	return words
}

// offerDead offers the messages that were put aside.
func offerDead(ctx context.Context, remote *client.Client, _ []string) []string {
	var page api.DeadAnswer
	if remote.Operate(ctx, api.OpDead, api.DeadRequest{}, &page) != nil {
		return nil
	}
	var words []string
	for _, d := range page.Dead[:min(len(page.Dead), offeredRows)] {
		words = append(words, strconv.FormatInt(d.ID, 10)+"\t"+shown(d.Reason))
	}
	return words
}
