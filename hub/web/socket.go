package web

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"net/http"
	"net/url"

	"github.com/coder/websocket"

	"github.com/earshot-dev/earshot/aaep"
)

const (
	subprotocol = "aaep.v1" // TR-WS-02
	socketLimit = 1 << 20   // bytes of a message that a listener sends (TR-WS-08)

	// The close codes of the protocol (TR-WS-07).
	closeClean    = websocket.StatusCode(4000)
	closeRejected = websocket.StatusCode(4001)
)

// serveSubscribe accepts any subscription; a recording is played as it is.
func (r *Recording) serveSubscribe(w http.ResponseWriter, q *http.Request) {
	raw, err := body(w, q, replyLimit)
	if err == nil {
		_, err = aaep.DecodeSubscriptionRequest(raw)
	}
	if err != nil {
		answer, _ := rejection(err).Encode()
		writeRaw(w, http.StatusBadRequest, answer)
		return
	}
	accepted := acceptance()
	answer, err := accepted.Encode()
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Location", aaepRoot+"/events?subscription_id="+url.QueryEscape(accepted.SubscriptionID))
	writeRaw(w, http.StatusCreated, answer)
}

func acceptance() aaep.SubscriptionAccepted {
	var random [16]byte
	_, _ = rand.Read(random[:]) // it never fails
	return aaep.SubscriptionAccepted{
		SubscriptionID: "sub_" + hex.EncodeToString(random[:]), AAEPVersion: aaep.Version,
		Producer: aaep.Producer{AgentID: "earshot-replay"}, NegotiationNotes: "A recording is played as it is; replies are refused.",
	}
}

func rejection(err error) aaep.SubscriptionRejected {
	return aaep.SubscriptionRejected{ReasonCode: aaep.ReasonUnknown, ReasonMessage: "found no subscription.request: " + err.Error()}
}

// serveSocket plays on a WebSocket. With a handshake the first message must be a
// subscription.request, and the first answer is the acceptance (TR-WS-04).
func (r *Recording) serveSocket(w http.ResponseWriter, q *http.Request, handshake bool) {
	socket, err := websocket.Accept(w, q, &websocket.AcceptOptions{Subprotocols: []string{subprotocol}})
	if err != nil {
		r.o.Log.InfoContext(q.Context(), "no WebSocket", "reason", err)
		return
	}
	defer func() { _ = socket.CloseNow() }()
	socket.SetReadLimit(socketLimit)
	if handshake && !greet(q.Context(), socket) {
		return
	}
	ctx := socket.CloseRead(q.Context()) // whoever says more is let go (1008): no reply counts here
	err = r.hear(ctx, func(raw []byte) bool { return sendText(ctx, socket, raw) == nil })
	if err == nil && ctx.Err() == nil {
		_ = socket.Close(closeClean, "the recording has ended")
	}
}

// greet answers the subscription.request, and reports whether it was one.
func greet(ctx context.Context, socket *websocket.Conn) bool {
	waited, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	_, raw, err := socket.Read(waited)
	if err != nil {
		return false
	}
	if _, err := aaep.DecodeSubscriptionRequest(raw); err != nil {
		answer, _ := rejection(err).Encode()
		_ = sendText(ctx, socket, answer)
		_ = socket.Close(closeRejected, "expected a subscription.request first")
		return false
	}
	answer, err := acceptance().Encode()
	return err == nil && sendText(ctx, socket, answer) == nil
}

// sendText sends one message as one text frame (TR-WS-03).
func sendText(ctx context.Context, socket *websocket.Conn, raw []byte) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	return socket.Write(ctx, websocket.MessageText, raw) //nolint:wrapcheck // only whether it went counts
}
