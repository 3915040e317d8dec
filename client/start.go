package client

import (
	"context"
	"errors"

	"github.com/earshot-dev/earshot/api"
)

// Start starts a turn. Where no answer comes, or the server cannot at the moment, it sends the request again for up to
// half a minute, with the same key (TurnStart.Key, or one that it makes): only one turn is started.
func (c *Client) Start(ctx context.Context, t api.TurnStart) (api.EnqueueAnswer, error) {
	var started api.EnqueueAnswer

	err := c.again(ctx, &t.Key, func(ctx context.Context, header map[string]string) error {
		return c.callWith(ctx, header, to(api.RouteStartTurn), t, &started)
	})

	return started, err
}

// maySendAgain answers whether a turn that has a key is worth sending again. A server that has
// started again may answer before it has left word of its new token.
func (c *Client) maySendAgain(err error, lost bool) bool {
	var e *Error
	if !errors.As(err, &e) {
		return false
	}

	switch e.Code {
	case CodeUnreachable:
		return true
	case CodeUnauthenticated:
		return lost && c.o.ServerFile != ""
	case "rate_limit", "too_many_turns": // it would take longer than anybody waits
		return false
	default:
		return e.Retry
	}
}
