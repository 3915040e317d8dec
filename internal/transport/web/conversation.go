package web

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/aaep/transport"
	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/hub"
)

// Why a connection ends, besides the errors of the hub.
var (
	errSilent    = fmt.Errorf("web: no answer to a ping came in time: %w", transport.ErrBroken)
	errUnasked   = &transport.Error{Code: transport.PolicyViolation, Reason: "no subscription.request came in time"}
	errLeft      = &transport.Error{Code: transport.EndedBySubscriber, Reason: "as you asked"}
	errRejected  = &transport.Error{Code: transport.Rejected, Reason: "see subscription.rejected"}
	errOver      = &transport.Error{Code: transport.Clean, Reason: "the subscription has ended"}
	errGoingAway = &transport.Error{Code: transport.GoingAway, Reason: "the server is closing"}
)

// conversation is one subscriber on a connection that carries whole messages. It is the wire of its own stream.
type conversation struct {
	server  *Server
	conn    transport.Conn
	visitor visitor
	end     context.CancelCauseFunc
	stream  *stream
	first   []byte      // the first message, if it has been received already
	begun   chan frames // gets what is to be streamed, once the subscription has begun

	// answering is held from the time that a message has come until its answer is sent, so that no close overtakes it.
	answering    sync.Mutex
	subscription Subscription // nil until it has begun; the goroutine that receives sets it
	points       bool         // whether the subscriber wants to know after which events it can resume

	owned   sync.WaitGroup
	pinging atomic.Bool
}

// converse serves a subscriber until one of both ends it: the request, its answer, the events and the replies. first is the request, if it
// has been received already. The subscription ends with the connection (TR-08).
func (s *Server) converse(ctx context.Context, conn transport.Conn, v visitor, first []byte) {
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	c := &conversation{server: s, conn: conn, visitor: v, first: first, end: end, begun: make(chan frames, 1)}
	c.stream = &stream{wire: c}
	c.run(ctx)
}

// run serves the subscriber until one of both ends it.
func (c *conversation) run(ctx context.Context) {
	late := time.AfterFunc(bodyTime, func() { c.end(errUnasked) })
	defer late.Stop()
	c.owned.Go(func() { c.end(c.receive(ctx)) })
	select {
	case <-ctx.Done():
	case from := <-c.begun:
		late.Stop()
		c.end(cmp.Or(c.stream.run(ctx, from, c.server.watch(c.visitor)), error(errOver)))
	}
	c.close(ctx)
	c.owned.Wait()
	if c.subscription != nil {
		c.subscription.Close()
	}
}

// receive takes the subscriber's messages and returns why there are no more.
func (c *conversation) receive(ctx context.Context) error {
	if c.first != nil {
		if err := c.answer(ctx, c.first); err != nil {
			return err
		}
	}
	for {
		raw, err := c.conn.Receive()
		if err != nil {
			return err
		}
		if err := c.answer(ctx, raw); err != nil {
			return err
		}
	}
}

// answer handles a message. An error ends the connection.
func (c *conversation) answer(ctx context.Context, raw []byte) error {
	c.answering.Lock()
	defer c.answering.Unlock()
	if ctx.Err() != nil { // it came too late, while the connection was being closed
		return context.Cause(ctx) //nolint:wrapcheck // it is known already
	}
	if !c.server.watch(c.visitor).valid() { // the stream may not have heard of it yet
		return errRevoked
	}
	if c.subscription == nil {
		return c.subscribe(ctx, raw)
	}
	leaves := isClose(raw, c.subscription.ID())
	if leaves {
		c.end(errLeft) // the first reason counts, and the hub's is not known to be the subscriber's
	}
	answer, err := c.server.message(ctx, c.visitor, raw)
	switch {
	case err != nil:
		return c.refused(ctx, raw, err)
	case answer != nil:
		return c.stream.send(frame{data: answer})
	}
	return nil
}

// subscribe takes the first message. Its answer is the first frame that is sent (TR-WS-04).
func (c *conversation) subscribe(ctx context.Context, raw []byte) error {
	request, err := aaep.DecodeSubscriptionRequest(raw)
	if err != nil {
		return c.reject(unreadRequest(err))
	}
	subscription, accepted, rejected := c.server.openSubscription(ctx, c.visitor, request)
	if rejected != nil {
		return c.reject(*rejected)
	}
	c.subscription = subscription
	after, points := resumption(request)
	if err := c.stream.send(frame{data: accepted}); err != nil {
		return err
	}
	c.points = points
	c.begun <- func(ctx context.Context, send func([]frame) bool) error {
		return c.server.deliver(ctx, subscription, after, "", send)
	}
	return nil
}

func (c *conversation) reject(r aaep.SubscriptionRejected) error {
	answer, err := c.server.rejection(r)
	if err != nil {
		return err
	}
	if err := c.stream.send(frame{data: answer}); err != nil {
		return err
	}
	return errRejected
}

// refused tells the subscriber why a reply was not taken, where it can act on that, and otherwise returns how the connection ends:
// unlike a request, a message on a socket has no status, and what was not taken must not look like what was.
func (c *conversation) refused(ctx context.Context, raw []byte, err error) error {
	refusal, is := errors.AsType[*Refusal](err)
	if !is {
		c.server.log.ErrorContext(ctx, "a message could not be taken", "error", err)
		return &transport.Error{Code: transport.InternalError, Reason: "the server could not take the message", Err: err}
	}
	if !slices.Contains(actedOn, refusal.Code) {
		return &transport.Error{Code: refusal.closeCode(), Reason: refusal.Message, Err: err}
	}
	token, _ := aaep.Read(raw).Text("reply_token")
	answer, err := json.Marshal(api.ReplyRefused{Type: transport.TypeReplyRefused, Token: token, Error: refusal.body()})
	if err != nil {
		return err //nolint:wrapcheck // it cannot happen: it has texts only
	}
	return c.stream.send(frame{data: answer})
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

// write implements [wire]: each frame is a message. After them it says after which event the subscriber can resume, if it wants to know.
func (c *conversation) write(group []frame) error {
	messages, point := make([][]byte, 0, len(group)+1), ""
	for _, f := range group {
		messages = append(messages, f.data)
		point = cmp.Or(f.id, point)
	}
	if c.points && point != "" {
		mark, err := json.Marshal(transport.ResumePoint{Type: transport.TypeResumePoint, EventID: point})
		if err != nil {
			return fmt.Errorf("web: stream: %w", err)
		}
		messages = append(messages, mark)
	}
	return c.conn.Send(messages...)
}

// beat implements [wire]: a ping, whose answer has to come before the next is due.
func (c *conversation) beat() error {
	if !c.pinging.CompareAndSwap(false, true) {
		return errSilent
	}
	c.owned.Go(func() {
		defer c.pinging.Store(false)
		if err := c.conn.Ping(); err != nil {
			c.end(errSilent)
		}
	})
	return nil
}

// close ends the connection with the code for the reason. A peer that has gone is not told.
func (c *conversation) close(ctx context.Context) {
	c.answering.Lock()
	defer c.answering.Unlock()
	why := context.Cause(ctx)
	if errors.Is(why, transport.ErrBroken) {
		c.server.log.InfoContext(ctx, "a stream has ended", "principal", c.visitor.Name, "reason", why)
		c.conn.Drop()
		return
	}
	ending := c.ending(why)
	c.server.log.InfoContext(ctx, "a stream has ended", "principal", c.visitor.Name, "code", int(ending.Code), "reason", why)
	if ending.FromPeer {
		c.conn.Drop()
		return
	}
	c.conn.Close(ending.Code, ending.Reason)
}

// ending returns the close code for a reason.
func (c *conversation) ending(why error) *transport.Error {
	if known, is := errors.AsType[*transport.Error](why); is {
		return known
	}
	switch {
	case errors.Is(why, context.Canceled), errors.Is(why, hub.ErrStopping), errors.Is(why, hub.ErrLedgerChanged):
		return errGoingAway
	case errors.Is(why, hub.ErrClosed), errors.Is(why, hub.ErrSuperseded):
		return errOver
	case errors.Is(why, hub.ErrRefused):
		return errRejected
	case errors.Is(why, errRevoked), errors.Is(why, hub.ErrRevoked):
		if _, err := c.visitor.again(); err != nil {
			return &transport.Error{Code: transport.NotAuthenticated, Reason: "the token is not valid any more"}
		}
		return &transport.Error{Code: transport.NotAllowed, Reason: "the rights of the token have changed"}
	}
	return &transport.Error{Code: transport.InternalError, Reason: "the server could not go on"}
}

// isClose reports whether a message ends the subscription.
func isClose(raw []byte, subscription string) bool {
	m, err := aaep.DecodeSubscriptionClose(raw)
	return err == nil && m.SubscriptionID == subscription
}

// resumption returns what the capability earshot asks for with resume: the event to go on behind, and that the subscriber wants to be
// told after which events it can do so (TR-WS-06 has none of this).
func resumption(r aaep.SubscriptionRequest) (after string, points bool) {
	ours := aaep.Read(r.Capabilities.Extensions[aaep.PrefixEarshot])
	after, _ = ours.Text("resume", "after")
	return after, ours.Has("resume")
}
