package grpc

import (
	"bufio"
	"context"
	_ "embed" // the descriptor
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"sync"
	"time"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/aaep/transport"
)

// The paths of the methods. A server of HTTP/2 serves them with POST.
const (
	Service         = "aaep.v1.AaepService"
	SubscribePath   = "/" + Service + "/Subscribe"
	GetManifestPath = "/" + Service + "/GetManifest"
)

// Proto is the description of the service, aaep.proto.
//
//go:embed aaep.proto
var Proto string

const (
	// writeTimeout is how long messages that are sent together may take before the connection is dropped.
	writeTimeout = 30 * time.Second
	// closeTimeout is how long the peer may take to read why the connection ends.
	closeTimeout = time.Second
	// askInterval is the silence after which a server asks a subscriber whether it is there, and askTimeout how long it may take to say so.
	askInterval = 15 * time.Second
	askTimeout  = 15 * time.Second
	// maxRequest is the largest message of the other methods, in bytes.
	maxRequest = 4 << 10
)

// Options configure a connection. Limit is required.
type Options struct {
	// Limit is the largest message that is received, in bytes of its JSON.
	Limit int
	// Verbatim takes what is not UTF-8 too: for a recorder, which judges nothing.
	Verbatim bool
}

// Configure sets a server to HTTP/2, also without TLS, beside HTTP/1.1. It finds out about subscribers that have gone, and drops the
// connection of one that reads nothing at all. Call it before the server serves.
func Configure(server *http.Server) {
	server.Protocols = new(http.Protocols)
	server.Protocols.SetHTTP1(true)
	server.Protocols.SetHTTP2(true)
	server.Protocols.SetUnencryptedHTTP2(true)
	if server.HTTP2 == nil {
		server.HTTP2 = new(http.HTTP2Config)
	}
	server.HTTP2.SendPingTimeout, server.HTTP2.PingTimeout = askInterval, askTimeout
	server.HTTP2.WriteByteTimeout = writeTimeout // a stream cannot be ended where nothing is read
}

// Is reports whether a request is one of gRPC.
func Is(r *http.Request) bool {
	kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	return err == nil && r.ProtoMajor == 2 && r.Method == http.MethodPost && (kind == contentType || kind == contentType+"+proto")
}

// Fail ends a call of which nothing has been answered.
func Fail(w http.ResponseWriter, status Status, message string) {
	w.Header().Set("Content-Type", contentType)
	status.set(w.Header(), "", message)
	w.WriteHeader(http.StatusOK)
}

// begin sends the headers of an answer.
func begin(w http.ResponseWriter) error {
	h := w.Header()
	h.Set("Content-Type", contentType)
	h.Set("Grpc-Accept-Encoding", "identity")
	w.WriteHeader(http.StatusOK)
	return http.NewResponseController(w).Flush() //nolint:wrapcheck // the callers wrap it
}

// ServeManifest answers GetManifest.
func ServeManifest(w http.ResponseWriter, r *http.Request, manifest []byte) {
	if _, err := next(r.Body, maxRequest); err != nil {
		Fail(w, InvalidArgument, "expected a GetManifestRequest")
		return
	}
	if begin(w) == nil {
		_, _ = w.Write(frame(appendBytes(nil, fieldJSON, manifest))) // a client that has gone is not told
	}
	OK.set(w.Header(), http.TrailerPrefix, "")
}

// Served is a connection of a producer, a [transport.Conn]. It has no close codes on the wire: a subscription.close stands for them, and
// the status says what is nearest.
type Served struct {
	o    Options
	from *bufio.Reader
	gone context.Context //nolint:containedctx // the life of the call, which the library ends
	end  context.CancelFunc

	// writing is held while a message is written.
	writing      sync.Mutex
	w            http.ResponseWriter
	subscription string // once it has begun
	closed       bool

	// timing is held while a deadline is set, which is not done once the handler may have returned.
	timing  sync.Mutex
	wire    *http.ResponseController
	stopped bool
}

// Accept begins to answer a call of Subscribe. The handler returns after Close or Drop, once nothing receives or sends any more.
func Accept(w http.ResponseWriter, r *http.Request, o Options) (*Served, error) {
	c := &Served{o: o, from: bufio.NewReader(r.Body), w: w, wire: http.NewResponseController(w)}
	for _, set := range []func(time.Time) error{c.wire.SetReadDeadline, c.wire.SetWriteDeadline} {
		if err := set(time.Time{}); err != nil {
			return nil, fmt.Errorf("gRPC: %w", err)
		}
	}
	if err := begin(w); err != nil {
		return nil, fmt.Errorf("gRPC: %w", err)
	}
	c.gone, c.end = context.WithCancel(r.Context())
	return c, nil
}

// Receive implements [transport.Conn]. A subscriber that says that it sends nothing more still hears.
func (c *Served) Receive() ([]byte, error) {
	raw, err := c.o.receive(c.from)
	if errors.Is(err, io.EOF) {
		<-c.gone.Done()
	}
	if refused, is := errors.AsType[*transport.Error](err); is {
		return nil, refused
	}
	if err != nil {
		return nil, broken(err)
	}
	return raw, nil
}

func broken(err error) error { return fmt.Errorf("gRPC: %w: %w", transport.ErrBroken, err) }

// Send implements [transport.Conn].
func (c *Served) Send(group ...[]byte) error {
	c.writing.Lock()
	defer c.writing.Unlock()
	if c.subscription == "" && len(group) > 0 {
		c.subscription = accepted(group[0])
	}
	return c.write(group...)
}

func accepted(raw []byte) string {
	m, err := aaep.DecodeSubscriptionAccepted(raw)
	if err != nil {
		return ""
	}
	return m.SubscriptionID
}

// write writes messages at once. The caller holds writing.
func (c *Served) write(group ...[]byte) error {
	if c.closed || c.gone.Err() != nil {
		return broken(errors.New("the call has ended"))
	}
	timer := time.AfterFunc(writeTimeout, c.Drop)
	defer timer.Stop()
	for _, raw := range group {
		if _, err := c.w.Write(pack(raw)); err != nil {
			c.closed = true
			return broken(err)
		}
	}
	if err := c.wire.Flush(); err != nil {
		c.closed = true
		return broken(err)
	}
	return nil
}

// Ping implements [transport.Conn]: HTTP/2 has pings of its own, and ends the call of a peer that has gone.
func (c *Served) Ping() error {
	if c.gone.Err() != nil {
		return broken(c.gone.Err())
	}
	return nil
}

// Close implements [transport.Conn]. What the peer sends meanwhile is dropped.
func (c *Served) Close(code transport.Code, reason string) {
	timer := time.AfterFunc(closeTimeout, c.Drop)
	c.writing.Lock()
	defer c.writing.Unlock()
	if c.subscription != "" {
		if raw, err := transport.Closing(c.subscription, code, reason); err == nil {
			_ = c.write(raw) // a peer that has gone is not told
		}
	}
	c.closed = true
	timer.Stop()
	statuses[code].set(c.w.Header(), http.TrailerPrefix, reason)
	c.stop(c.wire.SetReadDeadline)
}

// Drop implements [transport.Conn].
func (c *Served) Drop() { c.stop(c.wire.SetReadDeadline, c.wire.SetWriteDeadline) }

// stop ends what waits in one direction, or in both. The first call counts.
func (c *Served) stop(wires ...func(time.Time) error) {
	c.timing.Lock()
	defer c.timing.Unlock()
	if c.stopped {
		return
	}
	c.stopped = true
	for _, set := range wires {
		_ = set(time.Unix(1, 0)) // it may have ended already
	}
	c.end()
}

var _ transport.Conn = (*Served)(nil)
