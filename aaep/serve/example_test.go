package serve_test

import (
	"context"
	"fmt"
	"net/http/httptest"
	"sync"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/aaep/serve"
	"github.com/earshot-dev/earshot/aaep/subscribe"
)

// An agent asks before it deletes, and a person says yes.
func Example() {
	p, err := serve.New(serve.Options{Producer: aaep.Producer{AgentID: "tidy"}, Allow: serve.Token("a secret")})
	if err != nil {
		fmt.Println(err)
		return
	}
	server := httptest.NewServer(p) // or http.ListenAndServe("127.0.0.1:8080", p)
	defer server.Close()
	var person sync.WaitGroup
	defer person.Wait()
	person.Go(func() { accept(server.URL) })

	s, err := p.Begin(aaep.SessionStarted{SummaryNormal: "Tidying up."})
	if err != nil {
		fmt.Println(err)
		return
	}
	answer, err := s.Confirm(context.Background(), "files.delete", aaep.AwaitingConfirmation{
		Action: "Delete 3 files.", Consequence: "They cannot be brought back.", SummaryNormal: "Delete 3 files?",
		RiskLevel: aaep.RiskHigh, Irreversible: true,
	})
	fmt.Println(answer.Resolution, err)
	if call, err := answer.Tool(aaep.ToolInvoked{SummaryNormal: "Deleting."}); err == nil { // only after a yes
		_ = call.Complete(aaep.ToolCompleted{Status: aaep.ToolSuccess, SummaryNormal: "Deleted 3 files."})
	}
	fmt.Println(s.Complete(aaep.SessionCompleted{SummaryNormal: "Done."}))
	// Output:
	// accepted <nil>
	// <nil>
}

// accept says yes to what a producer asks, until its session is done.
func accept(address string) {
	l, err := subscribe.New(subscribe.Options{
		URL: address, Token: "a secret", Request: aaep.SubscriptionRequest{Capabilities: aaep.Capabilities{SupportsConfirmationReply: new(true)}},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx := context.Background()
	for event, err := range l.Events(ctx) {
		switch asked := event.Payload.(type) {
		case nil:
			fmt.Println(err)
		case aaep.AwaitingConfirmation:
			_ = l.Confirm(ctx, aaep.ConfirmationReply{ReplyToken: asked.ReplyToken, Decision: aaep.DecisionAccept})
		case aaep.SessionCompleted:
			return
		}
	}
}
