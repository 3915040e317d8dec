package subscribe

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"sync"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/aaep/transport"
)

// Message is one message of a producer, as it came.
type Message struct {
	// ID is the event's id in the transport; "" if it has none.
	ID string
	// Raw holds the message's bytes: JSON, if the producer follows the protocol.
	Raw []byte
}

// Event is one event with its JSON text.
type Event struct {
	aaep.Event

	// Raw is the JSON as the producer sent it.
	Raw []byte
}

// Subscription hears one producer. Create it with [New]. One goroutine ranges over Events or Messages, once; everything else may be
// called concurrently.
type Subscription struct {
	o    Options
	http *http.Client

	mu       sync.Mutex
	wanted   aaep.Capabilities         // as they were changed last
	terms    aaep.SubscriptionAccepted // the latest
	conn     transport.Conn            // while there is one that carries both ways
	closing  context.CancelFunc        // ends Messages
	position string                    // after which a new subscription resumes
	closed   bool                      // by Close
}

// New returns a subscription to the producer of the options, and dials nothing yet. Its errors are of type [*Error].
func New(o Options) (*Subscription, error) {
	fixed := o.Target == nil
	o = o.withDefaults()
	if fixed {
		if _, err := o.target(); err != nil {
			return nil, err
		}
	}
	return &Subscription{
		o: o, wanted: o.Request.Capabilities.Clone(), closing: func() {},
		http: &http.Client{
			Transport: o.Transport,
			// Following a redirection would send the token to another address.
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
	}, nil
}

// Terms returns what the producer granted last; without a SubscriptionID it has granted nothing yet.
func (s *Subscription) Terms() aaep.SubscriptionAccepted {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.terms
}

// Position returns after which message a new subscription can resume, see [Options.After]; "" if the producer has named no such place yet. What
// came since then comes again.
func (s *Subscription) Position() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.position
}

// Events yields each event once, in the order in which the producer sends them, and dials and dials again as [Subscription.Messages] does.
// An [*Error] for which [Error.Passing] holds says that something may be missing, that a message is not an event, or that a reply did not
// count; the events go on after it. Any other error is the last.
func (s *Subscription) Events(ctx context.Context) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		var seen aaep.Seen
		for m, err := range s.Messages(ctx) {
			if err != nil {
				if !yield(Event{}, err) {
					return
				}
				continue
			}
			event, err := read(m)
			if err == nil && (event.ID == "" || !seen.Add(event.ID)) {
				continue
			}
			if !yield(event, err) {
				return
			}
		}
	}
}

// read reads an event. One without an id is neither an event nor a failure.
func read(m Message) (Event, error) {
	switch kind, _ := aaep.Read(m.Raw).Text("type"); kind {
	case aaep.TypeSubscriptionAccepted, aaep.TypeSubscriptionRejected, aaep.TypeSubscriptionClose:
		return Event{}, nil
	case transport.TypeReplyRefused:
		return Event{}, replyRefused(m.Raw)
	}
	event, err := aaep.DecodeEvent(m.Raw)
	if err != nil {
		return Event{}, &Error{
			Code: CodeUnreadable, Message: "the producer sends an event that cannot be read: " + plain(err), Hint: "see that both are of the same version", Raw: m.Raw, Err: err,
		}
	}
	return Event{Event: event, Raw: m.Raw}, nil
}

// plain is why a message cannot be read, for a person: with the first rule that it breaks, and where.
func plain(err error) string {
	e, is := errors.AsType[*aaep.Error](err)
	switch {
	case !is:
		return err.Error()
	case len(e.Violations) == 0:
		return e.Message
	}
	v := e.Violations[0]
	text := e.Message + "; it breaks the rule " + v.Rule
	if v.Path != "" {
		text += " at " + v.Path
	}
	if text += ": " + v.Message; len(e.Violations) > 1 {
		text += fmt.Sprintf(" (and %d more)", len(e.Violations)-1)
	}
	return text
}

func replyRefused(raw []byte) *Error {
	message := aaep.Read(raw)
	e := &Error{Code: CodeReplyRefused, Raw: raw}
	e.Message, _ = message.Text("error", "message")
	e.Hint, _ = message.Text("error", "hint")
	if e.Message == "" {
		e.Message = "the producer has not taken a reply"
	}
	return e
}

// Messages yields every message once, as it came; the answer to each request for a subscription is among them. Where messages may be
// missing, it yields an [*Error] with [CodeLost] and goes on. The sequence ends without an error when the producer ends it (status 204,
// close code 4000, subscription.close) and after [Subscription.Close]; otherwise with an [*Error] or the context's error. The producer is
// told when the consumer stops.
func (s *Subscription) Messages(ctx context.Context) iter.Seq2[Message, error] {
	return func(yield func(Message, error) bool) {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		s.mu.Lock()
		s.closing = cancel
		closed := s.closed
		s.mu.Unlock()
		if closed {
			return
		}
		t := &stream{Subscription: s, yield: yield, last: s.o.After, continuity: newContinuity()}
		t.connection = connection{
			make: t.receive, done: func() bool { return t.abandoned || t.ended || s.isClosed() }, mayReturn: s.o.MayRetry, first: s.o.ConnectTimeout,
			timeout: s.o.ReconnectTimeout, now: s.o.Now, report: s.o.OnConnection, wait: s.o.OnWait,
		}
		defer s.http.CloseIdleConnections()
		defer t.leave(ctx)
		err := t.connection.run(ctx)
		if t.continuity.incomplete() && !t.abandoned && !s.isClosed() {
			t.lost()
		}
		if err != nil && !t.abandoned {
			yield(Message{}, err)
		}
	}
}

func (s *Subscription) isClosed() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.closed
}

// stream is one run of Messages.
type stream struct {
	*Subscription

	yield     func(Message, error) bool
	abandoned bool // the consumer has stopped
	ended     bool // the producer has ended it

	place      string // of the stream of server-sent events; "" before there is a subscription
	producer   string // the address of the producer whose stream that is
	host       string
	transport  aaep.Transport // by which it is heard
	trusted    bool           // its manifest holds, where one is demanded
	last       string         // the id after which the next connection resumes
	continuity continuity
	connection connection
}

// moved notes the place after which the next connection resumes.
func (t *stream) moved(to string) {
	t.last = to
	t.mu.Lock()
	defer t.mu.Unlock()
	t.position = to
}

// receive connects, and receives until the connection ends.
func (t *stream) receive(ctx context.Context) (connected bool, err error) {
	at, err := t.o.target()
	if err != nil {
		return false, err
	}
	t.host, t.transport = at.url.Host, at.transport()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	if at.web() {
		return t.receiveEvents(ctx, cancel, at)
	}
	return t.receiveMessages(ctx, at)
}

// deliver yields a message unless it is a repeat.
func (t *stream) deliver(m Message) error {
	kind, _ := aaep.Read(m.Raw).Text("type")
	if err := t.admit(kind, m.Raw); err != nil {
		return err
	}
	if kind == aaep.TypeSubscriptionAccepted {
		t.accept(m.Raw)
	}
	fresh, lost := t.continuity.receive(m)
	if lost {
		t.lost()
	}
	if fresh && !t.abandoned {
		t.abandoned = !t.yield(m, nil)
	}
	if kind != aaep.TypeSubscriptionRejected {
		return nil
	}
	r, err := aaep.DecodeSubscriptionRejected(m.Raw)
	if err != nil {
		return &Error{Code: CodeStrange, Message: t.host + " refuses the subscription and does not say why", Hint: "see what the producer sends", Err: err}
	}
	return rejected(r)
}

// accept takes the terms that hold from here on.
func (s *Subscription) accept(raw []byte) {
	terms, err := aaep.DecodeSubscriptionAccepted(raw)
	if err != nil {
		return // they are reported to those who judge messages; what can be answered needs them
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.terms = terms
}

// lost yields an error: messages may be missing.
func (t *stream) lost() {
	t.abandoned = !t.yield(Message{}, &Error{
		Code: CodeLost, Message: "messages may be missing: the connection to " + t.host + " was lost, and what was sent meanwhile did not come again",
		Hint: "server-sent events with ids are resumed where they broke off",
	})
}

// tooLong is the error for a message that exceeds the limit. It would be as long the next time.
func (t *stream) tooLong(err error) error {
	return &Error{Code: CodeStrange, Message: t.host + " sends a message that is too long: " + err.Error(), Hint: "see what the producer sends", Err: err}
}

// reason is the innermost cause of a failed request, without the address, which the sentence around it has.
func reason(err error) string {
	for next := errors.Unwrap(err); next != nil; next = errors.Unwrap(err) {
		err = next
	}
	return err.Error()
}

// mayRetry is the default of [Options.MayRetry].
func mayRetry(err error) bool {
	if e, is := errors.AsType[*Error](err); is {
		return e.Retry || e.Code == CodeUnreachable
	}
	return true // the stream broke off
}
