package client

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/aaep/subscribe"
	"github.com/earshot-dev/earshot/internal/cause"
)

// tokenTime is how long a restarted server may take to write its new token. It may answer before that, and refuse
// the old token.
const tokenTime = 10 * time.Second

// Event is one event with its JSON text.
type Event = subscribe.Event

// Connection is a change in the connection to the server.
type Connection = subscribe.Connection

// Events yields events in order. After a lost connection it resumes after the last event, and yields none twice. With
// Options.Session the sequence ends after the session's last event. Where the server cannot resume after the last event,
// it goes on with where each open session stands; what happened in between is in [Client.PastEvents]. It ends early with the
// context's error, or with an [*Error]: the token is no longer accepted, or the server was unreachable for longer than Options.ReconnectTimeout.
func (c *Client) Events(ctx context.Context) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		s, err := c.subscription()
		if err != nil {
			yield(Event{}, err)

			return
		}

		for e, err := range s.Events(ctx) {
			switch {
			case errors.Is(err, subscribe.ErrLost), errors.Is(err, errReplyRefused): // a resumed stream says where each session stands; nothing is answered here
				continue
			case err != nil:
				yield(Event{}, c.failure(err))

				return
			}

			if !yield(e, nil) || e.IsTerminal() && e.SessionID == c.o.Session {
				return
			}
		}
	}
}

var errReplyRefused = &subscribe.Error{Code: subscribe.CodeReplyRefused, Message: "a reply was refused"}

// subscription returns a subscription to the server, wherever that is at the moment.
func (c *Client) subscription() (*subscribe.Subscription, error) {
	capabilities, err := c.capabilities()
	if err != nil {
		return nil, err
	}

	w := &waiting{client: c}

	return subscribe.New(subscribe.Options{
		Request: aaep.SubscriptionRequest{SubscriberID: c.o.Name + "-" + rand.Text(), SubscriberName: c.o.Name, Capabilities: capabilities},
		Target: func() (string, string, error) {
			info, err := c.serverInfo()
			if err == nil && c.bySocket {
				info.URL = "ws" + strings.TrimPrefix(info.URL, "http")
			}

			return info.URL, info.Token, err
		},
		ReconnectTimeout: c.o.ReconnectTimeout, MayRetry: w.mayRetry, OnConnection: reporting(c.o.OnConnection), OnWait: c.o.OnWait, Now: c.o.Now, Transport: asker{c},
	})
}

// capabilities are those of this listener.
func (c *Client) capabilities() (aaep.Capabilities, error) {
	can := true
	extensions := map[string]any{"observe_questions": true} // also those that this listener may not answer

	if c.o.Session != "" {
		extensions["session_ids"] = []string{c.o.Session}
	}

	ours, err := json.Marshal(extensions, json.Deterministic(true))
	if err != nil {
		return aaep.Capabilities{}, &Error{Code: CodeUsage, Message: "the session's name is not UTF-8", Err: err}
	}

	return aaep.Capabilities{
		SupportsConfirmationReply: &can, SupportsClarificationReply: &can, SupportedExtensions: []string{aaep.ExtensionContext},
		Extensions: map[string]jsontext.Value{aaep.PrefixEarshot: ours},
	}, nil
}

// asker makes the requests of a subscription, and says for whom this client asks.
type asker struct{ *Client }

func (a asker) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	a.sayWho(r)

	return a.o.Transport.RoundTrip(r) //nolint:wrapcheck // the subscription says what failed
}

// waiting decides whether another attempt makes sense.
type waiting struct {
	client  *Client
	refused time.Time // since when the token is refused; zero while it is accepted
}

func (w *waiting) mayRetry(err error) bool {
	e, is := errors.AsType[*Error](failure(err))
	if !is || e.Code != CodeUnauthenticated {
		w.refused = time.Time{}
	}

	if !is {
		return true // the stream broke off
	}

	switch e.Code {
	case CodeUnauthenticated: // a restarted server has a new token, which the file contains
		return w.client.o.ServerFile != "" && w.awaitsToken()
	case CodeUnreachable, CodeNotFound:
		return true
	case CodeUsage, CodeInsecure, CodeForbidden, CodeConflict:
		return false
	default:
		return e.Retry
	}
}

// awaitsToken reports whether the server file may still get a new token.
func (w *waiting) awaitsToken() bool {
	now := w.client.o.Now()
	if w.refused.IsZero() {
		w.refused = now
	}

	return now.Sub(w.refused) <= tokenTime
}

// failure is the error of a subscription to the server.
func (c *Client) failure(err error) error {
	s, is := errors.AsType[*subscribe.Error](err)
	if !is {
		return failure(err)
	}

	switch s.Code {
	case subscribe.CodeUnreachable:
		if u, bad := url.Parse(c.Server()); bad == nil && s.Err != nil {
			return unreachable(u, s.Err)
		}
	case subscribe.CodeUnreadable:
		return &Error{Code: CodeStrange, Message: fmt.Sprintf("the server sends an event that cannot be read: %s", cause.Of(s.Err)), Hint: s.Hint, Err: err}
	default:
	}

	return failure(err)
}

// failure returns an error of a subscription as one of this package.
func failure(err error) error {
	s, is := errors.AsType[*subscribe.Error](err)
	if !is {
		return err
	}

	return &Error{Code: Code(s.Code), Message: s.Message, Hint: s.Hint, Retry: s.Retry, Err: err}
}

// reporting returns a function that reports the connection in the errors of this package.
func reporting(report func(Connection)) func(Connection) {
	if report == nil {
		return nil
	}

	return func(c Connection) { report(Connection{Lost: failure(c.Lost)}) }
}
