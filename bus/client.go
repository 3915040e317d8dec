package bus

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
)

// Client is one principal's end of the bus. It is safe for use by several goroutines.
type Client struct {
	credentials Credentials
	timeout     time.Duration
	log         *slog.Logger
	mouth, ear  *conn
	release     func()

	mu     sync.Mutex
	closed bool
	subs   map[*Subscription]struct{}
}

// DialOptions are the options of Dial.
type DialOptions struct {
	// Timeout bounds each exchange whose context has no deadline. Default 30 s.
	Timeout time.Duration
	// Logger takes notes without content. Default: none.
	Logger *slog.Logger
}

// Dial connects a principal from another process to a bus that listens. It comes back
// by itself after a broken connection; calls made meanwhile fail with disconnected.
// Errors: invalid without a URL, refused, disconnected, timeout.
func Dial(ctx context.Context, c Credentials, o DialOptions) (*Client, error) {
	if c.URL == "" {
		return nil, invalidf("dial %s: the credentials have no URL; start the bus with a listen address", c.Principal)
	}
	o.Timeout, o.Logger = Options{Timeout: o.Timeout}.withDefaults().Timeout, Options{Logger: o.Logger}.withDefaults().Logger
	return connect(ctx, c, o.Timeout, o.Logger, func(ctx context.Context, l Login) (*conn, error) {
		return dial(ctx, l, o.Timeout, o.Logger, func(settings *nats.Options) error {
			settings.Url, settings.MaxReconnect = c.URL, -1
			return nil
		})
	})
}

func connect(ctx context.Context, c Credentials, timeout time.Duration, log *slog.Logger, dial func(context.Context, Login) (*conn, error)) (*Client, error) {
	mouth, err := dial(ctx, c.Mouth)
	if err != nil {
		return nil, err
	}
	ear, err := dial(ctx, c.Ear)
	if err != nil {
		mouth.close()
		return nil, err
	}
	return &Client{
		credentials: c, timeout: timeout, log: log, mouth: mouth, ear: ear,
		subs: map[*Subscription]struct{}{}, release: func() {},
	}, nil
}

// Principal returns who this is.
func (c *Client) Principal() Principal { return c.credentials.Principal }

// Request asks the kernel for one of the operations of this principal's kind and
// returns the answer as it came, a refusal of the kernel included.
//
// Errors: not_allowed for an operation of another kind, too_large, no_responders when
// no kernel serves (safe to retry), timeout and canceled (it may have been carried
// out), disconnected, closed.
func (c *Client) Request(ctx context.Context, op string, request []byte) ([]byte, error) {
	who := c.Principal()
	if !mayAsk(who.Kind, op) {
		return nil, &Error{Code: CodeNotAllowed, Message: fmt.Sprintf("request: %s may not ask for %q; a %s may ask for %v", who, op, who.Kind, opsByKind[who.Kind])}
	}
	ctx, cancel := bounded(ctx, c.timeout)
	defer cancel()
	answer, sent, err := c.mouth.request(ctx, askSubject(c.credentials.Project, op), request)
	if err != nil {
		return nil, wireError("request "+op, sent, err)
	}
	return answer, nil
}

// Commands hears the commands for this tool. Kind Tool only. See [Subscription].
func (c *Client) Commands(ctx context.Context, h func(context.Context, Message)) (*Subscription, error) {
	return c.listen(ctx, Tool, h)
}

// Doorbells hears the doorbell of this agent. Kind Agent only. See [Subscription].
func (c *Client) Doorbells(ctx context.Context, h func(context.Context, Message)) (*Subscription, error) {
	return c.listen(ctx, Agent, h)
}

// Broadcasts hears the project's broadcasts. Kind Hub only. See [Subscription].
func (c *Client) Broadcasts(ctx context.Context, h func(context.Context, Message)) (*Subscription, error) {
	return c.listen(ctx, Hub, h)
}

func (c *Client) listen(ctx context.Context, kind Kind, h func(context.Context, Message)) (*Subscription, error) {
	who := c.Principal()
	if who.Kind != kind {
		return nil, &Error{Code: CodeNotAllowed, Message: fmt.Sprintf("listen: %s does not hear what a %s hears", who, kind)}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return nil, &Error{Code: CodeClosed, Message: "listen: the connection is closed"}
	}
	s, err := newSubscription(ctx, c, heardBy(c.credentials.Project, who), h)
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

// Close ends the subscriptions, waits for their handlers, and closes the connections.
// Requests in flight end with closed. It may be called more than once.
func (c *Client) Close() {
	c.mu.Lock()
	again := c.closed
	c.closed = true
	subs := make([]*Subscription, 0, len(c.subs))
	for s := range c.subs {
		subs = append(subs, s)
	}
	c.mu.Unlock()
	for _, s := range subs {
		s.Close()
	}
	if again {
		<-c.mouth.closed
		<-c.ear.closed
		return
	}
	c.mouth.close()
	c.ear.close()
	c.release()
}
