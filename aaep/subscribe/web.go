package subscribe

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/aaep/transport/sse"
)

// eventName is the name of an event that carries a message (TR-SSE-06).
const eventName = "aaep.event"

var errSilent = errors.New("the producer has fallen silent")

// receiveEvents receives a stream of server-sent events until it ends. After a silence, it cancels with that as the cause.
func (t *stream) receiveEvents(ctx context.Context, cancel context.CancelCauseFunc, at target) (connected bool, err error) {
	if err := t.find(ctx, at); err != nil || t.abandoned {
		return false, err
	}
	header := map[string]string{"Accept": "text/event-stream", "Cache-Control": "no-cache"}
	if t.last != "" {
		header["Last-Event-ID"] = t.last
	}
	answer, err := t.ask(ctx, at, http.MethodGet, t.place, nil, header)
	if err != nil {
		return false, err
	}
	defer func() { _ = answer.Body.Close() }()
	switch {
	case answer.StatusCode == http.StatusNoContent: // in the standard: do not reconnect
		t.ended = true
		return true, nil
	case answer.StatusCode != http.StatusOK:
		return false, t.runOut(at, answer)
	}
	t.connection.back()
	t.continuity.connect(t.last != "")
	silent := time.AfterFunc(silence, func() { cancel(errSilent) })
	defer silent.Stop()
	from := sse.NewReader(answer.Body, t.last) // an id holds until another is sent, also on the next connection
	return true, t.frames(from, func() { silent.Reset(silence) })
}

func (t *stream) frames(from *sse.Reader, onData func()) error {
	for {
		f, err := from.Next(onData)
		if errors.Is(err, sse.ErrLongLine) || errors.Is(err, sse.ErrLongFrame) {
			return t.tooLong(err)
		}
		if err != nil {
			return fmt.Errorf("subscribe: %w", err)
		}
		if f.Name == "" || f.Name == "message" || f.Name == eventName {
			if err := t.deliver(Message{ID: f.ID, Raw: f.Data}); err != nil {
				return err
			}
		}
		if f.ID != "" {
			t.moved(f.ID)
		}
		if t.abandoned {
			return nil
		}
	}
}

// find determines the address of the stream: it subscribes, where there is no subscription.
func (t *stream) find(ctx context.Context, at target) error {
	// The first one, or one that is elsewhere now, such as a server that was started again. Where it has to show its manifest, it does so each time.
	if t.producer != at.url.String() || t.o.Keys != nil {
		t.producer, t.place = at.url.String(), ""
	}
	switch {
	case t.place != "":
		return nil
	case at.direct():
		t.place = at.url.String()
		return nil
	}
	request, err := t.request("", false)
	if err != nil {
		return err
	}
	got, err := t.post(ctx, at, at.at("subscriptions"), request)
	if err != nil {
		return err
	}
	if got.status != http.StatusCreated && got.status != http.StatusOK {
		return refused(at.url.Host, got.path, got.status, got.body)
	}
	accepted, err := aaep.DecodeSubscriptionAccepted(got.body)
	if err != nil {
		return &Error{
			Code: CodeStrange, Message: at.url.Host + " answers the subscription with something else than subscription.accepted: " + plain(err),
			Hint: "give the address of the stream itself", Err: err,
		}
	}
	t.place = streamOf(at, got.location, accepted.SubscriptionID)
	if err := t.deliver(Message{Raw: got.body}); err != nil {
		t.place = ""
		return err
	}
	return nil
}

// streamOf is the address of the stream of a subscription: the one that the answer names, if it is of this producer.
func streamOf(at target, location, subscription string) string {
	if named, err := at.url.Parse(location); err == nil && location != "" && named.Host == at.url.Host && named.Scheme == at.url.Scheme {
		return named.String()
	}
	return at.at("events") + "?" + url.Values{"subscription_id": {subscription}}.Encode()
}

// runOut decodes why there is no stream. If the subscription has expired or the producer has restarted, subscribing again makes sense.
func (t *stream) runOut(at target, answer *http.Response) error {
	t.place = ""
	raw, _ := io.ReadAll(io.LimitReader(answer.Body, maxAnswer))
	e := refused(at.url.Host, answer.Request.URL.Path, answer.StatusCode, raw)
	nothing := answer.StatusCode == http.StatusNotFound || answer.StatusCode == http.StatusMethodNotAllowed
	if nothing && at.direct() { // what the server has there instead is of no use to a subscriber
		root := url.URL{Scheme: at.url.Scheme, Host: at.url.Host}
		e.Hint = "give the address without a path, " + root.String() + ", or with the path of a stream"
	}
	e.Retry = e.Retry || answer.StatusCode == http.StatusNotFound && !at.direct()
	return e
}

// answer is the answer to a message over HTTP.
type answer struct {
	status         int
	path, location string
	body           []byte
}

// post sends one message, and returns the answer.
func (s *Subscription) post(ctx context.Context, at target, address string, raw []byte) (answer, error) {
	ctx, cancel := context.WithTimeout(ctx, postTimeout)
	defer cancel()
	got, err := s.ask(ctx, at, http.MethodPost, address, raw, map[string]string{"Content-Type": "application/json"})
	if err != nil {
		return answer{}, err
	}
	defer func() { _ = got.Body.Close() }()
	body, err := io.ReadAll(io.LimitReader(got.Body, maxAnswer))
	if err != nil {
		return answer{}, unreachable(at.url.Host, err)
	}
	return answer{status: got.StatusCode, path: got.Request.URL.Path, location: got.Header.Get("Location"), body: body}, nil
}

func (s *Subscription) ask(ctx context.Context, at target, method, address string, body []byte, header map[string]string) (*http.Response, error) {
	request, err := http.NewRequestWithContext(ctx, method, address, bytes.NewReader(body))
	if err != nil {
		return nil, &Error{Code: CodeUsage, Message: "the request cannot be made: " + err.Error(), Err: err}
	}
	for name, value := range header {
		request.Header.Set(name, value)
	}
	if at.token != "" {
		request.Header.Set("Authorization", "Bearer "+at.token)
	}
	answer, err := s.http.Do(request)
	if err != nil {
		return nil, unreachable(at.url.Host, err)
	}
	return answer, nil
}
