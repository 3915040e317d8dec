package hub_test

import (
	"context"
	"fmt"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/hub"
)

// ledger has a session of two events, and its bus loses every broadcast.
type ledger struct{}

func (ledger) Request(context.Context, string, []byte) ([]byte, error) {
	return api.EncodeAnswer(api.EventsAnswer{Ended: true, Events: []api.EventRow{
		{Seq: 1, Body: []byte(`{"type":"aaep:agent.session.started"}`)},
		{Seq: 2, Body: []byte(`{"type":"aaep:agent.session.completed"}`)},
	}}, nil), nil
}

func (ledger) Broadcasts(context.Context, string, func([]byte)) (func(), error) {
	return func() {}, nil
}

func Example() {
	for row, err := range hub.New(ledger{}, 0).Follow(context.Background(), "sess_1", 0) {
		fmt.Println(row.Seq, string(row.Body), err)
	}
	// Output:
	// 1 {"type":"aaep:agent.session.started"} <nil>
	// 2 {"type":"aaep:agent.session.completed"} <nil>
}
