package stream

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/aaep/transport"
)

// RequestTimeout is how long a peer may take to ask for its subscription.
const RequestTimeout = 10 * time.Second

// How a connection ends, besides what its [Host] says.
var (
	// ErrUnasked: the peer has asked for nothing in time.
	ErrUnasked = &transport.Error{Code: transport.PolicyViolation, Reason: "no subscription.request came in time"}
	// ErrRejected: the answer was a subscription.rejected.
	ErrRejected = &transport.Error{Code: transport.Rejected, Reason: "see subscription.rejected"}
	// ErrDone: the subscription has ended.
	ErrDone = &transport.Error{Code: transport.Clean, Reason: "the subscription has ended"}
	// ErrGoingAway: the server ends.
	ErrGoingAway = &transport.Error{Code: transport.GoingAway, Reason: "the server is closing"}

	errLeft   = &transport.Error{Code: transport.EndedBySubscriber, Reason: "as you asked"}
	errSilent = fmt.Errorf("no answer to a ping came in time: %w", transport.ErrBroken)
)

// Host decides about the subscription and the replies of one peer.
type Host interface {
	Permit

	// Subscribe takes the first message of the peer, and returns what is sent to it, if anything. Without a subscription that is a
	// rejection, after which the connection ends.
	Subscribe(ctx context.Context, raw []byte) (s Subscription, answer []byte, err error)
	// Message takes what the peer sends afterwards, and returns what is sent to it, if anything. An error ends the connection.
	Message(ctx context.Context, raw []byte) (answer []byte, err error)
	// Ended is told why a connection ends, and returns how: a code and a reason for the peer.
	Ended(ctx context.Context, why error) *transport.Error
}

// Subscription is what a peer has subscribed to.
type Subscription interface {
	ID() string
	// Frames sends the events, those after the event with this id if it is not "". A frame with an id is a point after which the
	// peer can resume. It works as a [Source].
	Frames(ctx context.Context, after string, send func([]Frame) bool) error
	// Close ends it.
	Close()
}

// conversation is one peer on a connection. It is the wire of its own stream.
type conversation struct {
	host   Host
	conn   transport.Conn
	end    context.CancelCauseFunc
	sender *Sender
	first  []byte      // the first message, if it has been received already
	begun  chan Source // gets what is to be streamed, once the subscription has begun

	// answering is held from the time that a message has come until its answer is sent, so that no close overtakes it.
	answering    sync.Mutex
	subscription Subscription // nil until it has begun; the goroutine that receives sets it
	points       bool         // whether the peer wants to know after which events it can resume

	owned   sync.WaitGroup
	pinging atomic.Bool
}

// Converse serves a peer until one of both ends it: the request, its answer, the events and the replies. first is the request, if it has
// been received already. The subscription and the connection have ended when it returns (TR-08).
func Converse(ctx context.Context, conn transport.Conn, host Host, first []byte) {
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	c := &conversation{host: host, conn: conn, first: first, end: end, begun: make(chan Source, 1)}
	c.sender = &Sender{wire: c}
	c.run(ctx)
}

func (c *conversation) run(ctx context.Context) {
	late := time.AfterFunc(RequestTimeout, func() { c.end(ErrUnasked) })
	defer late.Stop()
	c.owned.Go(func() { c.end(c.receive(ctx)) })
	select {
	case <-ctx.Done():
	case from := <-c.begun:
		late.Stop()
		c.end(cmp.Or(c.sender.Run(ctx, from, c.host), error(ErrDone)))
	}
	c.close(ctx)
	c.owned.Wait()
	if c.subscription != nil {
		c.subscription.Close()
	}
}

// receive takes the peer's messages and returns why there are no more.
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
	if !c.host.Valid() { // the stream may not have heard of it yet
		return ErrRevoked
	}
	if c.subscription == nil {
		return c.subscribe(ctx, raw)
	}
	if isClose(raw, c.subscription.ID()) {
		c.end(errLeft) // the first reason counts, and the host's is not known to be the peer's
	}
	answer, err := c.host.Message(ctx, raw)
	if err != nil || answer == nil {
		return err
	}
	return c.sender.Send(Frame{Data: answer})
}

// subscribe takes the first message. Its answer is the first frame that is sent (TR-WS-04).
func (c *conversation) subscribe(ctx context.Context, raw []byte) error {
	subscription, answer, err := c.host.Subscribe(ctx, raw)
	if err != nil {
		return err
	}
	c.subscription = subscription
	if answer != nil {
		if err := c.sender.Send(Frame{Data: answer}); err != nil {
			return err
		}
	}
	if subscription == nil {
		return ErrRejected
	}
	after := ""
	after, c.points = resumption(raw)
	c.begun <- func(ctx context.Context, send func([]Frame) bool) error {
		return subscription.Frames(ctx, after, send)
	}
	return nil
}

// resumption returns what the capability earshot asks for with resume: the event to go on after, and that the peer wants to be told
// after which events it can do so (TR-WS-06 has none of this).
func resumption(request []byte) (after string, points bool) {
	asked := aaep.Read(request)
	after, _ = asked.Text("capabilities", aaep.PrefixEarshot, "resume", "after")
	return after, asked.Has("capabilities", aaep.PrefixEarshot, "resume")
}

// isClose reports whether a message ends the subscription.
func isClose(raw []byte, subscription string) bool {
	m, err := aaep.DecodeSubscriptionClose(raw)
	return err == nil && m.SubscriptionID == subscription
}

// write implements [wire]: each frame is a message. After them it says after which event the peer can resume, if it wants to know.
func (c *conversation) write(group []Frame) error {
	messages, point := make([][]byte, 0, len(group)+1), ""
	for _, f := range group {
		messages = append(messages, f.Data)
		point = cmp.Or(f.ID, point)
	}
	if c.points && point != "" {
		mark, err := json.Marshal(transport.ResumePoint{Type: transport.TypeResumePoint, EventID: point})
		if err != nil {
			return fmt.Errorf("the stream: %w", err)
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
	ending := c.host.Ended(ctx, why)
	if known, is := errors.AsType[*transport.Error](why); is {
		ending = known
	}
	if errors.Is(why, transport.ErrBroken) || ending.FromPeer {
		c.conn.Drop()
		return
	}
	c.conn.Close(ending.Code, ending.Reason)
}
