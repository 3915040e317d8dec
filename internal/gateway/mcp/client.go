package mcp

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/client"
)

// Client is an agent over HTTP.
type Client struct{ *client.Agent }

// Open implements [Agent].
func (c Client) Open(ctx context.Context, q api.AgentOpen) (Session, error) {
	s, err := c.Agent.Open(ctx, q)
	if err != nil {
		return nil, err
	}
	return s, nil
}

// keyFor returns the idempotency key of the n-th session of a host.
func keyFor(host string, n int) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "earshot-mcp-1\n%s\n%d", host, n))
	return "mcp-" + hex.EncodeToString(sum[:])
}
