package grpc

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"strings"
	"sync"
	"time"

	"github.com/earshot-dev/earshot/aaep/transport"
)

const (
	// pingInterval is after how long a silence the transport looks whether the producer is there, and pingTimeout how long that may take.
	pingInterval = 20 * time.Second
	pingTimeout  = 15 * time.Second
)

// Dialled is a connection of a subscriber, a [transport.Conn].
type Dialled struct {
	o      Options
	body   *io.PipeWriter // what is sent
	end    func()
	owned  sync.WaitGroup // the call
	answer chan called    // gets the beginning of the answer
	// receiving is held while a message is received.
	receiving sync.Mutex
	got       *called
	from      *bufio.Reader

	// writing is held while a message is written.
	writing sync.Mutex
	closed  bool

	mu           sync.Mutex
	subscription string // once it has begun
}

// called is the beginning of an answer, or why there is none.
type called struct {
	*http.Response

	err error
}

// Dial calls Subscribe of a producer, whose address begins with http or https. A transport of package net/http is set to HTTP/2, also without
// TLS; any other has to speak it. header may hold the token. An error is one of reaching the producer: what it says itself is received.
func Dial(ctx context.Context, address string, by http.RoundTripper, header http.Header, o Options) (*Dialled, error) {
	c := &Dialled{o: o, answer: make(chan called, 1)}
	reached := make(chan struct{})
	tell := sync.OnceFunc(func() { close(reached) }) // a request may be tried on several connections
	// The call outlives the dialling: its end is Close or Drop.
	life, end := context.WithCancelCause(context.WithoutCancel(ctx))
	c.end = func() { end(nil) }
	trace := &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) { tell() }}
	if known, is := by.(*http.Transport); is {
		via := known.Clone()
		if strings.HasPrefix(address, "http:") { // by TLS, the handshake has shown that the other end answers
			trace.GotConn = nil
			via.DialContext = watched(via.DialContext, tell, end)
		}
		via.Protocols = new(http.Protocols)
		via.Protocols.SetHTTP2(true)
		via.Protocols.SetUnencryptedHTTP2(true)
		via.HTTP2 = &http.HTTP2Config{SendPingTimeout: pingInterval, PingTimeout: pingTimeout}
		via.DisableKeepAlives = true // the connection ends with the call
		by = via
	}
	body, writer := io.Pipe()
	c.body = writer
	r, err := http.NewRequestWithContext(httptrace.WithClientTrace(life, trace), http.MethodPost, address+SubscribePath, body)
	if err != nil {
		end(nil)
		return nil, fmt.Errorf("gRPC: %w", err)
	}
	if header != nil {
		r.Header = header.Clone()
	}
	r.Header.Set("Content-Type", contentType)
	r.Header.Set("TE", "trailers")
	ended := make(chan struct{})
	c.owned.Go(func() {
		defer close(ended)
		answer, err := by.RoundTrip(r) //nolint:bodyclose // Drop ends the call
		if err != nil {
			_ = body.CloseWithError(err)
		}
		c.answer <- called{answer, err}
	})
	select {
	case <-reached:
		return c, nil
	case <-ctx.Done():
		c.Drop()
		return nil, fmt.Errorf("gRPC: %w", context.Cause(ctx))
	case <-ended:
	}
	first := <-c.answer
	c.answer <- first
	if first.err != nil {
		said := context.Cause(life)
		c.Drop()
		if said != nil { // otherwise it is only a context that has ended
			return nil, fmt.Errorf("gRPC: %w", said)
		}
		return nil, fmt.Errorf("gRPC: %w", first.err)
	}
	return c, nil
}

var errEnded = errors.New("the call has ended")

// Receive implements [transport.Conn].
func (c *Dialled) Receive() ([]byte, error) {
	c.receiving.Lock()
	defer c.receiving.Unlock()
	if err := c.await(); err != nil {
		return nil, err
	}
	raw, err := c.o.receive(c.from)
	if refused, is := errors.AsType[*transport.Error](err); is {
		return nil, refused
	}
	switch {
	case errors.Is(err, io.EOF):
		return nil, ended(c.got.Response)
	case err != nil:
		return nil, broken(err)
	}
	if end, is := transport.Closed(raw); is {
		return nil, end
	}
	if id := accepted(raw); id != "" {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.subscription = id
	}
	return raw, nil
}

// await waits for the beginning of the answer. The caller holds receiving.
func (c *Dialled) await() error {
	if c.got == nil {
		first := <-c.answer
		c.got = &first
		if first.err == nil {
			c.from = bufio.NewReader(first.Body)
		}
	}
	switch {
	case c.got.err != nil:
		return broken(c.got.err)
	case c.got.StatusCode != http.StatusOK:
		said := fmt.Sprintf("answers %q, expected a call of gRPC", c.got.Status)
		return &transport.Error{Code: refusals(c.got.StatusCode), Reason: said, FromPeer: true}
	}
	return nil
}

// refusals are the codes that stand for an HTTP status of what is not gRPC, or stands before it.
func refusals(status int) transport.Code {
	switch {
	case status == http.StatusUnauthorized:
		return transport.NotAuthenticated
	case status >= http.StatusInternalServerError || status == http.StatusTooManyRequests:
		return transport.TryAgainLater
	}
	return transport.NotAllowed
}

// Send implements [transport.Conn].
func (c *Dialled) Send(group ...[]byte) error {
	c.writing.Lock()
	defer c.writing.Unlock()
	if c.closed {
		return broken(errEnded)
	}
	timer := time.AfterFunc(writeTimeout, c.cut)
	defer timer.Stop()
	for _, raw := range group {
		if _, err := c.body.Write(pack(raw)); err != nil {
			return broken(err)
		}
	}
	return nil
}

// Ping implements [transport.Conn]. HTTP/2 has pings of its own: the transport that [Dial] has set sends them.
func (*Dialled) Ping() error { return nil }

// Close implements [transport.Conn]: it ends the subscription, and waits a second for the producer to end the call.
func (c *Dialled) Close(code transport.Code, reason string) {
	timer := time.AfterFunc(closeTimeout, c.cut)
	defer timer.Stop()
	c.mu.Lock()
	subscription := c.subscription
	c.mu.Unlock()
	if subscription != "" {
		if raw, err := transport.Closing(subscription, code, reason); err == nil {
			_ = c.Send(raw) // a producer that has gone is not told
		}
	}
	c.writing.Lock()
	c.closed = true
	_ = c.body.Close()
	c.writing.Unlock()
	if subscription != "" {
		c.drain()
	}
	c.Drop()
}

// drain reads what is left of the answer.
func (c *Dialled) drain() {
	c.receiving.Lock()
	defer c.receiving.Unlock()
	if c.await() == nil {
		_, _ = io.Copy(io.Discard, c.from) // it has no meaning any more
	}
}

// cut ends the call, and does not wait for that.
func (c *Dialled) cut() {
	c.end()
	_ = c.body.CloseWithError(errEnded)
}

// Drop implements [transport.Conn].
func (c *Dialled) Drop() {
	c.cut()
	c.owned.Wait()
}

var _ transport.Conn = (*Dialled)(nil)
