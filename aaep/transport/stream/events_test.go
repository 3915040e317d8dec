package stream_test

import (
	"net/http/httptest"
	"testing"

	"github.com/earshot-dev/earshot/aaep/transport/stream"
)

// TestSharedBuffers: what streams send at the same time does not mix.
func TestSharedBuffers(t *testing.T) {
	const each = 200
	for _, name := range []string{"a", "b", "c", "d"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := httptest.NewRecorder()
			to := stream.Open(w)
			expected := ""
			for range each {
				if err := to.Send(stream.Frame{Event: name, Data: []byte(name)}, stream.Frame{Data: []byte(name)}); err != nil {
					t.Fatal(err)
				}
				expected += "event: " + name + "\ndata: " + name + "\n\ndata: " + name + "\n\n"
			}
			if w.Body.String() != expected {
				t.Fatalf("sent %q", w.Body)
			}
		})
	}
}
