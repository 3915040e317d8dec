package client

import (
	"context"
	"time"

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

// RereadProjects makes the server read its list of projects again: it serves those that are new, and ends those that are missing. It
// returns all of them.
func (c *Client) RereadProjects(ctx context.Context) (api.Projects, error) {
	ctx, cancel := context.WithTimeout(ctx, servicesTime)
	defer cancel()
	var answer api.Projects

	err := c.call(ctx, to(api.RouteProjects), api.Empty{}, &answer)

	return answer, err
}

// Projects returns the projects of the server besides its own, and how each is served. Nothing is tried again.
func (c *Client) Projects(ctx context.Context) (api.Projects, error) {
	var answer api.Projects

	err := c.call(ctx, to(api.RouteProjectStates), nil, &answer)

	return answer, err
}

// servicesTime is how long the server may take to end services and to start others.
const servicesTime = time.Minute

// RereadServices makes the server read its list of Model Context Protocol servers again: it starts those that are new,
// and ends those that are missing. It returns when their tools are offered, or when it is known why they are not.
func (c *Client) RereadServices(ctx context.Context) (api.Services, error) {
	var answer api.Services

	err := c.callFor(ctx, servicesTime, nil, to(api.RouteServices), api.Empty{}, &answer)

	return answer, err
}
