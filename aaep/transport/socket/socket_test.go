package socket_test

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha1"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/earshot-dev/earshot/aaep/transport"
	"github.com/earshot-dev/earshot/aaep/transport/socket"
	"github.com/earshot-dev/earshot/internal/testkit/framing"
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

// paired are the two ends of one connection.
func paired(t *testing.T) (server, client *socket.Conn) {
	t.Helper()
	mine, its := net.Pipe()
	accepts := make(chan *socket.Conn, 1)
	go func() {
		defer close(accepts)
		from := bufio.NewReader(mine)
		r, err := http.ReadRequest(from)
		if err != nil {
			return // Dial says why
		}
		switching(mine, r)
		if c, err := socket.Accept(hijackable{conn: mine}, r, socket.Options{Limit: 1 << 20}); err == nil {
			accepts <- c
		}
	}()
	client, _, err := socket.Dial(t.Context(), "ws://pipe/", over(its), nil, socket.Options{Limit: 1 << 20}) //nolint:bodyclose // it is the connection
	if err != nil {
		t.Fatal(err)
	}
	server = <-accepts
	if server == nil {
		t.Fatal("the request was not taken")
	}
	return server, client
}

// TestBothSend: two ends that send at the same moment both receive.
func TestBothSend(t *testing.T) {
	t.Parallel()
	framing.BothSend(t, func(t *testing.T) (one, other framing.End) {
		server, client := paired(t)
		message := bytes.Repeat([]byte("x"), 64<<10)
		return framing.End{Conn: server, Message: message}, framing.End{Conn: client, Message: message}
	})
}

// TestPingWhileSending: a ping that arrives while something is being written, which is not read, keeps nothing behind it from being read.
// When the peer reads again it gets its answer, to the last of its pings.
func TestPingWhileSending(t *testing.T) {
	t.Parallel()
	for end, connect := range map[string]func(*testing.T) (*socket.Conn, net.Conn){"accepted": accepted, "dialled": dialled} {
		t.Run(end, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				c, peer := connect(t)
				long := bytes.Repeat([]byte("x"), 64<<10)
				sent, received := make(chan error, 1), make(chan error, 1)
				go func() { sent <- c.Send(long) }()
				go func() {
					for range 2 {
						_, err := c.Receive()
						received <- err
					}
				}()
				frame := func(op byte, payload string) []byte {
					if end == "dialled" { // a server does not mask
						return append([]byte{0x80 | op, byte(len(payload))}, payload...)
					}
					return append([]byte{0x80 | op, 0x80 | byte(len(payload)), 0, 0, 0, 0}, payload...)
				}
				go func() { _, _ = peer.Write(slices.Concat(frame(0x9, "first"), frame(0x9, "last"), frame(0x1, "{}"))) }()
				if err := <-received; err != nil {
					t.Errorf("behind the ping it receives %v", err)
				}
				from := bufio.NewReader(peer)
				if op, got := unmasked(t, from); op != 0x1 || !bytes.Equal(got, long) {
					t.Errorf("found a frame %#x of %d bytes, expected the message", op, len(got))
				}
				op, got := unmasked(t, from)
				if string(got) == "first" { // it may have been answered before the last came
					op, got = unmasked(t, from)
				}
				if op != 0xa || string(got) != "last" {
					t.Errorf("found a frame %#x with %q, expected the pong of the last ping", op, got)
				}
				if err := <-sent; err != nil {
					t.Error(err)
				}
				c.Drop()
				if err := <-received; !errors.Is(err, transport.ErrBroken) {
					t.Errorf("at last it receives %v", err)
				}
				_ = peer.Close()
			})
		})
	}
}

// unmasked reads a frame of either end.
func unmasked(t *testing.T, from *bufio.Reader) (op byte, payload []byte) {
	t.Helper()
	head := make([]byte, 2)
	_, err := io.ReadFull(from, head)
	size, mask := int(head[1]&0x7f), make([]byte, 4)
	switch size {
	case 126:
		long := make([]byte, 2)
		_, _ = io.ReadFull(from, long) // the next read fails
		size = int(binary.BigEndian.Uint16(long))
	case 127:
		long := make([]byte, 8)
		_, _ = io.ReadFull(from, long)
		size = int(binary.BigEndian.Uint64(long))
	}
	if head[1]&0x80 != 0 {
		_, _ = io.ReadFull(from, mask)
	}
	payload = make([]byte, size)
	if _, wrong := io.ReadFull(from, payload); err != nil || wrong != nil {
		t.Fatal(err, wrong)
	}
	for i := range payload {
		payload[i] ^= mask[i%len(mask)]
	}
	return head[0] & 0xf, payload
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
		switching(mine, r)
	}()
	c, answer, err := socket.Dial(t.Context(), "ws://pipe/", over(its), nil, socket.Options{Limit: 1 << 10}) //nolint:bodyclose // it is the connection
	if err != nil {
		t.Fatal(answer, err)
	}
	return c, mine
}

// switching answers the handshake.
func switching(to io.Writer, r *http.Request) {
	sum := sha1.Sum([]byte(r.Header.Get("Sec-WebSocket-Key") + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"))
	_, _ = fmt.Fprintf(to, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Accept: %s\r\n\r\n",
		base64.StdEncoding.EncodeToString(sum[:])) // Dial says why not
}

// over is a client of HTTP on a connection.
func over(conn net.Conn) *http.Client {
	return &http.Client{Transport: &http.Transport{DialContext: func(context.Context, string, string) (net.Conn, error) { return conn, nil }}}
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
