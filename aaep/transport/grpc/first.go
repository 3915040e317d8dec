package grpc

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
)

// Errors of [Dial], of an address without TLS.
var (
	// ErrTLS means that the other end answers in TLS.
	ErrTLS = errors.New("it answers in TLS")
	// ErrSilent means that the other end closes the connection before it says anything. Servers that speak TLS do.
	ErrSilent = fmt.Errorf("it has closed the connection without an answer: %w", io.EOF)
)

// tlsAlert is the first byte of what a TLS server says to a caller without TLS. A frame of HTTP/2 begins with its length, which is
// never as great.
const tlsAlert = 0x15

type dialer = func(ctx context.Context, network, address string) (net.Conn, error)

// watched dials connections without TLS. spoke is called when the other end says something; until then nobody knows that it speaks
// HTTP/2. Where it closes the connection first, silent gets the reason: package net/http would try again, for a minute and without a word.
func watched(dial dialer, spoke func(), silent func(error)) dialer {
	if dial == nil {
		dial = new(net.Dialer).DialContext
	}
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := dial(ctx, network, address)
		if err != nil {
			return nil, err
		}
		return &firstRead{Conn: conn, spoke: spoke, silent: silent}, nil
	}
}

// firstRead is a connection that reports the first thing that is read from it.
type firstRead struct {
	net.Conn

	once   sync.Once
	spoke  func()
	silent func(error)
}

// Read implements net.Conn.
func (c *firstRead) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	c.once.Do(func() {
		switch {
		case n > 0 && p[0] == tlsAlert:
			c.silent(ErrTLS)
		case n > 0:
			c.spoke()
		case err != nil && !errors.Is(err, net.ErrClosed):
			c.silent(fmt.Errorf("%w (%w)", ErrSilent, err))
		}
	})
	return n, err //nolint:wrapcheck // as the connection says it
}
