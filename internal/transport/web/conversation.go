package web

import (
	"context"
	"errors"
	"slices"

	"github.com/go-json-experiment/json"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/aaep/transport"
	"github.com/earshot-dev/earshot/aaep/transport/stream"
	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/hub"
)

// converse serves a subscriber on a connection that carries whole messages, until one of both ends it. first is the request, if it has
// been received already.
func (s *Server) converse(ctx context.Context, conn transport.Conn, v visitor, first []byte) {
	stream.Converse(ctx, conn, &peer{watch: s.watch(v), server: s}, first)
}

// peer is a subscriber on a connection. It is the [stream.Host] of its conversation.
type peer struct {
	*watch

	server *Server
}

// Subscribe implements [stream.Host].
func (p *peer) Subscribe(ctx context.Context, raw []byte) (stream.Subscription, []byte, error) {
	request, err := aaep.DecodeSubscriptionRequest(raw)
	if err != nil {
		answer, err := p.server.rejection(unreadRequest(err))
		return nil, answer, err
	}
	subscription, accepted, rejected := p.server.openSubscription(ctx, p.who, request)
	if rejected != nil {
		answer, err := p.server.rejection(*rejected)
		return nil, answer, err
	}
	return subscribed{subscription, p.server}, accepted, nil
}

// subscribed is a subscription whose events are messages.
type subscribed struct {
	Subscription

	server *Server
}

// Frames implements [stream.Subscription].
func (s subscribed) Frames(ctx context.Context, after string, send func([]stream.Frame) bool) error {
	return s.server.deliver(ctx, s.Subscription, after, "", send)
}

// Message implements [stream.Host]. It tells the subscriber why a reply was not taken, where it can act on that, and otherwise returns
// how the connection ends: unlike a request, a message on a connection has no status, and what was not taken must not look like what was.
func (p *peer) Message(ctx context.Context, raw []byte) ([]byte, error) {
	answer, err := p.server.message(ctx, p.who, raw)
	if err == nil {
		return answer, nil
	}
	refusal, is := errors.AsType[*Refusal](err)
	if !is {
		p.server.log.ErrorContext(ctx, "a message could not be taken", "error", err)
		return nil, &transport.Error{Code: transport.InternalError, Reason: "the server could not take the message", Err: err}
	}
	if !slices.Contains(actedOn, refusal.Code) {
		return nil, &transport.Error{Code: refusal.closeCode(), Reason: refusal.Message, Err: err}
	}
	token, _ := aaep.Read(raw).Text("reply_token")
	return json.Marshal(api.ReplyRefused{Type: transport.TypeReplyRefused, Token: token, Error: refusal.body()}) //nolint:wrapcheck // it has texts only
}

// closeCode returns how a connection ends after a message that was refused so.
func (r *Refusal) closeCode() transport.Code {
	switch {
	case r.SafeToRetry():
		return transport.TryAgainLater
	case r.Kind == api.KindUnauthenticated:
		return transport.NotAuthenticated
	case r.Kind == api.KindForbidden:
		return transport.NotAllowed
	}
	return transport.Violation
}

// Ended implements [stream.Host].
func (p *peer) Ended(ctx context.Context, why error) *transport.Error {
	p.server.log.InfoContext(ctx, "a stream has ended", "principal", p.who.Name, "reason", why)
	switch {
	case errors.Is(why, context.Canceled), errors.Is(why, hub.ErrStopping), errors.Is(why, hub.ErrLedgerChanged):
		return stream.ErrGoingAway
	case errors.Is(why, hub.ErrClosed), errors.Is(why, hub.ErrSuperseded):
		return stream.ErrDone
	case errors.Is(why, hub.ErrRefused):
		return stream.ErrRejected
	case errors.Is(why, stream.ErrRevoked), errors.Is(why, hub.ErrRevoked):
		if _, err := p.who.again(); err != nil {
			return &transport.Error{Code: transport.NotAuthenticated, Reason: "the token is not valid any more"}
		}
		return &transport.Error{Code: transport.NotAllowed, Reason: "the rights of the token have changed"}
	}
	return &transport.Error{Code: transport.InternalError, Reason: "the server could not go on"}
}
