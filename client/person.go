package client

import (
	"context"

	"github.com/earshot-dev/earshot/api"
)

// Identity returns who the token stands for.
func (c *Client) Identity(ctx context.Context) (api.Identity, error) {
	var me api.Identity

	err := c.call(ctx, to(api.RouteMe), nil, &me)

	return me, err
}

// LoginCode creates a one-time code to log a browser in.
func (c *Client) LoginCode(ctx context.Context) (api.LoginCode, error) {
	var code api.LoginCode

	err := c.call(ctx, to(api.RouteCode), api.Empty{}, &code)

	return code, err
}

// Preferences returns the preferences of the token's person.
func (c *Client) Preferences(ctx context.Context) (api.Preferences, error) {
	var current api.Preferences

	err := c.call(ctx, to(api.RoutePreferences), nil, &current)

	return current, err
}

// SetPreferences sets the members that are not nil and returns all preferences that are then in force.
func (c *Client) SetPreferences(ctx context.Context, set api.Preferences) (api.Preferences, error) {
	var current api.Preferences

	err := c.call(ctx, to(api.RouteSetPreferences), set, &current)

	return current, err
}
