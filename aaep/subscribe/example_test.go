package subscribe_test

import (
	"context"
	"fmt"
	"log"
	"testing"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/aaep/subscribe"
	"github.com/earshot-dev/earshot/internal/testkit/scripted"
)

// A program hears a producer, and rejects what it is asked.
func Example() {
	s, err := subscribe.New(subscribe.Options{
		URL:     exampleProducer(),
		Request: aaep.SubscriptionRequest{Capabilities: aaep.Capabilities{SupportsConfirmationReply: new(true)}},
	})
	if err != nil {
		log.Fatal(err) // a sentence with a hint
	}
	ctx := context.Background()
	for event, err := range s.Events(ctx) {
		if err != nil {
			fmt.Println(err) // if it is the last, the producer is gone for good
			continue
		}
		fmt.Println(event.Type())
		if asked, is := event.Payload.(aaep.AwaitingConfirmation); is {
			fmt.Println(asked.Action, s.Confirm(ctx, aaep.ConfirmationReply{ReplyToken: asked.ReplyToken, Decision: aaep.DecisionReject}))
		}
	}
	// Output:
	// aaep:agent.session.started
	// aaep:agent.awaiting.confirmation
	// Delete 2 files. <nil>
	// aaep:agent.session.completed
}

// exampleProducer asks one question, and waits for the answer.
func exampleProducer() string {
	t := &inExample{}
	return scripted.New(t, []string{
		scripted.Event("session.started", "1", `"summary_normal":"Tidying up."`),
		scripted.Event("awaiting.confirmation", "2", question),
		scripted.Await,
		scripted.Event("session.completed", "3", `"summary_normal":"Nothing was deleted.","duration_ms":1`),
	}).Serve("ws")
}

// inExample stands for a test.
type inExample struct{ testing.TB }

func (*inExample) Helper()                  {}
func (*inExample) Cleanup(func())           {}
func (*inExample) Context() context.Context { return context.Background() }
