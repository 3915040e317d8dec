package socket_test

import (
	"bufio"
	"context"
	"crypto/sha1"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/earshot-dev/earshot/aaep/transport"
	"github.com/earshot-dev/earshot/aaep/transport/socket"
)

// hijackable is the writer of a request whose connection is a pipe.
type hijackable struct {
	http.ResponseWriter

	conn net.Conn
}

func (h hijackable) Header() http.Header { return http.Header{} }
func (h hijackable) WriteHeader(int)     {}

func (h hijackable) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	return h.conn, bufio.NewReadWriter(bufio.NewReader(h.conn), bufio.NewWriter(h.conn)), nil
}

const handshakeKey = "dGhlIHNhbXBsZSBub25jZQ=="

// accepted is a connection on the server's end of a pipe.
func accepted(t *testing.T) (*socket.Conn, net.Conn) {
	t.Helper()
	mine, its := net.Pipe()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "/", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	r.Header = http.Header{
		"Connection": {"Upgrade"}, "Upgrade": {"websocket"}, "Sec-Websocket-Version": {"13"}, "Sec-Websocket-Key": {handshakeKey},
	}
	c, err := socket.Accept(hijackable{conn: its}, r, socket.Options{Limit: 1 << 10})
	if err != nil {
		t.Fatal(err)
	}
	return c, mine
}

// dialled is a connection on the client's end of a pipe.
func dialled(t *testing.T) (*socket.Conn, net.Conn) {
	t.Helper()
	mine, its := net.Pipe()
	go func() {
		r, err := http.ReadRequest(bufio.NewReader(mine))
		if err != nil {
			return // Dial says why
		}
		sum := sha1.Sum([]byte(r.Header.Get("Sec-WebSocket-Key") + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"))
		_, _ = fmt.Fprintf(mine, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Accept: %s\r\n\r\n",
			base64.StdEncoding.EncodeToString(sum[:]))
	}()
	by := &http.Client{Transport: &http.Transport{DialContext: func(context.Context, string, string) (net.Conn, error) { return its, nil }}}
	c, answer, err := socket.Dial(t.Context(), "ws://pipe/", by, nil, socket.Options{Limit: 1 << 10}) //nolint:bodyclose // it is the connection
	if err != nil {
		t.Fatal(answer, err)
	}
	return c, mine
}

// TestHalfFrame: a peer that falls silent within a frame holds up neither a close nor a drop, whoever has connected and whether or
// not a goroutine receives.
func TestHalfFrame(t *testing.T) {
	t.Parallel()
	const fin, text, binary, masked = 0x80, 0x1, 0x2, 0x80
	mask := []byte{0, 0, 0, 0}
	for name, half := range map[string][]byte{
		"nothing":               nil,
		"half a header":         {fin | text},
		"a binary frame's head": append([]byte{fin | binary, masked | 2}, mask...),
		"half a text":           append(append([]byte{fin | text, masked | 2}, mask...), '{'),
	} {
		for end, connect := range map[string]func(*testing.T) (*socket.Conn, net.Conn){"accepted": accepted, "dialled": dialled} {
			for how, finish := range map[string]struct {
				call   func(*socket.Conn)
				within time.Duration
			}{
				"Close":            {func(c *socket.Conn) { c.Close(transport.Clean, "") }, time.Second},
				"Drop":             {(*socket.Conn).Drop, 0},
				"Drop after Close": {func(c *socket.Conn) { go c.Close(transport.Clean, ""); c.Drop() }, time.Second},
			} {
				t.Run(name+", "+end+", "+how, func(t *testing.T) {
					t.Parallel()
					synctest.Test(t, func(t *testing.T) {
						c, peer := connect(t)
						sent := half
						if end == "dialled" && len(half) > 1 { // a server does not mask
							sent = append([]byte{half[0], half[1] &^ masked}, half[2+len(mask):]...)
						}
						received := make(chan error, 1)
						go func() {
							_, err := c.Receive()
							received <- err
						}()
						go func() { _, _ = io.Copy(io.Discard, peer) }()
						if _, err := peer.Write(sent); err != nil {
							t.Fatal(err)
						}
						synctest.Wait()
						began := time.Now()
						finish.call(c)
						if took := time.Since(began); took > finish.within {
							t.Errorf("it took %s, expected at most %s", took, finish.within)
						}
						refused := (*transport.Error)(nil)
						if err := <-received; !errors.Is(err, transport.ErrBroken) && !errors.As(err, &refused) {
							t.Errorf("then it receives %v", err)
						}
						_ = peer.Close()
					})
				})
			}
		}
	}
}
