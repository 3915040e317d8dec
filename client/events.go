package client

import (
	"context"
	"crypto/rand"
	"errors"
	"io"
	"iter"
	"net/http"
	"net/url"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/aaep/transport/sse"
	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/cause"
)

const (
	closeTime = 2 * time.Second
	// tokenTime is how long a restarted server may take to write its new token. It may answer before that, and refuse
	// the old token.
	tokenTime = 10 * time.Second
)

// Event is one event with its JSON text.
type Event struct {
	aaep.Event

	// Raw is the JSON as the server sent it.
	Raw []byte
}

// Events yields events in order. After a lost connection it resumes after the last event, and yields none twice. With
// Options.Session the sequence ends after the session's last event. It ends early with the context's error, or with an
// [*Error]: the token is no longer accepted, or the server was unreachable for longer than Options.ReconnectTimeout.
func (c *Client) Events(ctx context.Context) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		l := &eventStream{client: c, yield: yield}
		l.connection = connection{
			make: l.connect, done: func() bool { return l.abandoned || l.ended }, mayReturn: l.mayReturn,
			timeout: c.o.ReconnectTimeout, now: c.o.Now, report: c.o.OnConnection,
		}

		defer l.close(ctx)

		if err := l.connection.run(ctx); err != nil && !l.abandoned {
			yield(Event{}, err)
		}
	}
}

// eventStream is one run of Events.
type eventStream struct {
	client    *Client
	yield     func(Event, error) bool
	abandoned bool // the consumer has stopped
	ended     bool // the session has ended

	refused      time.Time // since when the token is refused; zero while it is accepted
	subscription string
	last         string // the id of the last event to resume from
	seen         aaep.Seen
	connection   connection
}

// mayReturn reports whether another attempt makes sense.
func (l *eventStream) mayReturn(err error) bool {
	var e *Error
	if !errors.As(err, &e) {
		return true // the stream broke off
	}

	if e.Code != CodeUnauthenticated {
		l.refused = time.Time{}
	}

	switch e.Code {
	case CodeUnauthenticated: // a restarted server has a new token, which the file contains
		return l.client.o.ServerFile != "" && l.awaitsToken()
	case CodeUnreachable, CodeNotFound:
		return true
	case CodeUsage, CodeInsecure, CodeForbidden, CodeConflict:
		return false
	default:
		return e.Retry
	}
}

// awaitsToken reports whether the server file may still get a new token.
func (l *eventStream) awaitsToken() bool {
	now := l.client.o.Now()
	if l.refused.IsZero() {
		l.refused = now
	}

	return now.Sub(l.refused) <= tokenTime
}

// frame is what a connection brings: an event, with the id that a later connection can resume after.
type frame struct {
	id   string
	data []byte
}

// source is a connection that brings events.
type source interface {
	// next returns the next event, or no data, with the id of the last event that a later connection can resume after. It calls
	// onData for whatever comes.
	next(onData func()) (frame, error)
	// close ends the connection.
	close()
}

// connect connects, and receives until the connection ends.
func (l *eventStream) connect(ctx context.Context) (connected bool, err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)

	silent := time.AfterFunc(silence, func() { cancel(errSilent) })
	defer silent.Stop()

	onData := func() { silent.Reset(silence) }
	open := l.openEvents

	if l.client.bySocket {
		open = l.openSocket
	}

	from, err := open(ctx, onData)
	if err != nil {
		return false, err
	}

	defer from.close()

	l.connection.back()
	l.refused = time.Time{}

	return true, l.receive(from, onData)
}

// openEvents subscribes if necessary, and opens the stream of server-sent events.
func (l *eventStream) openEvents(ctx context.Context, _ func()) (source, error) {
	if l.subscription == "" {
		if err := l.subscribe(ctx); err != nil {
			return nil, err
		}
	}

	header := map[string]string{"Accept": "text/event-stream", "Cache-Control": "no-cache"}
	if l.last != "" {
		header["Last-Event-ID"] = l.last
	}

	answer, err := l.client.send(ctx, to(api.RouteStream).with(url.Values{"subscription_id": {l.subscription}}), nil, header)
	if err != nil {
		return nil, err
	}

	if answer.StatusCode == http.StatusOK {
		return eventSource{sse.NewReader(answer.Body, ""), answer.Body}, nil
	}

	defer func() { _ = answer.Body.Close() }()

	err = refused(answer)
	if errors.Is(err, ErrNotFound) || errors.Is(err, ErrUnauthenticated) {
		l.subscription = "" // it has expired; a new one resumes after the same event
	}

	return nil, err
}

// eventSource is a stream of server-sent events.
type eventSource struct {
	from *sse.Reader
	body io.Closer
}

func (s eventSource) next(onData func()) (frame, error) {
	f, err := s.from.Next(onData)

	return frame{id: f.ID, data: f.Data}, err
}

func (s eventSource) close() { _ = s.body.Close() }

var errSilent = errors.New("the server has fallen silent")

// receive yields the events of a stream.
func (l *eventStream) receive(from source, onData func()) error {
	for {
		f, err := from.next(onData)
		if err != nil {
			return err
		}

		if f.data != nil {
			event, err := aaep.DecodeEvent(f.data)
			if err != nil {
				return &Error{Code: CodeStrange, Message: "the server sends an event that cannot be read: " + cause.Of(err), Hint: "see that both are of the same version", Err: err}
			}

			if l.seen.Add(event.ID) && !l.deliver(Event{Event: event, Raw: f.data}) {
				return nil
			}
		}

		if f.id != "" {
			l.last = f.id
		}
	}
}

// deliver yields one event and reports whether there will be more.
func (l *eventStream) deliver(d Event) bool {
	if !l.yield(d, nil) {
		l.abandoned = true
	}

	switch d.Payload.(type) {
	case aaep.SessionCompleted, aaep.SessionErrored, aaep.SessionCancelled:
		l.ended = d.SessionID == l.client.o.Session
	}

	return !l.abandoned && !l.ended
}

// subscribe requests the events (Appendix B).
func (l *eventStream) subscribe(ctx context.Context) error {
	request, err := l.client.request(nil)
	if err != nil {
		return err
	}

	answer, err := l.client.send(ctx, to(api.RouteSubscribe), request, nil)
	if err != nil {
		return err
	}

	defer func() { _ = answer.Body.Close() }()

	raw, err := io.ReadAll(io.LimitReader(answer.Body, maxAnswer))
	if err != nil {
		return unreachable(answer.Request.URL, err)
	}

	if answer.StatusCode != http.StatusCreated && answer.StatusCode != http.StatusOK {
		return rejected(answer, raw)
	}

	accepted, err := aaep.DecodeSubscriptionAccepted(raw)
	if err != nil {
		return strange(answer, err)
	}

	l.subscription = accepted.SubscriptionID

	return nil
}

// request returns the subscription request: the capabilities and preferences of this listener. On a WebSocket, resume says after which
// event it goes on.
func (c *Client) request(resume map[string]string) ([]byte, error) {
	can := true
	r := aaep.SubscriptionRequest{
		AAEPVersion: aaep.Version, SubscriberID: c.o.Name + "-" + rand.Text(), SubscriberName: c.o.Name,
		Capabilities: aaep.Capabilities{
			SupportsConfirmationReply: &can, SupportsClarificationReply: &can,
			SupportedExtensions: []string{aaep.ExtensionContext},
		},
	}

	extensions := map[string]any{"observe_questions": true} // also those that this listener may not answer
	if c.o.Session != "" {
		extensions["session_ids"] = []string{c.o.Session}
	}

	if resume != nil {
		extensions["resume"] = resume
	}

	ours, err := json.Marshal(extensions, json.Deterministic(true))
	if err != nil {
		return nil, &Error{Code: CodeUsage, Message: "the session's name is not UTF-8", Err: err}
	}

	r.Capabilities.Extensions = map[string]jsontext.Value{aaep.PrefixEarshot: ours}

	raw, err := r.Encode()
	if err != nil {
		return nil, &Error{Code: CodeUsage, Message: "the subscription cannot be asked for: " + cause.Of(err), Err: err}
	}

	return raw, nil
}

// rejected decodes the server's refusal of a subscription.
func rejected(answer *http.Response, raw []byte) error {
	r, err := aaep.DecodeSubscriptionRejected(raw)
	if err != nil {
		return refusal(answer, raw)
	}

	return notLetIn(r)
}

func notLetIn(r aaep.SubscriptionRejected) error {
	e := &Error{Code: Code(r.ReasonCode), Message: "the server does not let this listener in: " + r.ReasonMessage, Hint: "see `earshot token list` on the server"}

	switch r.ReasonCode {
	case aaep.ReasonRateLimit, aaep.ReasonTransportUnavailable:
		e.Retry, e.Hint = true, "try again later"
	default:
	}

	return e
}

// refused decodes the refusal of a stream.
func refused(answer *http.Response) error {
	raw, err := io.ReadAll(io.LimitReader(answer.Body, maxFile))
	if err != nil {
		return unreachable(answer.Request.URL, err)
	}

	return refusal(answer, raw)
}

// close ends the subscription if the server is reachable.
func (l *eventStream) close(ctx context.Context) {
	if l.subscription == "" {
		return
	}

	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeTime)
	defer cancel()

	if raw, err := (aaep.SubscriptionClose{SubscriptionID: l.subscription}).Encode(); err == nil {
		_ = l.client.call(ctx, to(api.RouteSendMessage), jsontext.Value(raw), nil) // it expires by itself
	}

	l.subscription = ""
}
