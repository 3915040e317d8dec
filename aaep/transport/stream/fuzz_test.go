package stream_test

import (
	"bytes"
	"errors"
	"io"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/aaep/transport/sse"
	"github.com/earshot-dev/earshot/aaep/transport/stream"
)

// FuzzFrames: whatever JSON is sent as an event, between a comment and a retry, one event arrives, with the same name, id and JSON, and
// without a character that some readers take for the end of a line.
func FuzzFrames(f *testing.F) {
	for _, seed := range []string{
		`{}`, "{\n\"a\": [1,\r\n2]}", `"` + "\u2028\u2029\u0085" + `"`, `"\r\n"`, ` 1 `, `"data: x"`, `{"` + "\u0085" + `":":"}`, "\"\xc2\"",
	} {
		f.Add("aaep.event", "evt_1", []byte(seed))
	}
	f.Add("", "", []byte("1"))
	f.Add(" x", " :", []byte("1"))
	f.Fuzz(func(t *testing.T, name, id string, data []byte) {
		if !jsontext.Value(data).IsValid() || strings.ContainsAny(name+id, "\r\n\x00\u2028\u2029\u0085") {
			return // the senders know what they send
		}
		w := httptest.NewRecorder()
		if err := stream.Open(w).Send(stream.Frame{Comment: "still here"}, stream.Frame{Event: name, ID: id, Data: data}, stream.Frame{Retry: time.Second}); err != nil {
			t.Fatal(err)
		}
		if strings.ContainsAny(w.Body.String(), "\u2028\u2029\u0085\r") {
			t.Fatalf("sent %q", w.Body)
		}
		from := sse.NewReader(w.Body, "")
		got, err := from.Next(func() {})
		if err != nil || got.Name != name || got.ID != id {
			t.Fatalf("received %+v, %v", got, err)
		}
		sent, received := jsontext.Value(bytes.Clone(data)), jsontext.Value(got.Data)
		if err := errors.Join(sent.Compact(), received.Compact(), sent.Canonicalize(), received.Canonicalize()); err != nil || !bytes.Equal(sent, received) {
			t.Fatalf("received %q, %v, expected %q", got.Data, err, data)
		}
		if _, err := from.Next(func() {}); !errors.Is(err, io.EOF) {
			t.Fatalf("behind it came %v", err)
		}
		if from.Pause() != time.Second {
			t.Fatalf("the pause is %s", from.Pause())
		}
	})
}
