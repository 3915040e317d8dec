package serve_test

import (
	"context"
	"log"
	"net/http"
	"time"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/aaep/serve"
)

// A whole program, which asks every five seconds.
//
//nolint:testableexamples // It serves until it is told to end; TestConform judges such a producer.
func Example_program() {
	p, err := serve.New(serve.Options{Producer: aaep.Producer{AgentID: "tidy"}, Allow: serve.Token("a-secret")})
	if err != nil {
		log.Fatal(err)
	}
	server := &http.Server{Addr: "127.0.0.1:8080", Handler: p, ReadHeaderTimeout: 10 * time.Second}
	go func() { log.Fatal(server.ListenAndServe()) }()
	for range time.Tick(5 * time.Second) {
		s, err := p.Begin(aaep.SessionStarted{SummaryNormal: "Tidying up."})
		if err != nil {
			log.Fatal(err)
		}
		answer, err := s.Confirm(context.Background(), "files.delete", aaep.AwaitingConfirmation{
			Action: "Delete 3 files.", Consequence: "They cannot be brought back.", SummaryNormal: "Delete 3 files?",
			RiskLevel: aaep.RiskHigh, Irreversible: true,
		})
		log.Println(answer.Resolution, err)
		if call, err := answer.Tool(aaep.ToolInvoked{SummaryNormal: "Deleting."}); err == nil { // only after a yes
			_ = call.Complete(aaep.ToolCompleted{Status: aaep.ToolSuccess, SummaryNormal: "Deleted 3 files."})
		}
		_ = s.Complete(aaep.SessionCompleted{SummaryNormal: "Done."})
	}
}
