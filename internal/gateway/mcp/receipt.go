package mcp

import (
	"context"
	"errors"
	"sync"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// acknowledging is a transport that acknowledges results once they were sent to the host. One that could not be written
// is found again by the host's next try.
type acknowledging struct {
	sdk.Transport

	gateway *Gateway
}

// Connect implements sdk.Transport.
func (a acknowledging) Connect(ctx context.Context) (sdk.Connection, error) {
	c, err := a.Transport.Connect(ctx)
	if err != nil {
		return nil, err //nolint:wrapcheck // as the transport says it
	}
	return acknowledged{c, a.gateway}, nil
}

type acknowledged struct {
	sdk.Connection

	gateway *Gateway
}

// Write implements sdk.Connection.
func (c acknowledged) Write(ctx context.Context, m jsonrpc.Message) error {
	call := callIn(m)
	if call != "" {
		c.gateway.receipts.begin()
		defer c.gateway.receipts.end()
	}
	if err := c.Connection.Write(ctx, m); err != nil {
		return err //nolint:wrapcheck // as the connection says it
	}
	if call != "" {
		c.gateway.received(ctx, call)
	}
	return nil
}

// callIn returns the call whose result a message contains; "" if it contains none.
func callIn(m jsonrpc.Message) string {
	response, is := m.(*jsonrpc.Response)
	if !is || response.Error != nil {
		return ""
	}
	var result struct {
		Meta map[string]jsontext.Value `json:"_meta"` //nolint:tagliatelle // the protocol's name
	}
	var call string
	if json.Unmarshal(response.Result, &result) != nil || json.Unmarshal(result.Meta[callMeta], &call) != nil {
		return ""
	}
	return call
}

// received acknowledges the result of a call.
func (g *Gateway) received(ctx context.Context, call string) {
	g.mu.Lock()
	session := g.session
	g.mu.Unlock()
	if session == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), goodbye)
	defer cancel()
	if err := session.Received(ctx, call); err != nil && !errors.Is(err, context.Canceled) {
		g.o.Logger.Info("that a result was received is not noted", "call", call, "reason", err)
	}
}

// receipts counts the results that are being sent to the host.
type receipts struct {
	mu      sync.Mutex
	pending int
	idle    chan struct{} // closed once none is being sent; nil then
}

// begin records that a result is about to be sent.
func (r *receipts) begin() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.pending++; r.idle == nil {
		r.idle = make(chan struct{})
	}
}

// end records that its receipt is known.
func (r *receipts) end() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.pending--; r.pending == 0 {
		close(r.idle)
		r.idle = nil
	}
}

// wait waits until all receipts are known.
func (r *receipts) wait(ctx context.Context) {
	r.mu.Lock()
	idle := r.idle
	r.mu.Unlock()
	if idle == nil {
		return
	}
	select {
	case <-idle:
	case <-ctx.Done():
	}
}
