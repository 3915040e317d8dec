package compat

import (
	"context"
	"slices"
	"sync"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/aaep/transport"
)

// channel holds the messages for the one listener, also before it has come.
type channel struct {
	mu       sync.Mutex
	messages [][]byte
	more     chan struct{} // has a value when there are messages
}

func newChannel() *channel { return &channel{more: make(chan struct{}, 1)} }

// put adds messages. The caller holds mu.
func (c *channel) put(messages ...[]byte) {
	for _, m := range messages {
		c.messages = append(c.messages, slices.Clone(m))
	}
	select {
	case c.more <- struct{}{}:
	default:
	}
}

// take returns the messages, once there are any; none when the context has ended.
func (c *channel) take(ctx context.Context) [][]byte {
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-c.more:
		}
		if all := c.all(); all != nil { // they may have been taken with those before
			return all
		}
	}
}

func (c *channel) all() [][]byte {
	c.mu.Lock()
	defer c.mu.Unlock()
	all := c.messages
	c.messages = nil
	return all
}

// conn is the connection of a producer to the channel. It implements [transport.Conn].
type conn struct {
	to   *channel
	come chan []byte
	gone chan struct{}
	drop func() // closes gone
	// answered is closed when the request has its answer: what is told from then on is heard.
	answered chan struct{}
	answer   func() // closes answered
	// quiet leaves out the answer to the first request, which nobody has sent.
	quiet bool

	mu           sync.Mutex
	subscription string
}

func newConn(to *channel, quiet bool) *conn {
	c := &conn{to: to, come: make(chan []byte, 64), gone: make(chan struct{}), quiet: quiet}
	c.answered = make(chan struct{})
	c.drop, c.answer = sync.OnceFunc(func() { close(c.gone) }), sync.OnceFunc(func() { close(c.answered) })
	return c
}

// pass hands a message to the producer. It drops it if the producer has gone.
func (c *conn) pass(raw []byte) {
	select {
	case c.come <- raw:
	case <-c.gone:
	}
}

// Receive implements [transport.Conn].
func (c *conn) Receive() ([]byte, error) {
	select {
	case raw := <-c.come:
		return raw, nil
	case <-c.gone:
		return nil, transport.ErrBroken
	}
}

// Send implements [transport.Conn].
func (c *conn) Send(group ...[]byte) error {
	defer c.answer()
	c.to.mu.Lock()
	defer c.to.mu.Unlock()
	for _, raw := range group {
		if m, err := aaep.DecodeSubscriptionAccepted(raw); err == nil {
			c.begin(m.SubscriptionID)
			if c.quiet {
				continue
			}
		}
		c.to.put(raw)
	}
	return nil
}

func (c *conn) begin(subscription string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.subscription = subscription
}

// id returns the id of the subscription; "" before it has begun.
func (c *conn) id() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.subscription
}

// Ping implements [transport.Conn].
func (c *conn) Ping() error { return nil }

// Close implements [transport.Conn].
func (c *conn) Close(transport.Code, string) { c.drop() }

// Drop implements [transport.Conn].
func (c *conn) Drop() { c.drop() }
