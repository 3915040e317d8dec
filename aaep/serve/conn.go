package serve

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/aaep/pacing"
	"github.com/earshot-dev/earshot/aaep/transport"
	"github.com/earshot-dev/earshot/aaep/transport/pipe"
	"github.com/earshot-dev/earshot/aaep/transport/stream"
)

// ServeListener serves each connection of a Unix socket (TR-UDS-01 to TR-UDS-05), or of a named pipe ([pipe.ListenNamed]), until the
// context ends; then it closes the listener and returns when all connections have ended. A peer shows its token in a message
// earshot:authenticate before its request.
func (p *Producer) ServeListener(ctx context.Context, l net.Listener) error {
	ctx, cancel := context.WithCancel(ctx)
	var conns sync.WaitGroup
	defer conns.Wait()
	defer cancel()
	defer context.AfterFunc(ctx, func() { _ = l.Close() })()
	for {
		c, err := l.Accept()
		switch {
		case ctx.Err() != nil:
			return nil
		case err != nil:
			return fmt.Errorf("accepting a connection: %w", err)
		}
		conns.Go(func() { p.ServeConn(ctx, pipe.New(c, pipe.Options{Limit: transport.MessageLimit}), "") })
	}
}

// ServePipe serves one subscriber by JSON-RPC, such as the program that has started this one: pass its standard input and output
// (TR-STDIO-01 to TR-STDIO-07). It returns when one of both ends it.
func (p *Producer) ServePipe(ctx context.Context, rw io.ReadWriteCloser) {
	p.ServeConn(ctx, pipe.NewRPC(rw, transport.MessageLimit), "")
}

// ServeConn serves one subscriber on a connection until one of both ends it. token is the one that it has shown; where there is none, the
// peer may show one in a message earshot:authenticate before its request.
func (p *Producer) ServeConn(ctx context.Context, conn transport.Conn, token string) {
	first, err := firstOf(ctx, conn)
	if err != nil {
		if e, is := errors.AsType[*transport.Error](err); is && !e.FromPeer {
			conn.Close(e.Code, e.Reason)
			return
		}
		conn.Drop()
		return
	}
	var auth transport.Authenticate
	if json.Unmarshal(first, &auth) == nil && auth.Type == transport.TypeAuthenticate {
		token, first = auth.Token, nil
	}
	stream.Converse(ctx, conn, &peer{permit{p, token}}, first)
}

// firstOf returns the first message of a connection, which is to come soon.
func firstOf(ctx context.Context, conn transport.Conn) ([]byte, error) {
	var closing sync.WaitGroup // what closes the connection does not outlive this
	defer closing.Wait()
	closes := func(why *transport.Error) func() {
		closing.Add(1)
		return func() {
			defer closing.Done()
			conn.Close(why.Code, why.Reason)
		}
	}
	ended := context.AfterFunc(ctx, closes(stream.ErrGoingAway))
	late := time.AfterFunc(stream.RequestTimeout, closes(stream.ErrUnasked))
	raw, err := conn.Receive()
	for _, stop := range []func() bool{ended, late.Stop} {
		if stop() {
			closing.Done()
		}
	}
	return raw, err
}

// permit is the right of a token to hear.
type permit struct {
	producer *Producer
	token    string
}

// Changes implements [stream.Permit]: nothing says when rights change, so they are looked up at each delivery.
func (permit) Changes(context.Context) <-chan struct{} { return nil }

// Rights returns what somebody may do who shows this token; "" is no token.
func (p *Producer) Rights(token string) Rights { return p.o.Allow(token) }

// Valid implements [stream.Permit].
func (p permit) Valid() bool { return p.producer.o.Allow(p.token).Hears }

// peer is a subscriber on a connection. It is the [stream.Host] of its conversation.
type peer struct{ permit }

// Subscribe implements [stream.Host].
func (c *peer) Subscribe(_ context.Context, raw []byte) (stream.Subscription, []byte, error) {
	request, err := aaep.DecodeSubscriptionRequest(raw)
	if err != nil {
		answer, err := pacing.Malformed(err).Encode()
		return nil, answer, err
	}
	s, accepted, rejected := c.producer.subscribe(c.token, request)
	if rejected != nil {
		answer, err := rejected.Encode()
		return nil, answer, err
	}
	answer, err := accepted.Encode()
	if err != nil {
		s.Close()
		return nil, nil, err
	}
	return s, answer, nil
}

// Message implements [stream.Host].
func (c *peer) Message(_ context.Context, raw []byte) ([]byte, error) {
	answer, err := c.producer.message(c.token, raw)
	switch {
	case errors.Is(err, errForbidden):
		return nil, &transport.Error{Code: transport.NotAllowed, Reason: err.Error(), Err: err}
	case err != nil:
		return nil, &transport.Error{Code: transport.Violation, Reason: "the message cannot be read", Err: err}
	}
	return answer, nil
}

// Ended implements [stream.Host].
func (c *peer) Ended(_ context.Context, why error) *transport.Error {
	switch {
	case errors.Is(why, stream.ErrRevoked):
		return &transport.Error{Code: transport.NotAuthenticated, Reason: "the token is not valid any more"}
	case errors.Is(why, context.Canceled):
		return stream.ErrGoingAway
	}
	return &transport.Error{Code: transport.InternalError, Reason: "the producer could not go on"}
}
