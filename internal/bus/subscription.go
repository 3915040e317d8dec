package bus

import (
	"context"
	"fmt"
	"log/slog"
	"runtime/debug"
	"sync"

	"github.com/nats-io/nats.go"
)

// Subscription is one handler for the subjects of its principal. It is active when it is returned.
//
// Messages are handled one after the other, in order of arrival, on a separate goroutine. The handler's context is the
// one with which the subscription was made; when that ends, so does the subscription. A panic is logged and the next
// message handled. If the handler falls far behind, messages are dropped and the loss is logged: a message is a wakeup,
// and its subject matter is in the ledger.
type Subscription struct {
	client *Client
	subs   []*nats.Subscription
	came   chan *nats.Msg
	log    *slog.Logger
	end    context.CancelFunc
	done   sync.WaitGroup
}

// maxPending is how many messages may wait for the handler before further ones are dropped.
const maxPending = 1 << 14

func newSubscription(ctx context.Context, c *Client, subjects []string, h func(context.Context, Message)) (*Subscription, error) {
	if err := ctx.Err(); err != nil {
		return nil, wireError("listen", false, err)
	}
	s := &Subscription{client: c, came: make(chan *nats.Msg, maxPending), log: c.log}
	for _, subject := range subjects {
		sub, err := c.subscriptions.nats.ChanSubscribe(subject, s.came)
		if err != nil {
			s.unsubscribe()
			return nil, wireError("listen", false, err)
		}
		s.subs = append(s.subs, sub)
		if err := c.subscriptions.confirm(ctx, "listen", subject); err != nil {
			s.unsubscribe()
			return nil, err
		}
	}
	hearing, end := context.WithCancel(ctx)
	s.end = end
	s.done.Go(func() { s.run(ctx, hearing, h) })
	return s, nil
}

// Close ends the subscription and waits for the handler to return; the handler must not call it. It may be called more
// than once.
func (s *Subscription) Close() {
	s.end()
	s.done.Wait()
}

func (s *Subscription) run(ctx, hearing context.Context, h func(context.Context, Message)) {
	defer s.client.forget(s)
	defer s.unsubscribe()
	for {
		select {
		case <-hearing.Done():
			return
		case <-s.client.subscriptions.closed:
			s.log.Warn("bus: subscription ended", "subject", s.subs[0].Subject, "error", "the connection is closed")
			return
		case m := <-s.came:
			if hearing.Err() != nil {
				return
			}
			s.handle(ctx, incoming(m), h)
		}
	}
}

// unsubscribe fails only if the connection is gone, and the subscription with it.
func (s *Subscription) unsubscribe() {
	for _, sub := range s.subs {
		_ = sub.Unsubscribe()
	}
}

func (s *Subscription) handle(ctx context.Context, m Message, h func(context.Context, Message)) {
	defer func() {
		if cause := recover(); cause != nil {
			s.log.Error("bus: handler panicked", "subject", m.Subject, "panic", fmt.Sprint(cause), "stack", string(debug.Stack()))
		}
	}()
	h(ctx, m)
}
