package serve

import (
	"context"
	"time"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/aaep/pacing"
	"github.com/earshot-dev/earshot/aaep/transport"
	"github.com/earshot-dev/earshot/aaep/transport/stream"
)

// errSlow ends the stream of a subscriber for whom too much waits. It can come back, and begins with what is under way then.
var errSlow = &transport.Error{Code: transport.TryAgainLater, Reason: "more has happened than this subscription can take in"}

// subscription is one subscriber's. It has one stream at a time. Everything but its producer is guarded by that one's mu.
type subscription struct {
	producer   *Producer
	id         string
	subscriber string // its own id, which stays the same when it connects again
	token      string // that it was made with
	since      int    // how many sessions had begun before it

	terms    pacing.Terms
	accepted aaep.SubscriptionAccepted
	version  int // of the terms
	trail    pacing.Trail
	bell     chan struct{} // something has happened
	current  *delivery     // of the current stream; nil without one
	idle     time.Time     // since when there is none
}

var _ stream.Subscription = (*subscription)(nil)

// subscribe grants terms. The answer is what is sent to the subscriber; without a subscription it is a rejection.
func (p *Producer) subscribe(token string, request aaep.SubscriptionRequest) (*subscription, aaep.SubscriptionAccepted, *aaep.SubscriptionRejected) {
	rights, rejected := p.admit(token)
	if rejected != nil {
		return nil, aaep.SubscriptionAccepted{}, rejected
	}
	id, err := aaep.NewID(aaep.PrefixSubscription, p.o.Now(), p.o.Rand)
	if err != nil {
		return nil, aaep.SubscriptionAccepted{}, unavailable()
	}
	request.Capabilities = within(rights, request.Capabilities)
	terms, accepted, rejected := pacing.Negotiate(request, p.o.offer(), id)
	if rejected != nil {
		return nil, accepted, rejected
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.sweep()
	switch {
	case p.isClosed():
		return nil, accepted, unavailable()
	case len(p.subs) >= p.o.Subscriptions:
		return nil, accepted, &aaep.SubscriptionRejected{ReasonCode: aaep.ReasonRateLimit, ReasonMessage: "There are too many subscriptions.", RetryAfterSeconds: 60}
	}
	s := &subscription{
		producer: p, id: id, subscriber: request.SubscriberID, token: token, since: p.begun, terms: terms, accepted: accepted, bell: make(chan struct{}, 1), idle: p.o.Now(),
	}
	p.subs[id] = s
	return s, accepted, nil
}

// admit returns the rights of a token, or why it may not hear.
func (p *Producer) admit(token string) (Rights, *aaep.SubscriptionRejected) {
	rights := p.o.Allow(token)
	switch {
	case rights.Hears:
		return rights, nil
	case token == "":
		return rights, &aaep.SubscriptionRejected{ReasonCode: aaep.ReasonAuthenticationRequired, ReasonMessage: "Nobody has said who this is. Send a token."}
	}
	return rights, &aaep.SubscriptionRejected{ReasonCode: aaep.ReasonAuthorizationDenied, ReasonMessage: "This token may not hear. Send another."}
}

func unavailable() *aaep.SubscriptionRejected {
	return &aaep.SubscriptionRejected{ReasonCode: aaep.ReasonTransportUnavailable, ReasonMessage: "The producer takes no subscriptions now.", RetryAfterSeconds: 5}
}

// within takes from capabilities what somebody may not do: what is granted must be kept (HS-32).
func within(r Rights, c aaep.Capabilities) aaep.Capabilities {
	if !r.Answers {
		c.SupportsConfirmationReply, c.SupportsClarificationReply = nil, nil
	}
	return c
}

// renegotiate changes the terms. If they cannot be granted, the subscription has ended (HS-61).
func (s *subscription) renegotiate(r aaep.SubscriptionRenegotiate) (aaep.SubscriptionAccepted, *aaep.SubscriptionRejected) {
	asked := within(s.producer.o.Allow(s.token), r.Capabilities)
	s.producer.mu.Lock()
	terms, accepted, rejected := s.terms.Renegotiate(asked, s.producer.o.offer())
	if rejected == nil {
		s.terms, s.accepted = terms, accepted
		s.version++
		s.ring()
	}
	s.producer.mu.Unlock()
	if rejected != nil {
		s.Close()
	}
	return accepted, rejected
}

// ID implements [stream.Subscription].
func (s *subscription) ID() string { return s.id }

// Close implements [stream.Subscription]: the subscription has ended, and only its trail is kept for a while.
func (s *subscription) Close() {
	p := s.producer
	p.mu.Lock()
	defer p.mu.Unlock()
	if _, open := p.subs[s.id]; !open {
		return
	}
	delete(p.subs, s.id)
	s.idle = p.o.Now()
	p.left = append(p.left, s)
	if s.current != nil {
		s.current.stop(stream.ErrDone)
		s.current = nil
	}
}

// ring wakes the stream. The caller holds mu.
func (s *subscription) ring() {
	select {
	case s.bell <- struct{}{}:
	default:
	}
}

// Frames implements [stream.Subscription]. The newest stream wins.
func (s *subscription) Frames(ctx context.Context, after string, send func([]stream.Frame) bool) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	d, err := s.begin(cancel, after)
	if err != nil {
		return err
	}
	defer s.leave(d)
	for {
		group, wake, err := d.next()
		if err != nil {
			return err
		}
		if len(group) > 0 && !send(group) {
			return nil
		}
		if err := s.rest(ctx, wake); err != nil {
			return ending(err)
		}
	}
}

// ending is the error of a stream that was ended here; nil for one that its reader has left.
func ending(err error) error {
	if e, is := err.(*transport.Error); is { //nolint:errorlint // ours are never wrapped
		return e
	}
	return nil
}

// rest waits until there may be something to send.
func (s *subscription) rest(ctx context.Context, wake time.Time) error {
	var due <-chan time.Time
	if !wake.IsZero() {
		timer := time.NewTimer(wake.Sub(s.producer.o.Now()))
		defer timer.Stop()
		due = timer.C
	}
	select {
	case <-ctx.Done():
		return context.Cause(ctx) //nolint:wrapcheck // ending judges it
	case <-s.producer.closed:
		return stream.ErrGoingAway
	case <-s.bell:
	case <-due:
	}
	return nil
}

// begin makes a delivery the current one.
func (s *subscription) begin(stop context.CancelCauseFunc, after string) (*delivery, error) {
	p := s.producer
	p.mu.Lock()
	defer p.mu.Unlock()
	if _, open := p.subs[s.id]; !open {
		return nil, stream.ErrDone
	}
	if s.current != nil {
		s.current.stop(stream.ErrDone)
	}
	s.current = newDelivery(s, stop)
	return s.current, s.current.start(after)
}

// leave notes that a stream has ended, unless another has replaced it.
func (s *subscription) leave(d *delivery) {
	s.producer.mu.Lock()
	defer s.producer.mu.Unlock()
	if d == s.current {
		s.current, s.idle = nil, s.producer.o.Now()
	}
}
