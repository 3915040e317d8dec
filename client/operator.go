package client

import (
	"context"

	"github.com/earshot-dev/earshot/api"
)

// Operate runs an operator request. The request and the answer have the kernel's own types.
func (c *Client) Operate(ctx context.Context, op string, request, answer any) error {
	return c.call(ctx, to(api.OperatorRoute(op)), request, answer)
}

// ReloadCredentials makes the server read its credential files again, and returns when they are in force: new
// credentials are accepted, and the connections of revoked ones are cut.
func (c *Client) ReloadCredentials(ctx context.Context) (api.Credentials, error) {
	var answer api.Credentials

	err := c.call(ctx, to(api.RouteCredentials), api.Empty{}, &answer)

	return answer, err
}
