package producer

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/earshot-dev/earshot/aaep/transport"
	"github.com/earshot-dev/earshot/aaep/transport/grpc"
	"github.com/earshot-dev/earshot/aaep/transport/pipe"
	"github.com/earshot-dev/earshot/aaep/transport/socket"
	"github.com/earshot-dev/earshot/aaep/transport/sse"
	"github.com/earshot-dev/earshot/internal/cause"
)

// The addresses of Appendix B.
const (
	subscriptionsPath = transport.Root + "/subscriptions"
	eventsPath        = transport.Root + "/events"
	repliesPath       = transport.Root + "/replies"
	socketPath        = transport.Root + "/ws"
)

const (
	maxAnswer  = 1 << 20  // of an answer over HTTP, in bytes
	maxReceive = 16 << 20 // of a message on a connection both ways
)

// connect begins a connection of a listener: both ways from the request on; over HTTP the request, or, where
// there is a stream already, that.
func (j *judge) connect(ctx context.Context, l *line, e effect, after string) {
	ctx = l.begin(ctx)
	turn := l.turn
	tell := func(in input) { j.tell(ctx, arrival{input: in, turn: turn}) }
	switch {
	case !j.exam.sse:
		l.listen = make(chan struct{})
		j.converse(ctx, l, e, tell)
	case after != "":
		stream := l.stream
		j.tasks.Go(func() { j.receive(ctx, e.who, stream, after, tell) })
	case len(e.raw) == 0:
		l.stream = j.url.String()
		j.tasks.Go(func() { j.receive(ctx, e.who, j.url.String(), "", tell) })
	default:
		j.tasks.Go(func() { j.subscribe(ctx, e, tell) })
	}
}

// listen takes the stream that was granted.
func (j *judge) listen(ctx context.Context, l *line, e effect) {
	if !j.exam.sse {
		close(l.listen)
		return
	}
	ctx = l.begin(ctx)
	turn, stream := l.turn, j.streamOf(e)
	l.stream = stream
	tell := func(in input) { j.tell(ctx, arrival{input: in, turn: turn}) }
	j.tasks.Go(func() { j.receive(ctx, e.who, stream, "", tell) })
}

// streamOf is the address of the stream of a subscription: the one that the answer named, if it is of this producer.
func (j *judge) streamOf(e effect) string {
	if at, err := j.url.Parse(e.place); err == nil && e.place != "" && at.Host == j.url.Host && at.Scheme == j.url.Scheme {
		return at.String()
	}
	id := j.exam.listeners[e.who].accepted.SubscriptionID
	return j.url.JoinPath(eventsPath).String() + "?" + url.Values{"subscription_id": {id}}.Encode()
}

// tell passes an input to the goroutine of run, while that runs.
func (j *judge) tell(ctx context.Context, in arrival) {
	select {
	case j.inputs <- in:
	case <-ctx.Done():
	}
}

// subscribe sends the request over HTTP.
func (j *judge) subscribe(ctx context.Context, e effect, tell func(input)) {
	answer, err := j.post(ctx, subscriptionsPath, e.raw, j.o.Token)
	switch {
	case err != nil:
		tell(input{who: e.who, kind: inEnded, problem: j.unreachable(err)})
	case answer.status == http.StatusNotFound:
		tell(input{who: e.who, kind: inEnded, problem: fmt.Sprintf("%s takes no subscriptions at %s", j.url.Host, subscriptionsPath)})
	default:
		answer.who, answer.kind = e.who, inAnswer
		tell(answer)
	}
}

func (j *judge) unreachable(err error) string {
	return fmt.Sprintf("%s cannot be reached: %s", j.url.Host, cause.Of(err))
}

// post sends a message over HTTP, and returns the answer.
func (j *judge) post(ctx context.Context, path string, raw []byte, token string) (input, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, j.url.JoinPath(path).String(), bytes.NewReader(raw))
	if err != nil {
		return input{}, err //nolint:wrapcheck // the caller tells it
	}
	request.Header.Set("Content-Type", "application/json")
	answer, err := j.ask(request, token)
	if err != nil {
		return input{}, err
	}
	defer func() { _ = answer.Body.Close() }()
	body, err := io.ReadAll(io.LimitReader(answer.Body, maxAnswer))
	return input{raw: body, status: answer.StatusCode, place: answer.Header.Get("Location")}, err //nolint:wrapcheck // the caller tells it
}

func (j *judge) ask(request *http.Request, token string) (*http.Response, error) {
	if token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	return j.http.Do(request) //nolint:wrapcheck // the callers tell it
}

// receive reads a stream of server-sent events until it ends.
func (j *judge) receive(ctx context.Context, who int, stream, after string, tell func(input)) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, stream, http.NoBody)
	if err != nil {
		tell(input{who: who, kind: inEnded, problem: j.unreachable(err)})
		return
	}
	request.Header.Set("Accept", "text/event-stream")
	request.Header.Set("Cache-Control", "no-cache")
	if after != "" {
		request.Header.Set("Last-Event-ID", after)
	}
	answer, err := j.ask(request, j.o.Token)
	if err != nil {
		tell(input{who: who, kind: inEnded, problem: j.unreachable(err)})
		return
	}
	defer func() { _ = answer.Body.Close() }()
	if answer.StatusCode != http.StatusOK {
		tell(input{who: who, kind: inEnded, problem: fmt.Sprintf("%s answers %q to %s, expected a stream", j.url.Host, answer.Status, request.URL.Path)})
		return
	}
	tell(input{who: who, kind: inStream})
	from := sse.NewReader(answer.Body, after)
	for {
		f, err := from.Next(func() {})
		if err != nil {
			tell(input{who: who, kind: inEnded, problem: "the stream has ended: " + cause.Of(err)})
			return
		}
		tell(input{who: who, kind: inMessage, raw: f.Data, name: f.Name, id: f.ID})
	}
}

// send sends a message back.
func (j *judge) send(ctx context.Context, l *line, e effect) {
	if !j.exam.sse {
		if l.conn != nil {
			_ = l.conn.Send(e.raw) // its end is told by the one that receives
		}
		return
	}
	token := j.o.Token
	if e.bare {
		token = ""
	}
	j.tasks.Go(func() {
		answer, err := j.post(ctx, repliesPath, e.raw, token)
		if err != nil {
			answer = input{} // the status 0 says so
		}
		answer.who, answer.kind, answer.of = e.who, inReplied, e.of
		j.tell(ctx, arrival{input: answer})
	})
}

// converse connects both ways, sends the request and receives until the connection ends.
func (j *judge) converse(ctx context.Context, l *line, e effect, tell func(input)) {
	ended := func(problem string, code int) { tell(input{who: e.who, kind: inEnded, problem: problem, code: code}) }
	conn, protocol, problem := j.dial(ctx)
	if problem != "" {
		j.tasks.Go(func() { ended(problem, 0) })
		return
	}
	l.conn = conn
	listen := l.listen
	j.tasks.Go(func() {
		defer conn.Drop()
		defer context.AfterFunc(ctx, conn.Drop)()
		if err := conn.Send(e.raw); err != nil {
			ended(j.unreachable(err), 0)
			return
		}
		for first := true; ; first = false {
			raw, err := conn.Receive()
			if err != nil {
				if end, is := errors.AsType[*transport.Error](err); is && end.Message != nil && !first {
					tell(input{who: e.who, kind: inMessage, raw: end.Message})
				}
				ended(socketEnd(err))
				return
			}
			if !first {
				tell(input{who: e.who, kind: inMessage, raw: raw})
				continue
			}
			tell(input{who: e.who, kind: inAnswer, raw: raw, name: protocol})
			select {
			case <-listen:
				tell(input{who: e.who, kind: inStream})
			case <-ctx.Done():
				return
			}
		}
	})
}

// dial connects both ways, and shows the token. protocol is the subprotocol of a WebSocket; problem is why there is no connection.
func (j *judge) dial(ctx context.Context) (conn transport.Conn, protocol, problem string) {
	if j.url.Scheme == unixScheme {
		conn, problem = j.dialUnix(ctx)
		return conn, "", problem
	}
	header := http.Header{}
	if j.o.Token != "" {
		header.Set("Authorization", "Bearer "+j.o.Token)
	}
	if security, is := strings.CutPrefix(j.url.Scheme, "grpc"); is {
		call, err := grpc.Dial(ctx, "http"+security+"://"+j.url.Host, j.o.Transport, header, grpc.Options{Limit: maxReceive})
		if err != nil {
			return nil, "", j.unreachable(err)
		}
		return call, "", ""
	}
	address := *j.url
	if strings.Trim(address.Path, "/") == "" {
		address.Path = socketPath
	}
	ws, answer, err := socket.Dial(ctx, address.String(), j.http, header, socket.Options{Limit: maxReceive}) //nolint:bodyclose // the library closes it
	switch {
	case err == nil:
		protocol = ws.Subprotocol()
		return ws, protocol, ""
	case answer != nil:
		return nil, "", fmt.Sprintf("%s answers %q, expected a WebSocket", j.url.Host, answer.Status)
	}
	return nil, "", j.unreachable(err)
}

// dialUnix connects to a Unix socket.
func (j *judge) dialUnix(ctx context.Context) (transport.Conn, string) {
	conn, err := pipe.Dial(ctx, j.url.Host, pipe.Options{Limit: maxReceive})
	if err != nil {
		return nil, j.unreachable(err)
	}
	if j.o.Token == "" {
		return conn, ""
	}
	shown, err := json.Marshal(transport.Authenticate{Type: transport.TypeAuthenticate, Token: j.o.Token})
	if err == nil {
		err = conn.Send(shown)
	}
	if err != nil {
		conn.Drop()
		return nil, j.unreachable(err)
	}
	return conn, ""
}

func socketEnd(err error) (problem string, code int) {
	e, is := errors.AsType[*transport.Error](err)
	switch {
	case !is:
		return "the connection is broken", 0
	case e.FromPeer:
		return fmt.Sprintf("the producer has closed the connection with the code %d %s", e.Code, e.Reason), 0
	}
	return e.Reason, int(e.Code)
}
