package subscriber_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/coder/websocket"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/aaep/transport"
	"github.com/earshot-dev/earshot/aaep/transport/grpc"
	"github.com/earshot-dev/earshot/aaep/transport/pipe"
	"github.com/earshot-dev/earshot/aaep/transport/sse"
)

// pipes is a listener whose connections are in memory.
type pipes struct {
	conns chan net.Conn
	done  chan struct{}
	once  sync.Once
}

func newPipes() *pipes { return &pipes{conns: make(chan net.Conn), done: make(chan struct{})} }

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.done:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error {
	p.once.Do(func() { close(p.done) })
	return nil
}

func (p *pipes) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 1} }

func (p *pipes) client() *http.Client {
	return &http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		mine, its := net.Pipe()
		select {
		case p.conns <- its:
			return mine, nil
		case <-p.done:
			return nil, net.ErrClosed
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}}}
}

// fake is a small subscriber. It does everything right, unless a test says otherwise.
type fake struct {
	request string // that it subscribes with
	mute    bool   // never answers
	early   string // is posted to the replies before the request
	// leaves ends the connection where it says so.
	leaves func(event string) bool
	// shape changes a reply.
	shape func(reply string) string
	// times is how often it replies, and late how long after the question.
	times int
	late  time.Duration
	// eager answers what is to be left alone, too, and naive what is not a question.
	eager, naive bool
	forgets      bool   // that it has heard an event before
	amnesia      bool   // comes back without Last-Event-ID
	fresh        bool   // comes back with a new subscription
	curt         bool   // leaves without subscription.close
	after        string // is sent after subscription.close, and how long
	extra        string // is sent once when it has subscribed
	accept       string // header of the stream
	media        string // of what is posted

	client *http.Client
	url    string
	id     atomic.Pointer[string] // of the subscription
	last   string
	seen   map[string]bool
	plain  int // how many events came that only say that it goes on
	tasks  sync.WaitGroup
}

const rightRequest = `{"type":"subscription.request","aaep_version":"1.0.0","subscriber_id":"fake","capabilities":{"supports_confirmation_reply":true,"supports_clarification_reply":true}}`

func newFake() *fake {
	return &fake{request: rightRequest, times: 1, accept: "text/event-stream", media: "application/json", seen: map[string]bool{}}
}

// run subscribes, and listens until ctx ends.
func (f *fake) run(ctx context.Context, url string, client *http.Client) {
	f.url, f.client = url, client
	defer f.tasks.Wait()
	if f.early != "" {
		f.post(f.early)
	}
	for first := true; ctx.Err() == nil; first = false {
		if first || f.fresh {
			f.subscribe()
		}
		if first && f.extra != "" {
			f.post(f.filled(f.extra, ""))
		}
		if !f.listen(ctx) {
			return
		}
	}
	if !f.curt {
		f.post(f.filled(`{"type":"subscription.close","subscription_id":"SUB","reason_code":"subscriber_shutdown"}`, ""))
	}
	if f.after != "" {
		<-time.After(3 * time.Second)
		f.post(f.filled(f.after, "rpl_accepted"))
	}
}

func (f *fake) filled(text, token string) string {
	return strings.NewReplacer("SUB", f.granted(), "TOKEN", token, "NOW", aaep.FormatTime(time.Now())).Replace(text)
}

// granted is the id of the subscription, or "".
func (f *fake) granted() string {
	if id := f.id.Load(); id != nil {
		return *id
	}
	return ""
}

func (f *fake) subscribe() {
	raw := f.postTo("subscriptions", f.request)
	accepted, err := aaep.DecodeSubscriptionAccepted(raw)
	if err == nil {
		f.id.Store(&accepted.SubscriptionID)
	}
}

func (f *fake) post(raw string) { f.postTo("replies", raw) }

func (f *fake) postTo(path, raw string) []byte {
	answer, err := f.client.Post(f.url+"/aaep/v1/"+path, f.media, strings.NewReader(raw))
	if err != nil {
		return nil
	}
	defer func() { _ = answer.Body.Close() }()
	body, _ := io.ReadAll(answer.Body)
	return body
}

// listen takes one stream, and reports whether it comes back.
func (f *fake) listen(ctx context.Context) bool {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, f.url+"/aaep/v1/events?subscription_id="+f.granted(), http.NoBody)
	if err != nil {
		return false
	}
	r.Header.Set("Accept", f.accept)
	r.Header.Set("Cache-Control", "no-cache")
	if f.last != "" && !f.amnesia {
		r.Header.Set("Last-Event-ID", f.last)
	}
	answer, err := f.client.Do(r)
	if err != nil {
		return ctx.Err() != nil
	}
	defer func() { _ = answer.Body.Close() }()
	if answer.StatusCode != http.StatusOK {
		return false
	}
	from := sse.NewReader(answer.Body, f.last)
	for {
		frame, err := from.Next(func() {})
		if err != nil {
			return true
		}
		f.last = frame.ID
		if f.leaves != nil && f.leaves(string(frame.Data)) {
			return true
		}
		f.hears(string(frame.Data), f.post)
	}
}

// hears answers a question as its text says.
func (f *fake) hears(raw string, send func(string)) {
	d := aaep.Read([]byte(raw))
	id, _ := d.Text("event_id")
	if f.seen[id] && !f.forgets || len(aaep.Errors(d.Validate(aaep.ModeConsumer))) > 0 && !f.naive {
		return
	}
	f.seen[id] = true
	_, rest, asked := strings.Cut(raw, `"reply_token":"`)
	token, _, _ := strings.Cut(rest, `"`)
	reply := f.reply(raw, d)
	if !asked || f.mute || reply == "" {
		return
	}
	if f.shape != nil {
		reply = f.shape(reply)
	}
	for range f.times {
		f.tasks.Go(func() {
			<-time.After(f.late)
			send(f.filled(reply, token))
		})
	}
}

func (f *fake) reply(raw string, d aaep.Document) string {
	const head, tail = `{"type":"confirmation.reply","reply_token":"TOKEN","decision":`, `,"subscription_id":"SUB","timestamp":"NOW"}`
	clarifies := func(response string) string {
		return `{"type":"clarification.reply","reply_token":"TOKEN","response":` + response + tail
	}
	kinds := d.Texts("accepted_response_kinds")
	switch {
	case strings.Contains(raw, "Accept this."):
		return head + `"accept"` + tail
	case strings.Contains(raw, "Reject this."), strings.Contains(raw, "Do not answer") && f.eager:
		return head + `"reject"` + tail
	case len(kinds) == 0:
		return ""
	}
	return clarifies(map[string]string{"yes_no": "true", "multiple_choice": `"red"`, "numeric": "3", "freetext": `"Words."`}[kinds[0]])
}

// socketFake is one that speaks over a WebSocket.
type socketFake struct {
	*fake

	protocols []string
	before    string // is sent before the request
	binary    bool
	code      websocket.StatusCode
}

func (f *socketFake) run(ctx context.Context, url string, client *http.Client) {
	defer f.tasks.Wait()
	for ctx.Err() == nil {
		c, _, err := websocket.Dial(context.WithoutCancel(ctx), "ws"+strings.TrimPrefix(url, "http")+"/aaep/v1/ws", &websocket.DialOptions{HTTPClient: client, Subprotocols: f.protocols}) //nolint:bodyclose // the library closes it
		if err != nil {
			return
		}
		f.talk(ctx, c)
	}
}

func (f *socketFake) talk(ctx context.Context, c *websocket.Conn) {
	life := context.WithoutCancel(ctx)
	stop := context.AfterFunc(ctx, func() {
		_ = c.Write(life, websocket.MessageText, fmt.Appendf(nil, `{"type":"subscription.close","subscription_id":%q}`, f.granted()))
		_ = c.Close(f.code, "")
	})
	defer stop()
	for _, raw := range []string{f.before, f.request} {
		if raw != "" {
			_ = c.Write(life, websocket.MessageText, []byte(raw))
		}
	}
	for {
		_, raw, err := c.Read(life)
		if err != nil {
			return
		}
		if accepted, err := aaep.DecodeSubscriptionAccepted(raw); err == nil {
			f.id.Store(&accepted.SubscriptionID)
			continue
		}
		f.hears(string(bytes.TrimSpace(raw)), func(reply string) {
			kind := websocket.MessageText
			if f.binary {
				kind = websocket.MessageBinary
			}
			_ = c.Write(life, kind, []byte(reply))
		})
	}
}

// connFake is one that speaks over a connection that carries a whole subscription.
type connFake struct {
	*fake

	dial   func(ctx context.Context, url string, client *http.Client) (transport.Conn, error)
	before string // is sent before the request
	says   bool   // its connection does not say by itself that the subscription ends
}

func dialGRPC(ctx context.Context, url string, client *http.Client) (transport.Conn, error) {
	return grpc.Dial(ctx, url, client.Transport, nil, grpc.Options{Limit: 1 << 20})
}

// dialUnix connects to the socket of a judge.
func dialUnix(p *pipes) func(context.Context, string, *http.Client) (transport.Conn, error) {
	return func(context.Context, string, *http.Client) (transport.Conn, error) {
		mine, its := net.Pipe()
		select {
		case p.conns <- its:
			return pipe.New(mine, pipe.Options{Limit: 1 << 20, Framing: pipe.Length}), nil
		case <-p.done:
			return nil, net.ErrClosed
		}
	}
}

func (f *connFake) run(ctx context.Context, url string, client *http.Client) {
	defer f.tasks.Wait()
	for ctx.Err() == nil {
		c, err := f.dial(context.WithoutCancel(ctx), url, client)
		if err != nil {
			return
		}
		f.talk(ctx, c)
	}
}

func (f *connFake) talk(ctx context.Context, c transport.Conn) {
	ended := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(ended)
		if f.curt {
			c.Drop()
			return
		}
		if f.says {
			_ = c.Send(fmt.Appendf(nil, `{"type":"subscription.close","subscription_id":%q}`, f.granted()))
		}
		c.Close(transport.EndedBySubscriber, "enough")
	})
	for _, raw := range []string{f.before, f.request} {
		if raw != "" {
			_ = c.Send([]byte(raw))
		}
	}
	for {
		raw, err := c.Receive()
		if err != nil {
			break
		}
		if accepted, err := aaep.DecodeSubscriptionAccepted(raw); err == nil {
			f.id.Store(&accepted.SubscriptionID)
			continue
		}
		f.hears(string(raw), func(reply string) { _ = c.Send([]byte(reply)) })
	}
	if !stop() {
		<-ended
	}
	c.Drop()
}
