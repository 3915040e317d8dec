package pipe_test

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"testing"
	"testing/iotest"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/aaep/transport"
	"github.com/earshot-dev/earshot/aaep/transport/pipe"
)

// fuzzLimit is the largest message of a fuzzed connection.
const fuzzLimit = 100

// memory is a stream whose other end has written everything, and reads everything.
type memory struct {
	io.Reader

	written bytes.Buffer
}

func (m *memory) Write(p []byte) (int, error) { return m.written.Write(p) }
func (*memory) Close() error                  { return nil }

// all receives until there is no more, and checks that each message and the end are as promised.
func all(t *testing.T, c transport.Conn) (messages [][]byte, end transport.Code) {
	t.Helper()
	for {
		raw, err := c.Receive()
		if err == nil {
			if len(raw) > fuzzLimit || !utf8.Valid(raw) {
				t.Fatalf("a message of %d bytes: %q", len(raw), raw)
			}
			messages = append(messages, bytes.Clone(raw))
			continue
		}
		refused, is := errors.AsType[*transport.Error](err)
		switch {
		case is && slices.Contains([]transport.Code{transport.ProtocolError, transport.TooBig, transport.NotUTF8}, refused.Code):
			return messages, refused.Code
		case !errors.Is(err, transport.ErrBroken):
			t.Fatal(err)
		}
		return messages, 0
	}
}

// FuzzFrames: whatever arrives, with whichever framing and in whatever pieces, each message is within the limit and UTF-8, the end has one
// of the errors that are promised, and what was received can be sent and received again.
func FuzzFrames(f *testing.F) {
	for _, seed := range [][]byte{
		nil, []byte("{}\n"), []byte("{}\r\n\n\n{\"a\":\n"),
		{0, 0, 0, 2, '{', '}'},
		{0, 0, 0, 2, '{', '}', 0, 0, 0, 0},
		{0, 0, 0, 9, '{'},
		{0xff, 0xff, 0xff, 0xff},
		[]byte("{\xff}\n"),
		{0, 0, 0, 1, 0xff},
		bytes.Repeat([]byte("x"), fuzzLimit+1), []byte("x"),
		{0, 0, 0, 4, '{', '\n', '}', '\n'},
	} {
		for framing := range pipe.Lines + 1 {
			f.Add(seed, uint8(framing))
		}
	}
	f.Fuzz(func(t *testing.T, raw []byte, kind uint8) {
		o := pipe.Options{Limit: fuzzLimit, Framing: pipe.Framing(kind) % (pipe.Lines + 1)}
		whole, end := all(t, pipe.New(&memory{Reader: bytes.NewReader(raw)}, o))
		slow, slowEnd := all(t, pipe.New(&memory{Reader: iotest.OneByteReader(bytes.NewReader(raw))}, o))
		if !slices.EqualFunc(whole, slow, bytes.Equal) || end != slowEnd {
			t.Fatalf("at once %q, %d; byte by byte %q, %d", whole, end, slow, slowEnd)
		}
		if o.Framing == pipe.Detect {
			return // which framing it was is not known here
		}
		to := &memory{Reader: bytes.NewReader(nil)}
		if err := pipe.New(to, o).Send(whole...); err != nil {
			t.Fatal(err)
		}
		again, end := all(t, pipe.New(&memory{Reader: &to.written}, o))
		if o.Framing == pipe.Lines { // breaks between the tokens of JSON have no meaning, and are left out
			for i := range whole {
				whole[i] = bytes.ReplaceAll(whole[i], []byte("\r"), nil)
			}
			whole = slices.DeleteFunc(whole, func(m []byte) bool { return len(m) == 0 })
		}
		if !slices.EqualFunc(whole, again, bytes.Equal) || end != 0 {
			t.Fatalf("sent again %q, %d, expected %q", again, end, whole)
		}
	})
}

// FuzzRPC: whatever lines arrive, each message has one of the types that a subscriber sends, and each answer is one object of JSON-RPC in a
// line, with an id. Whatever JSON is sent arrives as an object of JSON-RPC, too.
func FuzzRPC(f *testing.F) {
	for _, seed := range []string{
		"", "{}\n", `{"jsonrpc":"2.0","id":1,"method":"aaep.ping"}` + "\n", `{"jsonrpc":"2.0","id":{"a":"\u2028"},"method":"x\u0000"}` + "\n",
		`{"jsonrpc":"2.0","id":1,"method":"aaep.subscribe","params":{"type":"subscription.request"}}` + "\n", `{"jsonrpc":"2.0","id":1,"method":"aaep.reply","params":[]}` + "\n",
		`{"jsonrpc":"2.0","method":"aaep.reply","params":{"type":"confirmation.reply"}}` + "\n", "{\"jsonrpc\":\"2.0\",\"method\":\"\xff\",\"id\":1}\n", `{"type":"earshot:x"}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		stream := &memory{Reader: bytes.NewReader(raw)}
		messages, _ := all(t, pipe.NewRPC(stream, fuzzLimit))
		for _, m := range messages {
			var of struct {
				Type string `json:"type"`
			}
			if err := json.Unmarshal(m, &of); err != nil || of.Type == "" {
				t.Fatalf("received %q, %v", m, err)
			}
		}
		answered(t, stream.written.Bytes(), true)
		if !jsontext.Value(raw).IsValid() {
			return
		}
		sends := &memory{Reader: bytes.NewReader(nil)}
		if err := pipe.NewRPC(sends, fuzzLimit).Send(raw); err != nil {
			t.Fatal(err)
		}
		answered(t, sends.written.Bytes(), false)
	})
}

// answered checks that there are only whole lines, with one object of JSON-RPC each.
func answered(t *testing.T, lines []byte, id bool) {
	t.Helper()
	for line := range bytes.Lines(lines) {
		var of map[string]jsontext.Value
		if err := json.Unmarshal(line, &of); err != nil || !bytes.HasSuffix(line, []byte("\n")) {
			t.Fatalf("written %q, %v", line, err)
		}
		if _, has := of["id"]; id && !has || string(of["jsonrpc"]) != `"2.0"` {
			t.Fatalf("written %q", line)
		}
	}
}
