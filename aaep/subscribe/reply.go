package subscribe

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/aaep/transport"
)

// Confirm answers a question for a confirmation. SubscriptionID and Timestamp are filled in if they are not set. A nil error says that the
// producer has got the reply, over server-sent events, or that it was sent, on a connection; what has become of it says the
// agent.state.changed that follows.
func (s *Subscription) Confirm(ctx context.Context, r aaep.ConfirmationReply) error {
	s.stamp(&r.Timestamp)
	return s.say(ctx, func(id string) ([]byte, error) {
		r.SubscriptionID = cmp.Or(r.SubscriptionID, id)
		return r.Encode()
	})
}

// Clarify answers a question for a clarification, as [Subscription.Confirm] does.
func (s *Subscription) Clarify(ctx context.Context, r aaep.ClarificationReply) error {
	s.stamp(&r.Timestamp)
	return s.say(ctx, func(id string) ([]byte, error) {
		r.SubscriptionID = cmp.Or(r.SubscriptionID, id)
		return r.Encode()
	})
}

// Extend asks for more time to answer a question, as Earshot's extension has it, as [Subscription.Confirm] does.
func (s *Subscription) Extend(ctx context.Context, r aaep.QuestionExtend) error {
	s.stamp(&r.Timestamp)
	return s.say(ctx, func(id string) ([]byte, error) {
		r.SubscriptionID = cmp.Or(r.SubscriptionID, id)
		return r.Encode()
	})
}

// stamp fills in when somebody answers.
func (s *Subscription) stamp(at *time.Time) {
	if at.IsZero() {
		*at = s.o.Now()
	}
}

// Renegotiate asks for other terms, for the capabilities that it names (§5.7); the subscriptions of later connections are asked for with
// them too. Which hold is what [Subscription.Terms] says once the producer has answered: over server-sent events when this returns, on a
// connection when Messages has yielded the answer. A producer that refuses ends the subscription.
func (s *Subscription) Renegotiate(ctx context.Context, change aaep.Capabilities) error {
	err := s.say(ctx, func(id string) ([]byte, error) {
		return aaep.SubscriptionRenegotiate{SubscriptionID: id, Capabilities: change}.Encode()
	})
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.wanted = s.wanted.With(change)
	return nil
}

// say sends a message of this subscriber on the connection that there is, of the subscription that is there at that moment.
func (s *Subscription) say(ctx context.Context, encode func(subscription string) ([]byte, error)) error {
	s.mu.Lock()
	id, conn := s.terms.SubscriptionID, s.conn
	s.mu.Unlock()
	if id == "" {
		if at, err := s.o.target(); err == nil && at.direct() {
			return s.sayDirect(ctx, at, encode)
		}
		return &Error{Code: CodeUnreachable, Message: "the message was not sent: there is no subscription at the moment", Hint: "send it again once there is one"}
	}
	raw, invalid := encode(id)
	switch {
	case invalid != nil:
		return &Error{Code: CodeUsage, Message: "the message cannot be sent: " + plain(invalid), Err: invalid}
	case conn != nil:
		if err := conn.Send(raw); err != nil {
			return unreachable("the producer", err)
		}
		return nil
	}
	at, err := s.o.target()
	if err != nil {
		return err
	}
	got, err := s.post(ctx, at, at.at("replies"), raw)
	if err != nil {
		return err
	}
	kind, _ := aaep.Read(got.body).Text("type")
	switch {
	case got.status >= http.StatusMultipleChoices || kind == aaep.TypeSubscriptionRejected:
		return refused(at.url.Host, got.path, got.status, got.body)
	case kind == aaep.TypeSubscriptionAccepted:
		s.accept(got.body)
	}
	return nil
}

// sayDirect sends a message to the producer of a stream without subscriptions.
func (s *Subscription) sayDirect(ctx context.Context, at target, encode func(subscription string) ([]byte, error)) error {
	if at.replies == "" {
		return &Error{
			Code: CodeUnanswerable, Message: at.url.Redacted() + " is a stream without subscriptions, which takes no messages",
			Hint: "say where its producer takes replies, or use an address of it that can be subscribed to",
		}
	}
	raw, invalid := encode(noSubscription)
	if invalid != nil {
		return &Error{Code: CodeUsage, Message: "the message cannot be sent: " + plain(invalid), Err: invalid}
	}
	got, err := s.post(ctx, at, at.replies, raw)
	if err == nil && got.status >= http.StatusMultipleChoices {
		return &Error{
			Code: CodeReplyRefused, Message: fmt.Sprintf("%s answers \"%d %s\" to a message at %s, expected 200", at.url.Host, got.status, http.StatusText(got.status), got.path),
			Hint: "check where the producer takes replies, and the token", Raw: raw,
		}
	}
	return err
}

// TakesReplies reports whether there is a way for replies to the producer: there is none to a stream without subscriptions, unless
// [Options.RepliesTo] says one.
func (s *Subscription) TakesReplies() bool {
	at, err := s.o.target()
	return err != nil || !at.direct() || at.replies != ""
}

// noSubscription stands for the subscription in a message to a producer that has none.
const noSubscription = "sub_none"

// Close ends the subscription and tells the producer why, in words for people; the sequence of messages then ends without an error.
func (s *Subscription) Close(ctx context.Context, reason string) {
	s.mu.Lock()
	s.closed = true
	conn, ends := s.conn, s.closing
	s.mu.Unlock()
	if conn != nil {
		conn.Close(transport.EndedBySubscriber, reason)
	} else {
		s.goodbye(ctx, reason)
	}
	ends()
}

// leave ends a subscription over HTTP, which does not end with its connection.
func (t *stream) leave(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), leaveTimeout)
	defer cancel()
	if !t.ended {
		t.goodbye(ctx, "")
	}
}

// goodbye says over HTTP that the subscription ends. One that is not told expires by itself.
func (s *Subscription) goodbye(ctx context.Context, reason string) {
	s.mu.Lock()
	id := s.terms.SubscriptionID
	s.terms = aaep.SubscriptionAccepted{}
	s.mu.Unlock()
	at, err := s.o.target()
	if id == "" || err != nil || !at.web() {
		return
	}
	if raw, err := transport.Closing(id, transport.EndedBySubscriber, reason); err == nil {
		_, _ = s.post(ctx, at, at.at("replies"), raw)
	}
}
