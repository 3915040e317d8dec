package framing

import (
	"bytes"
	"testing"
	"testing/synctest"

	"github.com/earshot-dev/earshot/aaep/transport"
)

// End is one end of a connection, and a message that it sends: one that is too large to be on its way while nobody reads.
type End struct {
	transport.Conn

	Message []byte
	// Arrives is how the other end receives the message; default as it was sent.
	Arrives []byte
}

// BothSend checks, in a bubble of virtual time, that two ends which send at the same moment both receive: what is being written keeps
// nobody from reading. It ends the connection.
func BothSend(t *testing.T, connect func(t *testing.T) (one, other End)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		one, other := connect(t)
		ends := []End{one, other}
		sent, received := make(chan error, len(ends)), make(chan error, len(ends))
		for _, end := range ends {
			go func() { sent <- end.Send(end.Message) }()
		}
		synctest.Wait()
		if done := len(sent); done > 0 {
			t.Fatalf("%d of 2 have sent although nobody reads: the messages are too small", done)
		}
		for i, end := range ends {
			want := ends[1-i].Arrives
			if want == nil {
				want = ends[1-i].Message
			}
			go func() {
				got, err := end.Receive()
				if err == nil && !bytes.Equal(got, want) {
					t.Errorf("found %d bytes, expected the same %d", len(got), len(want))
				}
				received <- err
			}()
		}
		for range ends {
			if err := <-received; err != nil {
				t.Errorf("it receives: %v", err)
			}
			if err := <-sent; err != nil {
				t.Errorf("it sends: %v", err)
			}
		}
		for _, end := range ends {
			end.Drop()
		}
	})
}
