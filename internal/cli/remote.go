package cli

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/earshot-dev/earshot/client"
)

// RemoteFlags are the flags of commands that use a server.
type RemoteFlags struct {
	Server ServerFlags
	AsJSON bool
}

// Add adds the flags to a command.
func (f *RemoteFlags) Add(c *cobra.Command) {
	defer MarkPaths(c, []string{"data"}, []string{"token-file"})
	flags := c.Flags()
	flags.StringVar(&f.Server.DataFlag, "data", "", ServerDataUsage)
	flags.StringVar(&f.Server.URL, "url", "", "address of the server, where it is not the one of the data directory")
	flags.StringVar(&f.Server.TokenFile, "token-file", "", "file with a token to use instead of the one for commands, such as one of earshot token add; --url needs it")
	flags.BoolVar(&f.AsJSON, "json", false, "write the answer as JSON")
}

// RemoteCommand completes a command that uses a server; offer provides the shell completions of its arguments.
func (m *Program) RemoteCommand(c *cobra.Command, do func(ctx context.Context, remote *client.Client, f RemoteFlags, args []string) error, offer ...Completion) *cobra.Command {
	var f RemoteFlags
	f.Add(c)
	if len(offer) > 0 {
		c.ValidArgsFunction = m.Completes(&f, offer[0])
	}
	c.RunE = func(c *cobra.Command, args []string) error {
		remote, err := m.Dial(c.Context(), f.Server, "earshot-"+c.Name())
		if err != nil {
			return err
		}
		return ServerFailure(do(c.Context(), remote, f, args))
	}
	return c
}

// UsualSessions is the default number of listed sessions.
const UsualSessions = 50

// IsTooLate reports whether a command came too late: something else happened first, or what it is about is gone.
func IsTooLate(err error) bool {
	return errors.Is(err, client.ErrConflict) || errors.Is(err, client.ErrNotFound)
}
