package main

import (
	"context"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/earshot-dev/earshot/client"
)

// completeTime bounds how long a shell waits for what is open, at a server that is there and
// slow.
const completeTime = 5 * time.Second

// completion is what a command offers a shell for its next argument; the server is asked
// only here, and says nothing where it cannot be reached.
type completion func(ctx context.Context, remote *client.Client, args []string) []string

// completes makes a completion of a command that speaks to a server.
func (m *Main) completes(f *remoteFlags, offer completion) cobra.CompletionFunc {
	return func(c *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(c.Context()), completeTime)
		defer cancel()
		remote, err := m.dial(ctx, f.server, "earshot-completion")
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return offer(ctx, remote, args), cobra.ShellCompDirectiveNoFileComp
	}
}

// offerQuestions offers the numbers of what is open, with what each is about.
func offerQuestions(ctx context.Context, remote *client.Client, args []string) []string {
	if len(args) > 0 {
		return nil
	}
	open, err := remote.PeekQuestions(ctx)
	if err != nil {
		return nil
	}
	words := make([]string, 0, len(open))
	for _, q := range open {
		words = append(words, strconv.Itoa(q.Number)+"\t"+shown(q.Title))
	}
	return words
}

// offerAnswers offers the questions, and what the one that is named takes.
func offerAnswers(ctx context.Context, remote *client.Client, args []string) []string {
	if len(args) != 1 {
		return offerQuestions(ctx, remote, args)
	}
	open, err := remote.PeekQuestions(ctx)
	if err != nil {
		return nil
	}
	number, _ := questionNumber(args[0])
	for _, q := range open {
		if q.Number != number && q.Token != args[0] {
			continue
		}
		if q.Kind == "confirmation" {
			return []string{"accept", "reject"}
		}
		var words []string
		for _, choice := range choicesOf(q) {
			words = append(words, shown(choice.Value))
		}
		return words
	}
	return nil
}

// offerStops offers what can be stopped: the sessions under way, and all.
func offerStops(ctx context.Context, remote *client.Client, args []string) []string {
	if len(args) > 0 {
		return nil
	}
	words := append([]string{"all\tevery session under way"}, offerQuestions(ctx, remote, args)...)
	open, err := remote.Sessions(ctx, true)
	if err != nil {
		return words
	}
	for _, s := range open {
		words = append(words, s.ID+"\t"+shown(s.Request))
	}
	return words
}
