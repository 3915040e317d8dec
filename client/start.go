package client

import (
	"context"
	"errors"

	"github.com/earshot-dev/earshot/api"
)

// Start starts a turn. If no answer comes, or the server is temporarily unavailable, it repeats the request for up to
// half a minute with the same key (TurnStart.Key, or a generated one), so that only one turn is started.
func (c *Client) Start(ctx context.Context, t api.TurnStart) (api.EnqueueAnswer, error) {
	var started api.EnqueueAnswer

	err := c.again(ctx, &t.Key, func(ctx context.Context, header map[string]string) error {
		return c.callWith(ctx, header, to(api.RouteStartTurn), t, &started)
	})

	return started, err
}

// maySendAgain reports whether to repeat a request that has a key or is idempotent. A restarted server may answer
// before it has written its new token.
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
	case "rate_limit", "too_many_turns": // waiting would take too long
		return false
	default:
		return e.Retry || e.passing
	}
}
