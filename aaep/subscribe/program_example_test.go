package subscribe_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"os/signal"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/aaep/subscribe"
)

// A whole program: it hears the producer at the address that it is given, until Ctrl-C, and rejects what it is asked.
//
//nolint:testableexamples // It hears until it is told to end; TestAnswers hears and answers the same.
func Example_program() {
	s, err := subscribe.New(subscribe.Options{
		URL: os.Args[1], Token: os.Getenv("TOKEN"),
		Request: aaep.SubscriptionRequest{Capabilities: aaep.Capabilities{SupportsConfirmationReply: new(true)}},
	})
	if err != nil {
		log.Fatal(err) // a sentence with a hint
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	for event, err := range s.Events(ctx) {
		if err != nil {
			fmt.Println(err) // if it is the last, the producer is gone for good, or you have pressed Ctrl-C
			continue
		}
		fmt.Println(event.Type())
		if asked, is := event.Payload.(aaep.AwaitingConfirmation); is {
			fmt.Println(asked.Action, s.Confirm(ctx, aaep.ConfirmationReply{ReplyToken: asked.ReplyToken, Decision: aaep.DecisionReject}))
		}
	}
}
