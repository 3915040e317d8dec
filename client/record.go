package client

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/aaep/transport"
	"github.com/earshot-dev/earshot/aaep/transport/sse"
	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/cause"
)

const (
	defaultRecordTimeout = 30 * time.Second
	webSocketMessageMax  = 16 << 20
)

// RecordOptions name the stream to record and the credentials. URL is required.
type RecordOptions struct {
	// URL of a stream: http or https for server-sent events, ws or wss for a WebSocket, unix:PATH for a Unix socket. An http address with
	// a path is the stream itself. Without a path it is a server that requires a subscription first (Appendix B).
	URL string
	// Token goes into the Authorization header, if it is set, and over a Unix socket into earshot:authenticate. Without TLS it is sent to
	// loopback addresses only.
	Token string
	// TokenFile contains the token on its first line, instead of Token.
	TokenFile string
	// Name is the name of this listener if it subscribes; default "earshot".
	Name string
	// ReconnectTimeout is how long to retry a lost connection; default 30 seconds.
	ReconnectTimeout time.Duration
	// OnConnection is called once when the connection is lost and once when it is back.
	OnConnection func(Connection)
	// Now is the clock; default time.Now.
	Now func() time.Time
	// Transport makes the requests; default a new transport with the environment's proxy.
	Transport http.RoundTripper
}

// RawMessage is one message of a stream, as it was received.
type RawMessage struct {
	// ID is the event's id in the transport; "" if it has none.
	ID string
	// Raw holds the message's bytes: JSON, if the producer follows the protocol.
	Raw []byte
}

// Record receives everything that a producer sends, of any session, including questions. It validates and answers
// nothing. If it has to subscribe, the producer's answer is the first message.
//
// A lost stream of server-sent events resumes after its last event; a WebSocket and a Unix socket start again. A repeated message is
// yielded once. Where messages may be missing after a lost connection, Record yields an [*Error] with [CodeLost] and
// continues. The sequence ends without an error if the producer ends it (status 204, close code 4000), otherwise with
// an [*Error] or the context's error.
func Record(ctx context.Context, o RecordOptions) iter.Seq2[RawMessage, error] {
	return func(yield func(RawMessage, error) bool) {
		t, err := newRecorder(o)
		if err != nil {
			yield(RawMessage{}, err)

			return
		}

		t.yield = yield

		defer t.http.CloseIdleConnections()

		err = t.connection.run(ctx)
		if t.continuity.incomplete() && !t.abandoned {
			t.lost()
		}

		if err != nil && !t.abandoned {
			yield(RawMessage{}, err)
		}
	}
}

// recorder is one run of Record.
type recorder struct {
	o     RecordOptions
	url   *url.URL
	token string
	http  *http.Client
	yield func(RawMessage, error) bool

	abandoned bool // the consumer has stopped
	ended     bool // the producer has ended it
	// open connects where messages go both ways.
	open       func(ctx context.Context) (transport.Conn, error)
	stream     string
	last       string // the id after which a stream of server-sent events resumes
	continuity continuity
	connection connection
}

func newRecorder(o RecordOptions) (*recorder, error) {
	o.Name = cmp.Or(o.Name, "earshot")
	o.ReconnectTimeout = cmp.Or(o.ReconnectTimeout, defaultRecordTimeout)

	if o.Now == nil {
		o.Now = time.Now
	}

	if o.OnConnection == nil {
		o.OnConnection = func(Connection) {}
	}

	if o.Transport == nil {
		o.Transport = &http.Transport{Proxy: http.ProxyFromEnvironment, MaxIdleConns: 2, IdleConnTimeout: silence}
	}

	u, err := streamURL(o.URL)
	if err != nil {
		return nil, err
	}

	t := &recorder{o: o, url: u, continuity: newContinuity(), http: &http.Client{
		Transport:     o.Transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}

	if t.token, err = tokenOf(o); err != nil {
		return nil, err
	}

	if err := t.secure(); err != nil {
		return nil, err
	}

	t.connection = connection{
		done: func() bool { return t.abandoned || t.ended }, mayReturn: t.mayReturn, timeout: o.ReconnectTimeout, now: o.Now, report: o.OnConnection,
	}

	switch u.Scheme {
	case "http", "https":
		t.connection.make = t.receiveEvents
	case "ws", "wss":
		t.open, t.connection.make = t.dialWeb, t.receiveMessages
	case unixScheme:
		t.open, t.connection.make = t.dialUnix, t.receiveMessages
	default:
		return nil, &Error{Code: CodeUsage, Message: fmt.Sprintf("the address begins with %q, expected http, https, ws, wss or unix", u.Scheme), Hint: "give the address of a stream"}
	}

	return t, nil
}

// unixScheme begins the address of a Unix socket, before its path.
const unixScheme = "unix"

// streamURL reads the address of a stream. That of a Unix socket has the path for its host.
func streamURL(address string) (*url.URL, error) {
	if path, is := strings.CutPrefix(address, unixScheme+":"); is && path != "" {
		return &url.URL{Scheme: unixScheme, Host: path}, nil
	}

	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		return nil, &Error{
			Code: CodeUsage, Message: fmt.Sprintf("%q is not the address of a stream", address),
			Hint: "it reads like http://localhost:8080/events, ws://localhost:8080/aaep/v1/ws or unix:/run/user/1000/aaep/agent.sock", Err: err,
		}
	}

	return u, nil
}

func tokenOf(o RecordOptions) (string, error) {
	if o.TokenFile == "" {
		return o.Token, nil
	}

	raw, err := os.ReadFile(o.TokenFile)
	if err != nil {
		return "", &Error{Code: CodeUsage, Message: "the token cannot be read: " + cause.Of(err), Hint: "check the name of the file and its rights", Err: err}
	}

	first, _, _ := strings.Cut(string(raw), "\n")

	return strings.TrimSpace(first), nil
}

// secure refuses to send a token over an unencrypted connection.
func (t *recorder) secure() error {
	if t.token == "" || t.url.Scheme == "https" || t.url.Scheme == "wss" || t.url.Scheme == unixScheme || loopback(t.url.Hostname()) {
		return nil
	}

	return &Error{Code: CodeInsecure, Message: "the token would travel unencrypted to " + t.url.Host, Hint: "use https or wss, or a tunnel"}
}

func (t *recorder) mayReturn(err error) bool {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Retry || e.Code == CodeUnreachable
	}

	return true
}

// receiveEvents receives a stream of server-sent events until it ends.
func (t *recorder) receiveEvents(ctx context.Context) (connected bool, err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)

	if err := t.find(ctx); err != nil {
		return false, err
	}

	header := map[string]string{"Accept": "text/event-stream", "Cache-Control": "no-cache"}
	if t.last != "" {
		header["Last-Event-ID"] = t.last
	}

	answer, err := t.send(ctx, http.MethodGet, t.stream, nil, header)
	if err != nil {
		return false, err
	}

	defer func() { _ = answer.Body.Close() }()

	switch {
	case answer.StatusCode == http.StatusNoContent: // in the standard: do not reconnect
		t.ended = true

		return true, nil
	case answer.StatusCode != http.StatusOK:
		t.stream = ""

		return false, t.runOut(answer)
	}

	t.connection.back()
	t.continuity.connect(t.last != "")

	silent := time.AfterFunc(silence, func() { cancel(errSilent) })
	defer silent.Stop()

	from := sse.NewReader(answer.Body, t.last) // an id holds until another is sent, also on the next connection

	return true, t.frames(from, func() { silent.Reset(silence) })
}

func (t *recorder) frames(from *sse.Reader, onData func()) error {
	for {
		f, err := from.Next(onData)
		if errors.Is(err, sse.ErrLongLine) || errors.Is(err, sse.ErrLongFrame) {
			return t.tooLong(err) // it would be as long the next time
		}

		if err != nil {
			return err
		}

		if f.ID != "" {
			t.last = f.ID
		}

		if f.Name == "" || f.Name == "message" || f.Name == aaepEvent {
			t.deliver(RawMessage{ID: f.ID, Raw: f.Data})
		}

		if t.abandoned {
			return nil
		}
	}
}

// aaepEvent is the name of an event that carries a message (TR-SSE-06).
const aaepEvent = "aaep.event"

// deliver yields a message unless it is a repeat.
func (t *recorder) deliver(m RawMessage) {
	fresh, lost := t.continuity.receive(m)
	if lost {
		t.lost()
	}

	if fresh && !t.abandoned {
		t.abandoned = !t.yield(m, nil)
	}
}

// lost yields an error: messages may be missing.
func (t *recorder) lost() {
	t.abandoned = !t.yield(RawMessage{}, &Error{
		Code: CodeLost, Message: "messages may be missing: the connection to " + t.url.Host + " was lost, and what was sent meanwhile did not come again",
		Hint: "record again; server-sent events with ids are resumed where they broke off",
	})
}

// tooLong is the error for a message that exceeds the limit.
func (t *recorder) tooLong(err error) error {
	return &Error{Code: CodeStrange, Message: t.url.Host + " sends a message that is too long: " + err.Error(), Hint: "see what the producer sends", Err: err}
}

// find determines the address of the stream.
func (t *recorder) find(ctx context.Context) error {
	if t.stream != "" {
		return nil
	}

	if t.direct() {
		t.stream = t.url.String()

		return nil
	}

	request, err := t.subscription()
	if err != nil {
		return err
	}

	answer, err := t.send(ctx, http.MethodPost, t.url.JoinPath(api.AAEPRoot, "subscriptions").String(), request, map[string]string{"Content-Type": "application/json"})
	if err != nil {
		return err
	}

	defer func() { _ = answer.Body.Close() }()

	if answer.StatusCode == http.StatusNotFound {
		return t.refused(answer)
	}

	raw, err := io.ReadAll(io.LimitReader(answer.Body, maxFile))
	if err != nil {
		return t.silent(err)
	}

	if answer.StatusCode != http.StatusCreated && answer.StatusCode != http.StatusOK {
		return rejected(answer, raw)
	}

	accepted, err := aaep.DecodeSubscriptionAccepted(raw)
	if err != nil {
		return &Error{
			Code: CodeStrange, Message: t.url.Host + " answers the subscription with something else than subscription.accepted: " + cause.Of(err),
			Hint: "give the address of the stream itself", Err: err,
		}
	}

	query := url.Values{"subscription_id": {accepted.SubscriptionID}}
	t.stream = t.url.JoinPath(api.AAEPRoot, "events").String() + "?" + query.Encode()
	t.deliver(RawMessage{Raw: raw})

	return nil
}

// subscription returns a request for all events, including questions, without the right to answer.
func (t *recorder) subscription() ([]byte, error) {
	no := false

	raw, err := aaep.SubscriptionRequest{
		AAEPVersion: aaep.Version, SubscriberID: t.o.Name + "-" + rand.Text(), SubscriberName: t.o.Name,
		Capabilities: aaep.Capabilities{
			SupportsConfirmationReply: &no, SupportsClarificationReply: &no,
			EventFilters: &aaep.EventFilters{Include: []string{"*"}}, SupportedExtensions: []string{aaep.ExtensionContext},
			Extensions: map[string]jsontext.Value{aaep.PrefixEarshot: jsontext.Value(`{"observe_questions":true}`)},
		},
	}.Encode()
	if err != nil {
		return nil, &Error{Code: CodeUsage, Message: "the subscription cannot be asked for: " + cause.Of(err), Err: err}
	}

	return raw, nil
}

func (t *recorder) send(ctx context.Context, method, address string, body []byte, header map[string]string) (*http.Response, error) {
	request, err := http.NewRequestWithContext(ctx, method, address, bytes.NewReader(body))
	if err != nil {
		return nil, &Error{Code: CodeUsage, Message: "the request cannot be made: " + cause.Of(err), Err: err}
	}

	for name, value := range header {
		request.Header.Set(name, value)
	}

	if t.token != "" {
		request.Header.Set("Authorization", "Bearer "+t.token)
	}

	answer, err := t.http.Do(request)
	if err != nil {
		return nil, t.silent(err)
	}

	return answer, nil
}

// silent is the error for a server that does not answer.
func (t *recorder) silent(err error) error {
	return &Error{
		Code: CodeUnreachable, Message: fmt.Sprintf("%s cannot be reached: %s", t.url.Host, cause.Of(err)),
		Hint: "see that the producer runs, and that the address is right", Retry: true, Err: err,
	}
}

// runOut decodes why there is no stream. If the subscription has expired or the server has restarted, subscribing again
// makes sense.
func (t *recorder) runOut(answer *http.Response) error {
	err := t.refused(answer)
	if e, ok := errors.AsType[*Error](err); ok && answer.StatusCode == http.StatusNotFound && !t.direct() {
		e.Retry = true
	}

	return err
}

// direct reports whether the address is a stream that needs no subscription.
func (t *recorder) direct() bool { return strings.Trim(t.url.Path, "/") != "" }

// refused decodes why there is no stream.
func (t *recorder) refused(answer *http.Response) error {
	raw, _ := io.ReadAll(io.LimitReader(answer.Body, maxFile))

	var e *Error
	if err := refusal(answer, raw); errors.As(err, &e) && e.Code != CodeStrange {
		return err
	}

	return &Error{
		Code: CodeNotFound, Message: fmt.Sprintf("%s answers %q to %s, expected a stream", t.url.Host, answer.Status, answer.Request.URL.Path),
		Hint: "check the address, and the token and its rights", Retry: answer.StatusCode >= http.StatusInternalServerError,
	}
}
