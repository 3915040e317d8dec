package pipe_test

import (
	"bytes"
	"fmt"
	"os"
	"testing"

	"github.com/earshot-dev/earshot/aaep/transport/pipe"
)

// TestNamed: messages pass both ways on a named pipe, also one that its buffer does not hold (TR-NP-04 to TR-NP-06), and a name that is taken
// is refused.
func TestNamed(t *testing.T) {
	t.Parallel()
	path := pipe.NamedPath(fmt.Sprintf("test-%d", os.Getpid()))
	l, err := pipe.ListenNamed(path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	if _, err := pipe.ListenNamed(path); err == nil {
		t.Error("a second one listens there")
	}
	o := pipe.Options{Limit: 4 << 20}
	echoed := make(chan error, 1)
	go func() {
		c, err := l.Accept()
		if err != nil {
			echoed <- err
			return
		}
		conn := pipe.New(c, o)
		for range 2 {
			raw, err := conn.Receive()
			if err == nil {
				err = conn.Send(raw)
			}
			if err != nil {
				echoed <- err
				return
			}
		}
		echoed <- nil
	}()
	conn, err := pipe.Dial(t.Context(), path, o)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Drop()
	for _, message := range [][]byte{[]byte(`{"type":"x"}`), bytes.Repeat([]byte("a"), 3<<20)} {
		if err := conn.Send(message); err != nil {
			t.Fatal(err)
		}
		if raw, err := conn.Receive(); err != nil || !bytes.Equal(raw, message) {
			t.Errorf("%d bytes came back as %d: %v", len(message), len(raw), err)
		}
	}
	if err := <-echoed; err != nil {
		t.Error(err)
	}
}
