package client

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/coder/websocket"
)

// receiveSocket subscribes on a WebSocket and receives it until it ends (TR-WS-01 to 08). A WebSocket cannot resume:
// repeated messages are recognised when they arrive.
func (t *recorder) receiveSocket(ctx context.Context) (connected bool, err error) {
	header := http.Header{}
	if t.token != "" {
		header.Set("Authorization", "Bearer "+t.token)
	}

	options := &websocket.DialOptions{HTTPClient: t.http, HTTPHeader: header, Subprotocols: []string{subprotocol}}

	socket, answer, err := websocket.Dial(ctx, t.url.String(), options) //nolint:bodyclose // the library closes it
	if err != nil {
		if answer != nil && answer.StatusCode >= http.StatusBadRequest {
			return false, t.refused(answer)
		}

		return false, t.silent(err)
	}

	defer func() { _ = socket.CloseNow() }()

	socket.SetReadLimit(webSocketMessageMax)
	t.connection.back()
	t.continuity.connect(false)

	request, err := t.subscription()
	if err != nil {
		return true, err
	}

	if err := socket.Write(ctx, websocket.MessageText, request); err != nil {
		return true, fmt.Errorf("client: %w", err)
	}

	return true, t.messages(ctx, socket)
}

func (t *recorder) messages(ctx context.Context, socket *websocket.Conn) error {
	for {
		_, raw, err := socket.Read(ctx)
		if err != nil {
			return t.closed(err)
		}

		if t.deliver(RawMessage{Raw: raw}); t.abandoned {
			_ = socket.Close(closeByTheListener, "")

			return nil
		}
	}
}

// closed returns the error, if any, that the end of a WebSocket means.
func (t *recorder) closed(err error) error {
	if errors.Is(err, websocket.ErrMessageTooBig) {
		return t.tooLong(err)
	}

	switch code := websocket.CloseStatus(err); code {
	case closeClean, websocket.StatusNormalClosure:
		t.ended = true

		return nil
	case closeRejected, closeNotKnown, closeNotAllowed, closeForAMistake, websocket.StatusPolicyViolation, websocket.StatusProtocolError, websocket.StatusUnsupportedData:
		var reason websocket.CloseError
		_ = errors.As(err, &reason)

		return &Error{
			Code: CodeForbidden, Message: fmt.Sprintf("%s ends the connection with the code %d %s", t.url.Host, code, reason.Reason),
			Hint: "check the address, and the token and its rights", Err: err,
		}
	default:
		return fmt.Errorf("client: %w", err)
	}
}
