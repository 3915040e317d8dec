package subscribe

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/aaep/transport"
	"github.com/earshot-dev/earshot/aaep/transport/grpc"
	"github.com/earshot-dev/earshot/aaep/transport/pipe"
	"github.com/earshot-dev/earshot/aaep/transport/socket"
)

// receiveMessages subscribes on a connection that carries messages both ways, and receives until it ends.
func (t *stream) receiveMessages(ctx context.Context, at target) (connected bool, err error) {
	request, err := t.request(t.last, true)
	if err != nil {
		return false, err
	}
	conn, err := t.dial(ctx, at)
	if err != nil {
		return false, err
	}
	defer conn.Drop()
	defer context.AfterFunc(ctx, func() { conn.Close(transport.EndedBySubscriber, "") })()
	defer t.keepAlive(ctx, conn)()
	t.connection.back()
	t.continuity.connect(t.last != "")
	t.trusted = false
	first, err := at.introduction(request)
	if err == nil {
		err = conn.Send(first...)
	}
	if err != nil {
		return true, fmt.Errorf("subscribe: %w", err)
	}
	t.carry(conn)
	defer t.carry(nil)
	return true, t.messages(conn)
}

// carry says which connection carries replies.
func (s *Subscription) carry(conn transport.Conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.conn = conn
	if conn == nil {
		s.terms = aaep.SubscriptionAccepted{} // a subscription ends with its connection
	}
}

// keepAlive sees that the producer is there, and drops the connection if it is not. The function that it returns ends that.
func (t *stream) keepAlive(ctx context.Context, conn transport.Conn) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		ticker := time.NewTicker(silence)
		defer ticker.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-ticker.C:
			}
			if conn.Ping() != nil {
				conn.Drop()
				return
			}
		}
	}()
	return func() {
		cancel()
		conn.Drop() // a ping may be under way
		<-done
	}
}

func (t *stream) messages(conn transport.Conn) error {
	for {
		raw, err := conn.Receive()
		if err != nil {
			return t.over(conn, err)
		}
		message := aaep.Read(raw)
		if kind, _ := message.Text("type"); kind == transport.TypeResumePoint {
			point, _ := message.Text("event_id")
			t.moved(point)
			continue
		}
		if err := t.deliver(Message{Raw: raw}); err != nil {
			return err
		}
		if t.abandoned {
			conn.Close(transport.EndedBySubscriber, "")
			return nil
		}
	}
}

// over returns the error, if any, that the end of a connection means.
func (t *stream) over(conn transport.Conn, err error) error {
	e, is := errors.AsType[*transport.Error](err)
	switch {
	case !is:
		return fmt.Errorf("subscribe: %w", err)
	case !e.FromPeer:
		conn.Close(e.Code, e.Reason)
		if e.Code == transport.TooBig {
			return t.tooLong(e)
		}
		return &Error{Code: CodeStrange, Message: t.host + " sends what is not a message: " + e.Reason, Hint: "see what the producer sends", Err: e}
	case e.Message != nil:
		if err := t.deliver(Message{Raw: e.Message}); err != nil || t.abandoned {
			return err
		}
	}
	said := fmt.Sprintf("%s ends the connection with the code %d %s", t.host, e.Code, e.Reason)
	switch e.Code {
	case transport.Clean, transport.Normal:
		t.ended = true
		return nil
	case transport.NotAuthenticated:
		return &Error{Code: CodeUnauthenticated, Message: said, Hint: "get a new token", Err: err}
	case transport.Rejected, transport.NotAllowed, transport.Violation, transport.PolicyViolation, transport.ProtocolError, transport.NotText:
		return &Error{Code: CodeForbidden, Message: said, Hint: "check the address, and the token and its rights", Err: err}
	default:
		return fmt.Errorf("subscribe: %w", err)
	}
}

// dial connects, and shows the token.
func (t *stream) dial(ctx context.Context, at target) (transport.Conn, error) {
	if at.url.Scheme == unixScheme {
		return t.dialUnix(ctx, at)
	}
	header := http.Header{}
	if at.token != "" {
		header.Set("Authorization", "Bearer "+at.token)
	}
	if security, is := strings.CutPrefix(at.url.Scheme, "grpc"); is {
		conn, err := grpc.Dial(ctx, "http"+security+"://"+at.url.Host, t.http.Transport, header, grpc.Options{Limit: maxMessage, Verbatim: t.o.Verbatim})
		if err != nil {
			return nil, unreachable(at.url.Host, err)
		}
		return conn, nil
	}
	address := *at.url
	if strings.Trim(address.Path, "/") == "" {
		address.Path = transport.Root + "/ws"
	}
	o := socket.Options{Limit: maxMessage, Verbatim: t.o.Verbatim}
	conn, answer, err := socket.Dial(ctx, address.String(), t.http, header, o) //nolint:bodyclose // it is the connection
	switch {
	case err == nil:
		return conn, nil
	case answer != nil && answer.StatusCode >= http.StatusBadRequest:
		return nil, t.runOut(at, answer)
	}
	return nil, unreachable(at.url.Host, err)
}

// dialUnix connects to a Unix socket (TR-UDS-01 to 05).
func (t *stream) dialUnix(ctx context.Context, at target) (transport.Conn, error) {
	conn, err := pipe.Dial(ctx, at.url.Host, pipe.Options{Limit: maxMessage, Verbatim: t.o.Verbatim})
	if err != nil {
		return nil, unreachable(at.url.Host, err)
	}
	return conn, nil
}

// introduction is what a connection begins with. A Unix socket has no header for the token, which goes before the request, in the same
// write: a producer that does not take it may have answered and closed before another.
func (at target) introduction(request []byte) ([][]byte, error) {
	if at.url.Scheme != unixScheme || at.token == "" {
		return [][]byte{request}, nil
	}
	shown, err := json.Marshal(transport.Authenticate{Type: transport.TypeAuthenticate, Token: at.token})
	return [][]byte{shown, request}, err //nolint:wrapcheck // its caller wraps it
}
