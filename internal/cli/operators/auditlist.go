package operators

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/cli"
	"github.com/earshot-dev/earshot/internal/operate"
	"github.com/earshot-dev/earshot/internal/usage"
)

func (m *commands) auditListCommand() *cobra.Command {
	operators := false
	c := m.Operated(&cobra.Command{
		Use:   "list",
		Short: "List the entries of the audit chain, oldest first",
		Long: `List the entries of the audit chain, oldest first: what people answered, which calls with an effect started
and how they ended, and what operators changed. With --operators only the last: reviews, tools taken out,
content erased, turns imported, the ledger restored, and which rules, tokens, logins and credentials were in
force, and since when. What retention has dropped is listed without what it said.

The list does not judge; ` + "`earshot audit verify`" + ` does.`,
		Example: `  earshot audit list --operators
  earshot audit list --json | jq '.[] | select(.act.tool_call_id == "tc_…")'`,
		Args: usage.None,
	}, func(ctx context.Context, ask operate.Ask, f cli.RemoteFlags, _ []string) error {
		list := m.NewRows(f.AsJSON)
		err := operate.EachEntry(ctx, ask, func(e api.AuditEntry) error {
			if operators && (e.Act == nil || e.Act.Call != "") {
				return nil
			}
			return list.Add(e, m.Listing().EntryLine(e))
		})
		if err == nil {
			list.End("The chain has no such entry.")
		}
		return err
	})
	c.Flags().BoolVar(&operators, "operators", false, "only what operators changed, and what was in force")
	return c
}
