package pipe_test

import (
	"fmt"
	"net"

	"github.com/earshot-dev/earshot/aaep/transport/pipe"
)

// A producer takes the framing of what its subscriber sends first.
func Example() {
	here, there := net.Pipe()
	producer := pipe.New(there, pipe.Options{Limit: 64 << 10})
	defer producer.Drop()
	subscriber := pipe.New(here, pipe.Options{Limit: 64 << 10, Framing: pipe.Lines})
	defer subscriber.Drop()
	go func() { _ = subscriber.Send([]byte(`{"type":"subscription.request"}`)) }()
	raw, err := producer.Receive()
	fmt.Println(string(raw), err)
	// Output: {"type":"subscription.request"} <nil>
}
