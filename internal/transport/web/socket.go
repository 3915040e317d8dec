package web

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"net/http"
	"net/url"
	"strings"
	"sync"

	"github.com/coder/websocket"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/api"
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
	var request aaep.SubscriptionRequest
	raw, err := body(w, q, replyLimit)
	if err == nil {
		request, err = aaep.DecodeSubscriptionRequest(raw)
	}
	if err != nil {
		answer, _ := rejection(err).Encode()
		writeRaw(w, http.StatusBadRequest, answer)
		return
	}
	accepted := acceptance(request)
	answer, err := accepted.Encode()
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Location", api.AAEPRoot+"/events?subscription_id="+url.QueryEscape(accepted.SubscriptionID))
	writeRaw(w, http.StatusCreated, answer)
}

// acceptance grants what a recording can keep: nobody can answer its questions, and anyone may watch them.
func acceptance(r aaep.SubscriptionRequest) aaep.SubscriptionAccepted {
	var random [16]byte
	_, _ = rand.Read(random[:]) // it never fails
	accepted := aaep.SubscriptionAccepted{
		SubscriptionID: "sub_" + hex.EncodeToString(random[:]), AAEPVersion: aaep.Version,
		Producer: aaep.Producer{AgentID: "earshot-replay"}, NegotiationNotes: "A recording is played as it is; replies are refused.",
	}
	if observes, _ := aaep.Read(r.Capabilities.Extensions[aaep.PrefixEarshot]).Flag("observe_questions"); observes {
		accepted.HonoredCapabilities.Extensions = map[string]jsontext.Value{aaep.PrefixEarshot: jsontext.Value(`{"observe_questions":true}`)}
	}
	return accepted
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
	ctx, cancel := context.WithCancel(q.Context())
	var answer sync.WaitGroup
	answer.Go(func() {
		defer cancel()
		discard(ctx, socket)
	})
	defer func() {
		_ = socket.CloseNow()
		answer.Wait()
	}()
	err = r.play(ctx, func(raw []byte) bool { return sendText(ctx, socket, raw) == nil })
	if err == nil && ctx.Err() == nil {
		_ = socket.Close(closeClean, "the recording has ended")
	}
}

// discard reads and ignores what a listener sends while the recording is played, until the connection ends. A listener
// may subscribe first, as it would elsewhere. A reply closes the connection, because no reply counts here.
func discard(ctx context.Context, socket *websocket.Conn) {
	for {
		_, raw, err := socket.Read(ctx)
		if err != nil {
			return
		}
		if answer, _ := aaep.Read(raw).Text("type"); !strings.HasPrefix(answer, "subscription.") {
			_ = socket.Close(websocket.StatusPolicyViolation, "this is a recording: no reply counts here")
			return
		}
	}
}

// greet answers the subscription.request. It returns false if the message was not one.
func greet(ctx context.Context, socket *websocket.Conn) bool {
	waited, cancel := context.WithTimeout(ctx, writeTimeout)
	defer cancel()
	_, raw, err := socket.Read(waited)
	if err != nil {
		return false
	}
	request, err := aaep.DecodeSubscriptionRequest(raw)
	if err != nil {
		answer, _ := rejection(err).Encode()
		_ = sendText(ctx, socket, answer)
		_ = socket.Close(closeRejected, "expected a subscription.request first")
		return false
	}
	answer, err := acceptance(request).Encode()
	return err == nil && sendText(ctx, socket, answer) == nil
}

// sendText sends one message as one text frame (TR-WS-03).
func sendText(ctx context.Context, socket *websocket.Conn, raw []byte) error {
	ctx, cancel := context.WithTimeout(ctx, writeTimeout)
	defer cancel()
	return socket.Write(ctx, websocket.MessageText, raw) //nolint:wrapcheck // only whether it went counts
}
