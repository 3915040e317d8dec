package web

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/aaep/transport"
	"github.com/earshot-dev/earshot/aaep/transport/socket"
	"github.com/earshot-dev/earshot/api"
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
	conn, err := socket.Accept(w, q, socket.Options{Limit: replyLimit})
	if err != nil {
		r.o.Log.InfoContext(q.Context(), "no WebSocket", "reason", err)
		return
	}
	defer conn.Drop()
	if handshake && !greet(conn) {
		return
	}
	ctx, cancel := context.WithCancel(q.Context())
	var answer sync.WaitGroup
	answer.Go(func() {
		defer cancel()
		discard(conn)
	})
	defer func() {
		conn.Drop()
		answer.Wait()
	}()
	err = r.play(ctx, func(raw []byte) bool { return conn.Send(raw) == nil })
	if err == nil && ctx.Err() == nil {
		conn.Close(transport.Clean, "the recording has ended")
	}
}

// discard reads and ignores what a listener sends while the recording is played, until the connection ends. A listener
// may subscribe first, as it would elsewhere. A reply closes the connection, because no reply counts here.
func discard(conn *socket.Conn) {
	for {
		raw, err := conn.Receive()
		if err != nil {
			refuseMessage(conn, err)
			return
		}
		if answer, _ := aaep.Read(raw).Text("type"); !strings.HasPrefix(answer, "subscription.") {
			conn.Close(transport.PolicyViolation, "this is a recording: no reply counts here")
			return
		}
	}
}

// refuseMessage closes a connection for a message that is not received.
func refuseMessage(conn *socket.Conn, err error) {
	if refused, is := errors.AsType[*transport.Error](err); is && !refused.FromPeer {
		conn.Close(refused.Code, refused.Reason)
	}
}

// greet answers the subscription.request. It returns false if the message was not one.
func greet(conn *socket.Conn) bool {
	late := time.AfterFunc(bodyTime, conn.Drop)
	raw, err := conn.Receive()
	if !late.Stop() || err != nil {
		refuseMessage(conn, err)
		return false
	}
	request, err := aaep.DecodeSubscriptionRequest(raw)
	if err != nil {
		answer, _ := rejection(err).Encode()
		_ = conn.Send(answer)
		conn.Close(transport.Rejected, "expected a subscription.request first")
		return false
	}
	answer, err := acceptance(request).Encode()
	return err == nil && conn.Send(answer) == nil
}
