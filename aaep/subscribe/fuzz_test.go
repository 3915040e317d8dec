package subscribe_test

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"runtime"
	"testing"
	"time"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/aaep/subscribe"
)

// hostile is a producer that answers a request, and then a stream, with the bytes of a test. When they have been read, over ends the test.
type hostile struct {
	answer, stream []byte
	over           func()
}

// Read implements [io.Reader]: there is no more.
func (h hostile) Read([]byte) (int, error) {
	h.over()
	return 0, io.EOF
}

// RoundTrip implements [http.RoundTripper].
func (h hostile) RoundTrip(r *http.Request) (*http.Response, error) {
	w := &http.Response{StatusCode: http.StatusCreated, ProtoMajor: 1, Header: http.Header{"Content-Type": {"application/json"}}, Request: r, Body: io.NopCloser(bytes.NewReader(h.answer))}
	if r.Method == http.MethodGet {
		w.StatusCode, w.Body = http.StatusOK, io.NopCloser(io.MultiReader(bytes.NewReader(h.stream), h))
		w.Header.Set("Content-Type", "text/event-stream")
	}
	return w, nil
}

// FuzzProducer: whatever a producer answers and streams, a subscriber comes to its end, each event that it yields can be read and comes once,
// and no goroutine stays behind.
func FuzzProducer(f *testing.F) {
	accepted := `{"type":"subscription.accepted","subscription_id":"sub_1","aaep_version":"1.0.0","producer":{"agent_id":"fuzz"},"honored_capabilities":{}}`
	frame := func(event string) string { return "event: aaep.event\nid: evt_1\ndata: " + event + "\n\n" }
	for _, seed := range []string{"", frame(started), frame(started) + frame(started), frame(asked) + frame(ended), "data: {}\n\n", "retry: 1\nid\n\n", frame(thinks) + "data: {\"type\":"} {
		f.Add([]byte(accepted), []byte(seed))
	}
	f.Add([]byte(`{"type":"subscription.rejected","reason_code":"rate_limit","reason_message":"Later.","retry_after_seconds":1}`), []byte{})
	f.Add([]byte("{"), []byte{})
	runs, most := 0, 0
	f.Fuzz(func(t *testing.T, answer, stream []byte) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		s, err := subscribe.New(subscribe.Options{
			URL: "http://127.0.0.1:1", ConnectTimeout: -1, ReconnectTimeout: time.Nanosecond, Transport: hostile{answer, stream, cancel},
		})
		if err != nil {
			t.Fatal(err)
		}
		seen := map[string]bool{}
		for event, err := range s.Events(ctx) {
			if err != nil {
				continue
			}
			if _, err := aaep.DecodeEvent(event.Raw); err != nil || seen[event.ID+string(event.Raw)] {
				t.Fatalf("yields %q, %v", event.Raw, err)
			}
			seen[event.ID+string(event.Raw)] = true
		}
		if runs++; runs%500 == 1 {
			most = within(t, most)
		}
	})
}

// within demands that there are not many more goroutines than in the beginning, and returns how many there were then. What is ending is
// let end.
func within(t *testing.T, most int) int {
	t.Helper()
	const room = 10
	now := runtime.NumGoroutine()
	for i := 0; i < 1000 && most > 0 && now > most+room; i++ {
		runtime.Gosched()
		now = runtime.NumGoroutine()
	}
	if most == 0 {
		return now
	}
	if now > most+room {
		t.Fatalf("%d goroutines, %d in the beginning", now, most)
	}
	return most
}
