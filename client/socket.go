package client

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/aaep/transport"
	"github.com/earshot-dev/earshot/aaep/transport/pipe"
	"github.com/earshot-dev/earshot/aaep/transport/socket"
	"github.com/earshot-dev/earshot/api"
)

// socketServer returns the address for requests to a server, and whether it was named by the address for a WebSocket.
func socketServer(address string) (string, bool) {
	for ours, theirs := range map[string]string{"ws://": "http://", "wss://": "https://"} {
		if rest, is := strings.CutPrefix(address, ours); is {
			return theirs + rest, true
		}
	}

	return address, false
}

// socketSource brings events over a WebSocket (TR-WS-01 to 08).
type socketSource struct {
	conn *socket.Conn
	stop func() bool
	host string
	id   string
}

// openSocket connects and subscribes. After the first time it goes on where the last connection has ended.
func (l *eventStream) openSocket(ctx context.Context, onData func()) (source, error) {
	info, err := l.client.serverInfo()
	if err != nil {
		return nil, err
	}

	resume := map[string]string{}
	if l.last != "" {
		resume["after"] = l.last
	}

	request, err := l.client.request(resume)
	if err != nil {
		return nil, err
	}

	_, path := api.Address(api.RouteSocket)
	header := http.Header{"Authorization": {"Bearer " + info.Token}}

	o := socket.Options{Limit: webSocketMessageMax, OnPing: onData}

	conn, answer, err := socket.Dial(ctx, "ws"+strings.TrimPrefix(info.URL, "http")+path, l.client.http, header, o) //nolint:bodyclose // it is the connection
	if err != nil {
		return nil, notUpgraded(info.URL, answer, err)
	}

	_, host, _ := strings.Cut(info.URL, "://")

	s := &socketSource{conn: conn, stop: context.AfterFunc(ctx, conn.Drop), host: host, id: l.last}
	if err := s.subscribe(request); err != nil {
		s.close()

		return nil, err
	}

	return s, nil
}

// notUpgraded decodes why there is no WebSocket.
func notUpgraded(server string, answer *http.Response, err error) error {
	switch {
	case answer == nil:
		return &Error{
			Code: CodeUnreachable, Message: fmt.Sprintf("the server at %s cannot be reached: %s", server, err), Hint: "see that `earshot up` runs there", Err: err,
		}
	case answer.StatusCode >= http.StatusBadRequest:
		return refused(answer)
	}

	return strange(answer, err)
}

// subscribe sends the request and takes the answer, which is the first message (TR-WS-04).
func (s *socketSource) subscribe(request []byte) error {
	if err := s.conn.Send(request); err != nil {
		return fmt.Errorf("client: %w", err)
	}

	raw, err := s.conn.Receive()
	if err != nil {
		return s.ended(err)
	}

	if _, err := aaep.DecodeSubscriptionAccepted(raw); err == nil {
		return nil
	}

	r, err := aaep.DecodeSubscriptionRejected(raw)
	if err != nil {
		return &Error{Code: CodeStrange, Message: s.host + " does not answer the request for a subscription", Hint: "check the address", Err: err}
	}

	return notLetIn(r)
}

// next implements [source].
func (s *socketSource) next(onData func()) (frame, error) {
	for {
		raw, err := s.conn.Receive()
		if err != nil {
			return frame{}, s.ended(err)
		}

		onData()

		message := aaep.Read(raw)

		switch kind, _ := message.Text("type"); kind {
		case transport.TypeResumePoint:
			s.id, _ = message.Text("event_id")

			return frame{id: s.id}, nil
		case transport.TypeReplyRefused: // nothing is answered here
		default:
			return frame{id: s.id, data: raw}, nil
		}
	}
}

func (s *socketSource) close() {
	s.stop()
	s.conn.Close(transport.EndedBySubscriber, "")
}

// ended returns the error that the end of the connection means. Only one that is not an [*Error] is worth another attempt.
func (s *socketSource) ended(err error) error {
	e, is := errors.AsType[*transport.Error](err)

	switch {
	case !is:
		return fmt.Errorf("client: %w", err)
	case !e.FromPeer:
		s.conn.Close(e.Code, e.Reason)

		return &Error{Code: CodeStrange, Message: s.host + " has sent something that is not a message: " + e.Reason, Hint: "use the same version of Earshot on both sides", Err: err}
	}

	switch e.Code {
	case transport.NotAuthenticated:
		return &Error{Code: CodeUnauthenticated, Message: "the server has ended the connection: " + e.Reason, Hint: "get a new token", Err: err}
	case transport.Rejected, transport.NotAllowed, transport.Violation, transport.PolicyViolation:
		return &Error{Code: CodeForbidden, Message: "the server has ended the connection: " + e.Reason, Hint: "check the token and its rights", Err: err}
	default:
		return fmt.Errorf("client: %w", err)
	}
}

// dialWeb connects to a WebSocket (TR-WS-01 to 08).
func (t *recorder) dialWeb(ctx context.Context) (transport.Conn, error) {
	header := http.Header{}
	if t.token != "" {
		header.Set("Authorization", "Bearer "+t.token)
	}

	o := socket.Options{Limit: webSocketMessageMax, Verbatim: true}

	conn, answer, err := socket.Dial(ctx, t.url.String(), t.http, header, o) //nolint:bodyclose // it is the connection
	if err != nil {
		if answer != nil && answer.StatusCode >= http.StatusBadRequest {
			return nil, t.refused(answer)
		}

		return nil, t.silent(err)
	}

	return conn, nil
}

// dialUnix connects to a Unix socket (TR-UDS-01 to 05).
func (t *recorder) dialUnix(ctx context.Context) (transport.Conn, error) {
	conn, err := pipe.Dial(ctx, t.url.Host, pipe.Options{Limit: webSocketMessageMax, Verbatim: true})
	if err != nil {
		return nil, t.silent(err)
	}

	if t.token == "" {
		return conn, nil
	}

	shown, err := json.Marshal(transport.Authenticate{Type: transport.TypeAuthenticate, Token: t.token})
	if err == nil {
		err = conn.Send(shown)
	}

	if err != nil {
		conn.Drop()

		return nil, t.silent(err)
	}

	return conn, nil
}

// receiveMessages subscribes on a connection that carries messages both ways, and records it until it ends. Repeated messages are
// recognised when they arrive.
func (t *recorder) receiveMessages(ctx context.Context) (connected bool, err error) {
	conn, err := t.open(ctx)
	if err != nil {
		return false, err
	}

	defer conn.Drop()
	defer context.AfterFunc(ctx, conn.Drop)()

	t.connection.back()
	t.continuity.connect(false)

	request, err := t.subscription()
	if err != nil {
		return true, err
	}

	if err := conn.Send(request); err != nil {
		return true, fmt.Errorf("client: %w", err)
	}

	return true, t.messages(conn)
}

func (t *recorder) messages(conn transport.Conn) error {
	for {
		raw, err := conn.Receive()
		if err != nil {
			return t.closed(conn, err)
		}

		if t.deliver(RawMessage{Raw: raw}); t.abandoned {
			conn.Close(transport.EndedBySubscriber, "")

			return nil
		}
	}
}

// closed returns the error, if any, that the end of a connection means.
func (t *recorder) closed(conn transport.Conn, err error) error {
	e, is := errors.AsType[*transport.Error](err)

	switch {
	case !is:
		return fmt.Errorf("client: %w", err)
	case !e.FromPeer:
		conn.Close(e.Code, e.Reason)

		return t.unusable(e)
	}

	switch e.Code {
	case transport.Clean, transport.Normal:
		t.ended = true

		return nil
	case transport.Rejected, transport.NotAuthenticated, transport.NotAllowed, transport.Violation, transport.PolicyViolation, transport.ProtocolError, transport.NotText:
		return &Error{
			Code: CodeForbidden, Message: fmt.Sprintf("%s ends the connection with the code %d %s", t.url.Host, e.Code, e.Reason),
			Hint: "check the address, and the token and its rights", Err: err,
		}
	default:
		return fmt.Errorf("client: %w", err)
	}
}

// unusable is the error for a message that is not received. It would be the same the next time.
func (t *recorder) unusable(e *transport.Error) error {
	if e.Code == transport.TooBig {
		return t.tooLong(e)
	}

	return &Error{Code: CodeStrange, Message: t.url.Host + " sends what is not a message: " + e.Reason, Hint: "see what the producer sends", Err: e}
}
