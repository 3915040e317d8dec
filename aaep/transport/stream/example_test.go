package stream_test

import (
	"context"
	"fmt"
	"net/http/httptest"

	"github.com/earshot-dev/earshot/aaep/transport/stream"
)

// always lets anybody hear a stream.
type always struct{}

func (always) Changes(context.Context) <-chan struct{} { return nil }
func (always) Valid() bool                             { return true }

// A stream of server-sent events, as it is sent.
func Example() {
	w := httptest.NewRecorder()
	err := stream.Open(w).Run(context.Background(), func(_ context.Context, send func([]stream.Frame) bool) error {
		send([]stream.Frame{{ID: "evt_1", Event: "aaep.event", Data: []byte(`{"type":"aaep:agent.state.changed"}`)}})
		return nil
	}, always{})
	fmt.Println(w.Header().Get("Content-Type"), err)
	fmt.Print(w.Body)
	// Output:
	// text/event-stream <nil>
	// event: aaep.event
	// id: evt_1
	// data: {"type":"aaep:agent.state.changed"}
}
