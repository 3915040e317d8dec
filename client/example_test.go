package client_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/client"
)

// A program follows one session, and rejects each question that it puts.
func Example() {
	address := exampleServer()
	ctx := context.Background()
	c, err := client.Dial(ctx, client.Options{URL: address, Token: "the-token", Session: "sess_1"})
	if err != nil {
		log.Fatal(err) // a sentence with a hint
	}
	for event, err := range c.Events(ctx) {
		if err != nil {
			log.Fatal(err)
		}
		switch p := event.Payload.(type) {
		case aaep.SessionStarted:
			fmt.Println(p.SummaryNormal)
		case aaep.AwaitingConfirmation:
			number, _ := aaep.Read(event.Extensions[aaep.PrefixEarshot]).Whole("question")
			fmt.Printf("Question %d: %s\n", number, p.Action)
			recorded, err := c.Reply(ctx, int(number), api.Reply{Token: p.ReplyToken, Decision: "reject", Reason: "not today"})
			if errors.Is(err, client.ErrConflict) {
				continue // somebody else has answered
			}
			if err != nil {
				log.Fatal(err)
			}
			fmt.Println("Recorded:", recorded.Resolution)
		case aaep.SessionCompleted:
			fmt.Println(p.SummaryNormal)
		}
	}
	// Output:
	// Tidy has started.
	// Question 4: Delete 2 files.
	// Recorded: rejected
	// Done: nothing was deleted.
}

// exampleServer answers as a server does in which an agent asks one question.
func exampleServer() string {
	stream := frameOf("evt_1", eventText("session.started", "1", `"summary_normal":"Tidy has started."`)) +
		frameOf("evt_2", eventText("awaiting.confirmation", "2", `"action":"Delete 2 files.","consequence":"They are gone.","reply_token":"rpl_1","timeout_seconds":300,`+
			`"default_decision":"reject","risk_level":"high","irreversible":true,"extensions":{"earshot":{"question":4}}`)) +
		frameOf("evt_3", eventText("session.completed", "3", `"summary_normal":"Done: nothing was deleted.","duration_ms":1`))
	p := newProducer(stream)
	p.token.Store("the-token")
	return httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/api/v1/questions/4/reply" {
			_, _ = io.WriteString(w, `{"question":4,"resolution":"rejected"}`)
			return
		}
		p.ServeHTTP(w, r)
	})).URL
}
