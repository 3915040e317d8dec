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

// Joined is an agent over HTTP that makes its calls in a session which another program has opened, and ends.
type Joined struct {
	*client.Agent

	ID string // of the session
}

// Open implements [Agent]. It returns an error if the session has ended: there is no other one.
func (j Joined) Open(ctx context.Context, _ api.AgentOpen) (Session, error) {
	s := j.Session(j.ID)
	now, err := s.Describe(ctx)
	switch {
	case err != nil:
		return nil, err
	case now.Ended:
		return nil, &client.Error{Code: client.CodeConflict, Message: "the session has ended", Hint: "Do nothing more in it."}
	}
	return joined{s}, nil
}

// joined is a session that is not ended here.
type joined struct{ *client.AgentSession }

func (joined) End(context.Context, api.AgentEnd) error { return nil }

// Report does not say for the other process that it is there.
func (j joined) Report(ctx context.Context, q api.AgentReport) error {
	if q.Lease > 0 {
		return nil
	}
	return j.AgentSession.Report(ctx, q)
}

// keyFor returns the idempotency key of the n-th session of a host.
func keyFor(host string, n int) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "earshot-mcp-1\n%s\n%d", host, n))
	return "mcp-" + hex.EncodeToString(sum[:])
}
