package bus

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/earshot-dev/earshot/api"
)

// Client is one principal's connection to the bus. It is safe for concurrent use.
type Client struct {
	credentials             Credentials
	timeout                 time.Duration
	log                     *slog.Logger
	requests, subscriptions *conn
	open                    func(context.Context, Login) (*conn, error)
	release                 func()

	asking sync.WaitGroup // open requests; incremented under mu

	mu         sync.Mutex
	closed     bool
	mute       bool // the bus is closing: new requests are refused
	subs       map[*Subscription]struct{}
	responders map[*discoveryResponder]struct{}
}

// DialOptions are the options of Dial.
type DialOptions struct {
	// Timeout limits each exchange whose context has no deadline. Default 30 s.
	Timeout time.Duration
	// Logger receives log entries without content. Default: none.
	Logger *slog.Logger
	// OnConnection is called when the connection that makes requests is lost, and when it is back. Default: nothing is.
	OnConnection func(lost bool)
}

// Dial connects a principal from another process to a bus that listens. The client reconnects automatically; calls made
// meanwhile fail with disconnected. Errors: invalid without a URL, refused, disconnected, timeout.
func Dial(ctx context.Context, c Credentials, o DialOptions) (*Client, error) {
	if c.URL == "" {
		return nil, invalidf("dial %s: the credentials have no URL; start the bus with a listen address", c.Principal)
	}
	o.Timeout, o.Logger = Options{Timeout: o.Timeout}.withDefaults().Timeout, Options{Logger: o.Logger}.withDefaults().Logger
	return connect(ctx, c, o.Timeout, o.Logger, func(ctx context.Context, l Login) (*conn, error) {
		if l == c.Request && o.OnConnection != nil {
			return dial(ctx, l, o.Timeout, o.Logger, outside(c.URL), reporting(o.OnConnection))
		}
		return dial(ctx, l, o.Timeout, o.Logger, outside(c.URL))
	})
}

// reporting reports a loss and a return, after what the connection itself does of them; that it was closed here is no loss.
func reporting(report func(lost bool)) nats.Option {
	return func(settings *nats.Options) error {
		lost, back := settings.DisconnectedErrCB, settings.ReconnectedCB
		settings.DisconnectedErrCB = func(nc *nats.Conn, err error) {
			lost(nc, err)
			if !nc.IsClosed() {
				report(true)
			}
		}
		settings.ReconnectedCB = func(nc *nats.Conn) {
			back(nc)
			report(false)
		}
		return nil
	}
}

// Server is the address of the bus that this client is connected to; "" while it is not.
func (c *Client) Server() string { return c.requests.nats.ConnectedUrlRedacted() }

// outside connects to a bus over the network, and reconnects whenever the connection breaks.
func outside(url string) nats.Option {
	return func(settings *nats.Options) error {
		settings.Url, settings.MaxReconnect = url, -1
		return nil
	}
}

func connect(ctx context.Context, c Credentials, timeout time.Duration, log *slog.Logger, dial func(context.Context, Login) (*conn, error)) (*Client, error) {
	requests, err := dial(ctx, c.Request)
	if err != nil {
		return nil, err
	}
	subscriptions, err := dial(ctx, c.Subscribe)
	if err != nil {
		requests.close()
		return nil, err
	}
	return &Client{
		credentials: c, timeout: timeout, log: log, requests: requests, subscriptions: subscriptions, open: dial,
		subs: map[*Subscription]struct{}{}, responders: map[*discoveryResponder]struct{}{}, release: func() {},
	}, nil
}

// Life is a context that ends when the connection is closed permanently: by Close, or by the server when it no longer
// accepts the credentials.
func (c *Client) Life() context.Context { return c.requests.life }

// Principal returns the principal of the client.
func (c *Client) Principal() Principal { return c.credentials.Principal }

// Request sends one of the operations of this principal's kind to the kernel and returns the answer unchanged,
// including a refusal by the kernel.
//
// Errors: not_allowed for an operation of another kind, too_large, no_responders when no kernel serves (safe to retry),
// timeout and canceled (it may have been carried out), disconnected, closed.
func (c *Client) Request(ctx context.Context, op string, request []byte) ([]byte, error) {
	who := c.Principal()
	if !mayAsk(who.Kind, op) {
		return nil, &Error{Code: CodeNotAllowed, Message: fmt.Sprintf("request: %s may not ask for %q; a %s may ask for %v", who, op, who.Kind, opsByKind()[who.Kind])}
	}
	ctx, cancel := bounded(ctx, c.timeout)
	defer cancel()
	if err := c.enter(); err != nil {
		return nil, err
	}
	defer c.asking.Done()
	answer, sent, err := c.requests.request(ctx, askSubject(c.credentials.Project, op), request)
	if err != nil {
		return nil, wireError("request "+op, sent, err)
	}
	return answer, nil
}

// Commands subscribes to the commands for this tool and, for a tool of kind Tool, to their cancellations. Kinds Tool
// and External only. See [Subscription].
func (c *Client) Commands(ctx context.Context, h func(context.Context, Message)) (*Subscription, error) {
	return c.listen(ctx, Tool, commandsTo(c.credentials.Project, c.Principal()), h)
}

// SubscribeWakeups subscribes to the wakeups of this agent. Kinds Agent and External only. See [Subscription].
func (c *Client) SubscribeWakeups(ctx context.Context, h func(context.Context, Message)) (*Subscription, error) {
	return c.listen(ctx, Agent, []string{wakeupOf(c.credentials.Project, c.Principal())}, h)
}

// Broadcasts subscribes to the project's broadcasts. Kind Hub only. See [Subscription].
func (c *Client) Broadcasts(ctx context.Context, h func(context.Context, Message)) (*Subscription, error) {
	return c.listen(ctx, Hub, []string{broadcastsOf(c.credentials.Project)}, h)
}

// Progress subscribes to the progress of calls: a message on `….evt.tool.<target>.progress` for each step that a tool
// reports. Kind Operator only. See [Subscription].
func (c *Client) Progress(ctx context.Context, h func(context.Context, Message)) (*Subscription, error) {
	return c.listen(ctx, Operator, subjectsOf(c.credentials.Project, c.Principal()), h)
}

// AgentEvents subscribes to the events of agents, if the bus publishes them ([Options.Events]): a message on
// `….evt.agent.<agent>.*` for what an agent does, and on `….str.agent.<agent>.chunk` for what it writes. They may be lost.
// Kind Operator only. See [Subscription].
func (c *Client) AgentEvents(ctx context.Context, h func(context.Context, Message)) (*Subscription, error) {
	return c.listen(ctx, Operator, eventsOfAgents(c.credentials.Project), h)
}

// Send sends a message of the tool protocol to the kernel and returns its answer unchanged: a command to a tool's
// subject, or a report or a user interface's action to that of its operation. Kind External only. Errors: as [Client.Request], and invalid for a
// subject or header that cannot be sent unchanged.
func (c *Client) Send(ctx context.Context, m Message) ([]byte, error) {
	if who := c.Principal(); who.Kind != External {
		return nil, &Error{Code: CodeNotAllowed, Message: fmt.Sprintf("send: %s asks by operations; only a foreign peer sends messages", who)}
	}
	project := c.credentials.Project
	if !isLiteral(m.Subject) || !isSent(project, m.Subject) && m.Subject != askSubject(project, api.OpReport) && m.Subject != askSubject(project, api.OpUIAction) {
		return nil, invalidf("send: %q is neither the subject of a command in project %s nor that of a report or of a user interface's action", m.Subject, project)
	}
	out, err := outgoing(m.Subject, m.Header, m.Payload)
	if err != nil {
		return nil, err
	}
	ctx, cancel := bounded(ctx, c.timeout)
	defer cancel()
	answer, sent, err := c.requests.ask(ctx, out)
	if err != nil {
		return nil, wireError("send "+m.Subject, sent, err)
	}
	return answer, nil
}

func (c *Client) listen(ctx context.Context, kind Kind, subjects []string, h func(context.Context, Message)) (*Subscription, error) {
	who := c.Principal()
	if who.Kind != kind && (who.Kind != External || kind == Hub || kind == Operator) {
		return nil, &Error{Code: CodeNotAllowed, Message: fmt.Sprintf("listen: %s does not hear what a %s hears", who, kind)}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return nil, errClosed("listen")
	}
	s, err := newSubscription(ctx, c, subjects, h)
	if err != nil {
		return nil, err
	}
	c.subs[s] = struct{}{}
	return s, nil
}

func (c *Client) forget(s *Subscription) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.subs, s)
}

// enter counts a request, unless the client accepts none any more.
func (c *Client) enter() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed || c.mute {
		return &Error{Code: CodeClosed, Message: "request: the connection is closed"}
	}
	c.asking.Add(1)
	return nil
}

// lastAnswers is the timeout for answers that were sent before a bus closed.
const lastAnswers = 5 * time.Second

// receive stops accepting requests, and waits for the answers to open ones: the library would drop answers that have
// arrived but were not delivered.
func (c *Client) receive() {
	c.mu.Lock()
	c.mute = true
	c.mu.Unlock()
	all := make(chan struct{})
	go func() { // ends with the requests, at the latest when the caller closes the connection
		c.asking.Wait()
		close(all)
	}()
	timer := time.NewTimer(lastAnswers)
	defer timer.Stop()
	select {
	case <-all:
	case <-timer.C:
	}
}

// Close ends the subscriptions, waits for their handlers, and closes the connections. Open requests end with closed. It
// may be called more than once.
func (c *Client) Close() {
	c.mu.Lock()
	again := c.closed
	c.closed = true
	subs, faces := slices.Collect(maps.Keys(c.subs)), slices.Collect(maps.Keys(c.responders))
	c.mu.Unlock()
	for _, s := range subs {
		s.Close()
	}
	for _, f := range faces {
		f.close()
	}
	if again {
		<-c.requests.closed
		<-c.subscriptions.closed
		return
	}
	c.requests.close()
	c.subscriptions.close()
	c.release()
}
