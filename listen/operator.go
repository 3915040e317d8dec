package listen

import (
	"context"

	"github.com/earshot-dev/earshot/api"
)

// Operate asks for an operation of operators, with the request and the answer in the kernel's
// own form.
func (c *Client) Operate(ctx context.Context, op string, request, answer any) error {
	return c.call(ctx, to(api.OperatorRoute(op)), request, answer)
}

// TakeUpCredentials has the server look at its files of credentials again, and returns when what
// they say counts: who is new is let in, and who is gone is cut off.
func (c *Client) TakeUpCredentials(ctx context.Context) (api.Credentials, error) {
	var answer api.Credentials

	err := c.call(ctx, to(api.RouteCredentials), api.Empty{}, &answer)

	return answer, err
}
