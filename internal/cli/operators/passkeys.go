package operators

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/cause"
	"github.com/earshot-dev/earshot/internal/cli"
	"github.com/earshot-dev/earshot/internal/operate"
	"github.com/earshot-dev/earshot/internal/usage"
)

func (m *commands) passkeysCommand() *cobra.Command {
	c := m.passkeysListCommand("passkeys", "List the passkeys that sign accepts, and revoke them")
	c.Long = `List the passkeys with which people accept (` + "`earshot up --require-presence`" + `), in the order in
which they were added: its name, whose it is, for which page, when it was added and last
used, and its id. To look takes the role auditor or operator at a server, to revoke
operator and approver; without a server it works on the data directory.

A passkey is added and removed on the page, under Passkeys. The first one takes one more
one-time code (` + "`earshot code`" + `), another one a signature by one that is there. When the last
one is lost, revoke it here: the next is again a first one.`
	c.Example = `  earshot passkeys
  earshot passkeys revoke "my phone"`
	c.AddCommand(m.passkeysListCommand("list", "List the passkeys, in the order in which they were added"), m.passkeysRevokeCommand())
	return c
}

func (m *commands) passkeysListCommand(name, short string) *cobra.Command {
	return m.Operated(&cobra.Command{Use: name, Short: short, Args: usage.None},
		func(ctx context.Context, ask operate.Ask, f cli.RemoteFlags, _ []string) error {
			var all api.PasskeysAnswer
			if err := ask(ctx, api.OpPasskeys, api.PasskeysRequest{}, &all); err != nil {
				return err
			}
			return cli.ListRows(m.Program, f.AsJSON, all.Passkeys, "No passkey was added.", func(k api.Passkey) string { return m.Listing().Passkey(k) })
		})
}

func (m *commands) passkeysRevokeCommand() *cobra.Command {
	return m.Operated(&cobra.Command{
		Use:   "revoke NAME",
		Short: "Remove a passkey: it signs nothing any more",
		Long: `Remove a passkey, named by its name or its id. It signs nothing any more. What it has
signed stays valid, and is still verified. The audit chain says who removed it.`,
		Example: `  earshot passkeys revoke "my phone"`,
		Args:    usage.One("the name of a passkey, as `earshot passkeys` lists it"),
	}, func(ctx context.Context, ask operate.Ask, f cli.RemoteFlags, args []string) error {
		var removed api.Passkey
		err := ask(ctx, api.OpRevokePasskey, api.RevokePasskeyRequest{Passkey: args[0]}, &removed)
		switch {
		case cli.Absent(err):
			return cause.Fail(nil, "there is no passkey of the name "+cause.OneLine(args[0]), "see `earshot passkeys`")
		case err != nil:
			return err
		case f.AsJSON:
			return m.WriteJSON(removed)
		}
		m.Printf("Revoked: %s.", m.Listing().Passkey(removed))
		return nil
	})
}
