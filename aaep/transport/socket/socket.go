// Package socket carries the messages of AAEP on a WebSocket: one JSON message in one text frame (TR-WS-03). It is the one place
// that knows the frames; the server, the client and the player of recordings know messages.
//
// A message that is larger than the limit, is not text or is not UTF-8 is refused with a [*transport.Error] that has the close code for it.
// No memory is allocated for the size that a frame claims, only for what has arrived, up to the limit.
package socket

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"
	"unicode/utf8"

	"github.com/coder/websocket"

	"github.com/earshot-dev/earshot/aaep/transport"
)

// Subprotocol is what both sides name in the handshake (TR-WS-02).
const Subprotocol = "aaep.v1"

const (
	// writeTimeout is how long messages that are sent together may take before the connection is dropped.
	writeTimeout = 30 * time.Second
	// closeTimeout is how long the peer may take to answer a close.
	closeTimeout = time.Second
	// maxReason is the room for the reason in a close frame, in bytes.
	maxReason = 123
)

// Options configure a connection. Limit is required.
type Options struct {
	// Limit is the largest message that is received, in bytes.
	Limit int64
	// OnPing is called for each ping of the peer, by the goroutine that receives. Default: nothing.
	OnPing func()
	// Verbatim takes binary messages too, and text that is not UTF-8: for a recorder, which judges nothing.
	Verbatim bool
	// OriginChecked says that the caller has checked where the request of a browser comes from. Otherwise, Accept takes only those
	// of the host that is asked.
	OriginChecked bool
}

// Conn is one connection, a [transport.Conn].
type Conn struct {
	ws *websocket.Conn
	o  Options
	// wire is below ws. Closing it ends every read and write at once, also those that the library waits for without a limit.
	wire  io.Closer
	pongs pongs
}

func (c *Conn) open(ws *websocket.Conn, wire io.Closer) *Conn {
	ws.SetReadLimit(-1) // Receive has its own: the library's closes before the rest of the message is read, and the code may be lost
	c.ws, c.wire = ws, wire
	return c
}

// Accept upgrades a request. After an error the request has been answered.
func Accept(w http.ResponseWriter, r *http.Request, o Options) (*Conn, error) {
	h, c := &hijacker{ResponseWriter: w}, &Conn{o: o}
	ws, err := websocket.Accept(h, r, &websocket.AcceptOptions{
		Subprotocols: []string{Subprotocol}, InsecureSkipVerify: o.OriginChecked, OnPingReceived: c.pinged,
	})
	if err != nil {
		return nil, fmt.Errorf("WebSocket: %w", err)
	}
	return c.open(ws, h.wire), nil
}

// hijacker remembers the connection that it hands out.
type hijacker struct {
	http.ResponseWriter

	wire net.Conn
}

// Hijack implements [http.Hijacker].
func (h *hijacker) Hijack() (_ net.Conn, buffers *bufio.ReadWriter, err error) {
	h.wire, buffers, err = http.NewResponseController(h.ResponseWriter).Hijack()
	return h.wire, buffers, err //nolint:wrapcheck // Accept wraps it
}

// Dial connects to an address that begins with ws or wss. After an error the answer, if there is one, has the beginning of its body.
func Dial(ctx context.Context, address string, by *http.Client, header http.Header, o Options) (*Conn, *http.Response, error) {
	h, c := &handshaker{RoundTripper: http.DefaultTransport}, &Conn{o: o}
	via := *by
	if by.Transport != nil {
		h.RoundTripper = by.Transport
	}
	via.Transport = h
	ws, answer, err := websocket.Dial(ctx, address, &websocket.DialOptions{
		HTTPClient: &via, HTTPHeader: header, Subprotocols: []string{Subprotocol}, OnPingReceived: c.pinged,
	})
	if err != nil {
		return nil, answer, fmt.Errorf("WebSocket: %w", err)
	}
	return c.open(ws, h.wire), answer, nil
}

// handshaker remembers the body of the last answer: after the handshake it is the connection.
type handshaker struct {
	http.RoundTripper

	wire io.Closer
}

// RoundTrip implements [http.RoundTripper].
func (h *handshaker) RoundTrip(r *http.Request) (*http.Response, error) {
	answer, err := h.RoundTripper.RoundTrip(r)
	if err == nil {
		h.wire = answer.Body
	}
	return answer, err //nolint:wrapcheck // Dial wraps it
}

// pinged takes a ping of the peer. The library does not answer it.
func (c *Conn) pinged(_ context.Context, payload []byte) bool {
	if c.o.OnPing != nil {
		c.o.OnPing()
	}
	c.pongs.answer(c.ws, payload)
	return false
}

// Subprotocol returns what was negotiated; "" is none.
func (c *Conn) Subprotocol() string { return c.ws.Subprotocol() }

// Receive implements [transport.Conn]. Pings are answered meanwhile.
func (c *Conn) Receive() ([]byte, error) {
	kind, from, err := c.ws.Reader(context.Background())
	if err != nil {
		return nil, closed(err)
	}
	if kind != websocket.MessageText && !c.o.Verbatim {
		return nil, &transport.Error{Code: transport.NotText, Reason: "found a binary message, expected text"}
	}
	raw, err := io.ReadAll(io.LimitReader(from, c.o.Limit+1))
	switch {
	case err != nil:
		return nil, closed(err)
	case int64(len(raw)) > c.o.Limit:
		return nil, &transport.Error{Code: transport.TooBig, Reason: fmt.Sprintf("found a message larger than %d bytes, send less", c.o.Limit)}
	case !c.o.Verbatim && !utf8.Valid(raw):
		return nil, &transport.Error{Code: transport.NotUTF8, Reason: "found a message that is not UTF-8"}
	}
	return raw, nil
}

// closed returns the error that the end of a connection means.
func closed(err error) error {
	if by, is := errors.AsType[websocket.CloseError](err); is {
		return &transport.Error{Code: transport.Code(by.Code), Reason: by.Reason, FromPeer: true, Err: err}
	}
	return broken(err)
}

func broken(err error) error { return fmt.Errorf("WebSocket: %w: %w", transport.ErrBroken, err) }

// Send implements [transport.Conn]: each message is one text frame.
func (c *Conn) Send(group ...[]byte) error {
	ctx, cancel := context.WithTimeout(context.Background(), writeTimeout)
	defer cancel()
	for _, raw := range group {
		if err := c.ws.Write(ctx, websocket.MessageText, raw); err != nil {
			return broken(err)
		}
	}
	return nil
}

// Ping implements [transport.Conn]: it sends a ping and waits for its answer.
func (c *Conn) Ping() error {
	ctx, cancel := context.WithTimeout(context.Background(), writeTimeout)
	defer cancel()
	if err := c.ws.Ping(ctx); err != nil {
		return broken(err)
	}
	return nil
}

// Close implements [transport.Conn]: it closes the connection with a code, and waits a second for the peer to answer. What the peer sends meanwhile is dropped.
func (c *Conn) Close(code transport.Code, reason string) {
	timer := time.AfterFunc(closeTimeout, func() { _ = c.wire.Close() }) // the library has no limit while a peer is silent within a frame
	defer timer.Stop()
	_ = c.ws.Close(websocket.StatusCode(code), clip(reason)) // a peer that has gone is not told
	c.pongs.end()
}

// Drop implements [transport.Conn].
func (c *Conn) Drop() {
	_ = c.wire.Close() // it may be closed already
	_ = c.ws.CloseNow()
	c.pongs.end()
}

// clip shortens a reason to what a close frame has room for.
func clip(reason string) string {
	if len(reason) <= maxReason {
		return reason
	}
	cut := maxReason - len("…")
	for cut > 0 && !utf8.RuneStart(reason[cut]) {
		cut--
	}
	return reason[:cut] + "…"
}
