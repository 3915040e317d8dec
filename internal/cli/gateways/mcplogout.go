package gateways

import (
	"context"
	"errors"
	"time"

	"github.com/spf13/cobra"

	"github.com/earshot-dev/earshot/internal/cause"
	"github.com/earshot-dev/earshot/internal/cli"
	"github.com/earshot-dev/earshot/internal/oauth"
	"github.com/earshot-dev/earshot/internal/toolfile"
	"github.com/earshot-dev/earshot/internal/usage"
	"github.com/earshot-dev/earshot/tool/mcp"
	"github.com/earshot-dev/earshot/tool/settings"
)

// loggedOut is the result of `mcp logout --json`.
type loggedOut struct {
	Name    string `json:"name"`
	Revoked bool   `json:"revoked"`
}

func (m *commands) mcpLogoutCommand() *cobra.Command {
	var f cli.LocalFlags
	c := f.Add(&cobra.Command{
		Use:   "logout NAME",
		Short: "End the login at an MCP server",
		Long: `End the login at an MCP server: its tokens are removed from this machine, and revoked at the server where it offers
that. A server that runs has no access from then on.`,
		Args: usage.One("the name of an MCP server, as `earshot mcp list` tells it"),
	}, "write the result as JSON")
	c.RunE = func(c *cobra.Command, args []string) error {
		data, err := m.DataPath(f.Data, false)
		if err != nil {
			return err
		}
		result, err := m.endLogin(c.Context(), data, args[0])
		switch {
		case errors.Is(err, oauth.ErrNone):
			return cause.Fail(nil, "there is no login at "+cause.OneLine(args[0]), settings.Suggest(args[0], m.Logins(data).Names(), "see `earshot mcp list`"))
		case err != nil:
			return err
		case f.AsJSON:
			return m.WriteJSON(result)
		}
		m.Printf("Logged out: %s. Its tokens are removed from this machine%s.", args[0], map[bool]string{true: ", and revoked"}[result.Revoked])
		return m.OutputError()
	}
	c.ValidArgsFunction = func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		data, err := m.DataPath(f.Data, false)
		if err != nil || len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return m.Logins(data).Names(), cobra.ShellCompDirectiveNoFileComp
	}
	return c
}

// revokeTime is how long the server may take to revoke.
const revokeTime = 15 * time.Second

// endLogin removes the login at a server; [oauth.ErrNone] if there is none.
func (m *commands) endLogin(ctx context.Context, data, name string) (loggedOut, error) {
	store, result := m.Logins(data), loggedOut{Name: name}
	login, err := store.Load(name, "")
	switch {
	case errors.Is(err, oauth.ErrNone):
		return result, err
	case err == nil && login.ID == "": // it was asked for only
		return result, errors.Join(oauth.ErrNone, store.Remove(ctx, name))
	case err == nil:
		revoking, cancel := context.WithTimeout(ctx, revokeTime)
		defer cancel()
		var failed error
		if result.Revoked, failed = store.Revoke(revoking, login); failed != nil {
			m.Notef("The tokens were not revoked at %s: %s. Anybody who has them could use them until they expire; end the access of Earshot there, too.",
				cause.OneLine(login.Issuer), cause.OneLine(cause.Of(failed)))
		}
	}
	return result, store.Remove(ctx, name)
}

// lasts says how long a login lasts, as the end of a sentence.
func (m *commands) lasts(l oauth.Login) string {
	switch {
	case l.Expires.IsZero():
		return ", until it is ended"
	case l.RefreshToken != "":
		return ", until " + m.TimeText(l.Expires) + ", and renewed by itself then"
	}
	return ", until " + m.TimeText(l.Expires)
}

// The states of a login in the results of commands.
const (
	loginNeeded = "needed"
	loginHolds  = "logged_in"
)

// loginState describes the login at a server for a list; empty if it asks for none.
func (m *commands) loginState(data, name, server string) (state, text string) {
	l, err := m.Logins(data).Load(name, server)
	switch {
	case errors.Is(err, oauth.ErrNone):
		return "", ""
	case err != nil:
		return loginNeeded, ", whose login cannot be used: " + cause.OneLine(cause.Of(err))
	case !l.Holds(m.Now()):
		return loginNeeded, ", needs a login: `earshot mcp login" + m.DataFlag(data) + " " + name + "`"
	}
	return loginHolds, ", logged in since " + m.TimeText(l.Since) + m.lasts(l)
}

// forgetLogin ends the login at a server that is taken out of a file, and reports whether there was one.
func (m *commands) forgetLogin(ctx context.Context, data, name string) (ended bool, err error) {
	if _, err = m.endLogin(ctx, data, name); errors.Is(err, oauth.ErrNone) {
		return false, nil
	}
	return err == nil, err
}

// addWithoutLogin adds a server that lists its tools after a login only.
func (m *commands) addWithoutLogin(ctx context.Context, f mcpFlags, draft *toolfile.Draft, added addedServer, data, url string, need *mcp.LoginError) error {
	if err := draft.Save(); err != nil {
		return err
	}
	if err := m.Logins(data).Ask(ctx, added.Name, url); err != nil {
		return err
	}
	taken := m.rereadList(ctx, f, data)
	if f.asJSON {
		return m.writeAdded(added, taken)
	}
	m.Printf("Added to %s: %s, which %s before it lists its tools.", cause.OneLine(added.File), cause.OneLine(url), need.Why)
	more := ""
	if f.file != "" {
		more = " --file " + cause.Quoted(f.file)
	}
	m.Printf("Log in next: `earshot mcp login%s%s %s`", m.DataFlag(data), more, added.Name)
	if taken.running && taken.err == nil {
		m.Printf("The server that runs has started it, and takes the login up by itself.")
		m.printOthers(taken, []string{added.Name})
		return m.OutputError()
	}
	m.printReread(f, taken, data, added.File, added.Name)
	if err := taken.failure(); err != nil {
		return err
	}
	return m.OutputError()
}
