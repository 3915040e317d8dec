package main

import (
	"context"
	"strconv"

	"github.com/earshot-dev/earshot/client"
	"github.com/earshot-dev/earshot/internal/cli"
)

// offerQuestions offers the numbers of the open questions, each with a description.
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
		words = append(words, strconv.Itoa(q.Number)+"\t"+cli.Shown(q.Title))
	}
	return words
}

// offerAnswers offers the questions, and for a named one its possible answers.
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
			words = append(words, cli.Shown(choice.Value))
		}
		return words
	}
	return nil
}

// offerStops offers what can be stopped: the running sessions, and all.
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
		words = append(words, s.ID+"\t"+cli.Shown(s.Request))
	}
	return words
}
