package pipe_test

import (
	"net"
	"testing"
	"testing/synctest"

	"github.com/earshot-dev/earshot/aaep/transport/pipe"
)

// TestBothSend: two ends that send at the same moment both receive: what is being written keeps nobody from reading.
func TestBothSend(t *testing.T) {
	synctest.Test(t, bothSend)
}

func bothSend(t *testing.T) {
	t.Helper()
	here, there := net.Pipe()
	ends := []*pipe.Conn{
		pipe.New(here, pipe.Options{Limit: 1 << 10, Framing: pipe.Lines}), pipe.New(there, pipe.Options{Limit: 1 << 10, Framing: pipe.Lines}),
	}
	sent, received := make(chan error, len(ends)), make(chan error, len(ends))
	for _, end := range ends {
		t.Cleanup(end.Drop)
		go func() { sent <- end.Send([]byte(subscribe)) }()
	}
	synctest.Wait() // both are writing
	for _, end := range ends {
		go func() {
			_, err := end.Receive()
			received <- err
		}()
	}
	for range ends {
		if err := <-received; err != nil {
			t.Error(err)
		}
		if err := <-sent; err != nil {
			t.Error(err)
		}
	}
}
