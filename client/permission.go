package client

import (
	"context"
	"net/url"
	"strconv"

	"github.com/earshot-dev/earshot/api"
)

// Permissions lists the standing permissions in force, by number. One is given by an accept with [api.Reply.Standing].
func (c *Client) Permissions(ctx context.Context) ([]api.StandingPermission, error) {
	var all []api.StandingPermission

	for after := 0; ; {
		var page api.PermissionsAnswer

		query := url.Values{"after": {strconv.Itoa(after)}}
		if err := c.call(ctx, to(api.RoutePermissions).with(query), nil, &page); err != nil {
			return nil, err
		}

		all = append(all, page.Permissions...)

		if page.Next <= after {
			return all, nil
		}

		after = page.Next
	}
}

// RevokePermission ends a standing permission and returns it. What it has allowed and has not started is asked for.
func (c *Client) RevokePermission(ctx context.Context, number int) (api.StandingPermission, error) {
	var ended api.StandingPermission

	err := c.call(ctx, to(api.RouteRevoke, strconv.Itoa(number)), api.Empty{}, &ended)

	return ended, err
}
