package web

import (
	"context"
	"errors"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/aaep/transport"
	"github.com/earshot-dev/earshot/aaep/transport/stream"
	"github.com/earshot-dev/earshot/api"
)

// refusalTime is how long a peer that is not served may take to send its request, which is answered with that.
const refusalTime = time.Second

// ServeConn serves a subscriber on a connection that has no header for a token, such as a Unix socket, until one of both ends it; then the
// connection is closed. who is what the system says of the peer: it hears, and no more, if it has a role. A message earshot:authenticate
// before the request makes it the principal of that token, with the same rights and limits as elsewhere.
func (s *Server) ServeConn(ctx context.Context, conn transport.Conn, who Principal) {
	v, first, err := s.greet(ctx, conn, who)
	if err != nil {
		s.turnAway(ctx, conn, err)
		return
	}
	ctx, leave, err := s.enter(ctx, v.Principal)
	if err != nil {
		s.turnAway(ctx, conn, err)
		return
	}
	defer leave()
	s.converse(ctx, conn, v, first)
}

// greet finds out who the peer is. first is its request if that has come already.
func (s *Server) greet(ctx context.Context, conn transport.Conn, who Principal) (v visitor, first []byte, err error) {
	within := bodyTime
	ctx, leave, busy := s.enter(ctx, who)
	if busy == nil {
		defer leave()
		defer context.AfterFunc(ctx, func() { conn.Close(stream.ErrGoingAway.Code, stream.ErrGoingAway.Reason) })()
	} else {
		within = refusalTime
	}
	late := time.AfterFunc(within, func() { conn.Close(stream.ErrUnasked.Code, stream.ErrUnasked.Reason) })
	defer late.Stop()
	if first, err = conn.Receive(); err == nil { // it says how the peer frames, also for a refusal
		err = busy
	}
	if err != nil {
		return v, nil, err
	}
	var shown transport.Authenticate
	if err := json.Unmarshal(first, &shown); err != nil || shown.Type != transport.TypeAuthenticate { // the request, or what is judged as one
		v = visitor{Principal: who, again: func() (Principal, error) { return who, nil }}
		return v, first, hears(v, aaep.SubscriptionRejected{
			ReasonCode: aaep.ReasonAuthenticationRequired, ReasonMessage: "Nobody has said who this is. Send earshot:authenticate with a token first.",
		})
	}
	v, err = s.identify(func() (Principal, error) { return s.access.Authenticate(shown.Token) }, surfaceSocket, "")
	if err != nil {
		return v, nil, &rejectedError{unknown(err).rejection(tokenUnknown)}
	}
	return v, nil, hears(v, mayNotHear(v))
}

// hears returns the rejection if the visitor may not hear.
func hears(v visitor, otherwise aaep.SubscriptionRejected) error {
	if denied(v.Principal, api.Listen) != nil {
		return &rejectedError{otherwise}
	}
	return nil
}

// rejectedError is why somebody gets no subscription, before they are heard.
type rejectedError struct{ aaep.SubscriptionRejected }

func (e *rejectedError) Error() string { return e.ReasonMessage }

// turnAway tells a peer why it is not served.
func (s *Server) turnAway(ctx context.Context, conn transport.Conn, why error) {
	s.log.InfoContext(ctx, "a connection is not served", "reason", why)
	if end, is := errors.AsType[*transport.Error](why); is && !end.FromPeer {
		conn.Close(end.Code, end.Reason)
		return
	}
	rejected := aaep.SubscriptionRejected{ReasonCode: aaep.ReasonTransportUnavailable, ReasonMessage: "The server cannot take subscriptions now.", RetryAfterSeconds: 5}
	if known, is := errors.AsType[*rejectedError](why); is {
		rejected = known.SubscriptionRejected
	} else if refusal, is := errors.AsType[*Refusal](why); is && refusal.Kind == api.KindBusy {
		rejected = aaep.SubscriptionRejected{
			ReasonCode: aaep.ReasonRateLimit, ReasonMessage: "Too many streams are open. Close one first.", RetryAfterSeconds: int(refusal.After / time.Second),
		}
	} else if !is {
		conn.Drop() // it has gone
		return
	}
	if answer, err := s.rejection(rejected); err == nil {
		_ = conn.Send(answer) // a peer that has gone is not told
	}
	conn.Close(stream.ErrRejected.Code, stream.ErrRejected.Reason)
}
