package producer

import (
	"context"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/client"
)

// Client is an agent over HTTP.
type Client struct{ Agent *client.Agent }

// Open implements [Agent].
func (c Client) Open(ctx context.Context, q api.AgentOpen) (string, error) {
	s, err := c.Agent.Open(ctx, q)
	if err != nil {
		return "", err
	}
	return s.ID, nil
}

// Session implements [Agent].
func (c Client) Session(id string) Session { return clientSession{c.Agent.Session(id)} }

type clientSession struct{ *client.AgentSession }

// Withdraw implements [Session]: a request that looks and does not come back leaves the question to be withdrawn.
func (s clientSession) Withdraw(ctx context.Context, call string) error {
	_, err := s.WithdrawOnLeave().Wait(ctx, call, 0)
	return err
}
