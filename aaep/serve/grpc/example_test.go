package grpc_test

import (
	"context"
	"fmt"
	"net/http/httptest"
	"strings"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/aaep/serve"
	"github.com/earshot-dev/earshot/aaep/serve/grpc"
	"github.com/earshot-dev/earshot/aaep/subscribe"
)

// A producer is heard over gRPC beside its other transports.
func Example() {
	p, err := serve.New(serve.Options{Producer: aaep.Producer{AgentID: "tidy"}, Transports: []serve.Transport{grpc.Transport{}}})
	if err != nil {
		fmt.Println(err)
		return
	}
	server := httptest.NewUnstartedServer(p) // or &http.Server{Addr: "127.0.0.1:8080", Handler: p}
	grpc.Configure(server.Config)
	server.Start() // or ListenAndServe
	defer server.Close()
	defer p.Close()

	s, err := p.Begin(aaep.SessionStarted{SummaryNormal: "Tidying up."})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(s.State(aaep.StateThinking, aaep.StateChanged{SummaryNormal: "Looking."}))
	l, err := subscribe.New(subscribe.Options{URL: strings.Replace(server.URL, "http", "grpc", 1)})
	if err != nil {
		fmt.Println(err)
		return
	}
	for event, err := range l.Events(context.Background()) {
		if _, is := event.Payload.(aaep.StateChanged); is || err != nil {
			fmt.Println("state.changed", err)
			break
		}
		fmt.Println("session.started")
	}
	// Output:
	// <nil>
	// session.started
	// state.changed <nil>
}
