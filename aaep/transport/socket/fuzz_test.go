package socket_test

import (
	"bytes"
	"errors"
	"io"
	"net"
	"net/http"
	"slices"
	"testing"
	"testing/iotest"
	"time"
	"unicode/utf8"

	"github.com/earshot-dev/earshot/aaep/transport"
	"github.com/earshot-dev/earshot/aaep/transport/socket"
)

// memory is a connection whose other end has written everything, and reads everything.
type memory struct{ io.Reader }

func (memory) Write(p []byte) (int, error)      { return len(p), nil }
func (memory) Close() error                     { return nil }
func (memory) LocalAddr() net.Addr              { return nil }
func (memory) RemoteAddr() net.Addr             { return nil }
func (memory) SetDeadline(time.Time) error      { return nil }
func (memory) SetReadDeadline(time.Time) error  { return nil }
func (memory) SetWriteDeadline(time.Time) error { return nil }

// masks masks a frame's payload with zeros, which leave it as it is.
func masks(op byte, payload string) []byte {
	return append([]byte{op, 0x80 | byte(len(payload)), 0, 0, 0, 0}, payload...)
}

// FuzzFrames: whatever arrives, in whatever pieces, each message is within the limit and UTF-8, and the end has one of the errors that are
// promised.
func FuzzFrames(f *testing.F) {
	const fin, text, binary, closes, ping = 0x80, 0x1, 0x2, 0x8, 0x9
	for _, seed := range [][]byte{
		nil,
		masks(fin|text, `{"a":1}`),
		slices.Concat(masks(text, `{"a"`), masks(fin|ping, "there?"), masks(0, `:`), masks(fin, `1}`), masks(fin|text, "é")),
		slices.Concat(masks(fin|text, "{}"), masks(fin|closes, "\x0f\xa0enough")),
		masks(fin|closes, "\x00"), masks(fin|binary, "{}"), masks(fin|text, "\xff"), masks(fin, "{}"),
		{fin | text, 2, '{', '}'},
		{fin | text | 0x40, 0x80, 0, 0, 0, 0},
		{fin | text, 0x80 | 127, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 'x'},
		append([]byte{fin | text, 0x80 | 126, 0, 120, 0, 0, 0, 0}, bytes.Repeat([]byte("x"), 120)...),
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		whole, end := arrives(t, bytes.NewReader(raw))
		slow, slowEnd := arrives(t, iotest.OneByteReader(bytes.NewReader(raw)))
		if !slices.EqualFunc(whole, slow, bytes.Equal) || end != slowEnd {
			t.Fatalf("at once %q, %d; byte by byte %q, %d", whole, end, slow, slowEnd)
		}
	})
}

// arrives receives as a server until there is no more.
func arrives(t *testing.T, from io.Reader) (messages [][]byte, end transport.Code) {
	t.Helper()
	const limit = 100
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "/", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	r.Header = http.Header{"Connection": {"Upgrade"}, "Upgrade": {"websocket"}, "Sec-Websocket-Version": {"13"}, "Sec-Websocket-Key": {handshakeKey}}
	c, err := socket.Accept(hijackable{conn: memory{from}}, r, socket.Options{Limit: limit})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Drop()
	for {
		raw, err := c.Receive()
		if err == nil {
			if len(raw) > limit || !utf8.Valid(raw) {
				t.Fatalf("a message of %d bytes: %q", len(raw), raw)
			}
			messages = append(messages, raw)
			continue
		}
		refused, is := errors.AsType[*transport.Error](err)
		switch {
		case is && (refused.FromPeer || slices.Contains([]transport.Code{transport.NotText, transport.TooBig, transport.NotUTF8}, refused.Code)):
			return messages, refused.Code
		case is || !errors.Is(err, transport.ErrBroken):
			t.Fatal(err)
		}
		return messages, 0
	}
}
