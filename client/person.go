package client

import (
	"context"
	"time"

	"github.com/earshot-dev/earshot/api"
)

// Identity returns who the token stands for.
func (c *Client) Identity(ctx context.Context) (api.Identity, error) {
	var me api.Identity

	err := c.call(ctx, to(api.RouteMe), nil, &me)

	return me, err
}

// Ready returns nil if the server takes work. One that answers and does not, as while its database is away, is an error with the
// code "unavailable".
func (c *Client) Ready(ctx context.Context) error { return c.call(ctx, to(api.RouteReady), nil, nil) }

// Zone is where the token's person wanted times told when this client connected; nil without such a preference.
func (c *Client) Zone() *time.Location { return c.zone }

// LoginCode creates a one-time code to log a browser in.
func (c *Client) LoginCode(ctx context.Context) (api.LoginCode, error) {
	return c.loginCode(ctx, api.LoginCodeRequest{})
}

// ShortLoginCode creates a one-time code of 8 digits to log a phone in. It is void after ten wrong ones that anybody tries.
func (c *Client) ShortLoginCode(ctx context.Context) (api.LoginCode, error) {
	return c.loginCode(ctx, api.LoginCodeRequest{Short: true})
}

func (c *Client) loginCode(ctx context.Context, q api.LoginCodeRequest) (api.LoginCode, error) {
	var code api.LoginCode

	err := c.call(ctx, to(api.RouteCode), q, &code)

	return code, err
}

// LoginTerminal logs the terminal of this process in. Without a code, it has one shown in the terminal where the server
// runs, if there is one.
func (c *Client) LoginTerminal(ctx context.Context, code string) (api.TerminalAnswer, error) {
	var answer api.TerminalAnswer

	err := c.call(ctx, to(api.RouteTerminal), api.TerminalLogin{Code: code}, &answer)

	return answer, err
}

// LogoutTerminal ends the login of the terminal of this process.
func (c *Client) LogoutTerminal(ctx context.Context) (api.TerminalAnswer, error) {
	var answer api.TerminalAnswer

	err := c.call(ctx, to(api.RouteTerminalEnd), api.Empty{}, &answer)

	return answer, err
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
