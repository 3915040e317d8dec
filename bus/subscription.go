package bus

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"sync"

	"github.com/nats-io/nats.go"
)

// Subscription is one handler that hears one subject, from the moment it is returned.
//
// Messages are handled one after the other, in the order in which they came, on a
// goroutine of its own. The handler's context is the one that the subscription was
// made with; when that is done, the subscription ends. A panic is logged and the next
// message handled. When the handler falls far behind, messages are dropped and the
// loss is logged: a message is a bell, and what it rang for is in the ledger.
type Subscription struct {
	client *Client
	sub    *nats.Subscription
	log    *slog.Logger
	end    context.CancelFunc
	done   sync.WaitGroup
}

func newSubscription(ctx context.Context, c *Client, subject string, h func(context.Context, Message)) (*Subscription, error) {
	if err := ctx.Err(); err != nil {
		return nil, wireError("listen", false, err)
	}
	sub, err := c.ear.nats.SubscribeSync(subject)
	if err != nil {
		return nil, wireError("listen", false, err)
	}
	if err := c.ear.confirm(ctx, "listen", subject); err != nil {
		_ = sub.Unsubscribe() // lost or refused, it hears nothing anyway
		return nil, err
	}
	s := &Subscription{client: c, sub: sub, log: c.log}
	hearing, end := context.WithCancel(ctx)
	s.end = end
	s.done.Go(func() { s.hear(ctx, hearing, h) })
	return s, nil
}

// Close stops hearing and waits for the handler to return; it is not for the handler
// itself to call. It may be called more than once.
func (s *Subscription) Close() {
	s.end()
	s.done.Wait()
}

func (s *Subscription) hear(ctx, hearing context.Context, h func(context.Context, Message)) {
	defer s.client.forget(s)
	defer func() { _ = s.sub.Unsubscribe() }() // fails only if the connection is gone
	for {
		m, err := s.sub.NextMsgWithContext(hearing)
		switch {
		case hearing.Err() != nil:
			return
		case err == nil:
			s.handle(ctx, incoming(m), h)
		case errors.Is(err, nats.ErrSlowConsumer):
			// Messages were dropped; the loss has been logged and the next one is good.
		default:
			s.log.Warn("bus: subscription ended", "subject", s.sub.Subject, "error", err)
			return
		}
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
