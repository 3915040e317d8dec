package operators

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/earshot-dev/earshot/agents/tidy"
	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/bus"
	"github.com/earshot-dev/earshot/internal/cause"
	"github.com/earshot-dev/earshot/internal/cli"
	"github.com/earshot-dev/earshot/internal/credentialfile"
	"github.com/earshot-dev/earshot/internal/datadir"
	"github.com/earshot-dev/earshot/internal/projectfile"
	"github.com/earshot-dev/earshot/internal/usage"
)

func (m *commands) credentialCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "credential",
		Short: "Make, list and revoke credentials for tool services and agents of your own",
		Long: `Credentials let a tool service or an agent of yours, in a process of its own, come to the message bus of
` + "`earshot up --nats-listen`" + `. Each is a file in the data directory, which nobody else may read:
hand it to the service with EARSHOT_CREDENTIALS. A server that runs takes notice at once: a new one
lets its process in, and one that is revoked has its connections cut. The server also writes into
the file where the bus is.

Roles:
  tool      serves the tools whose names begin with NAME and a dot, and those of --tools
  agent     works on the turns of the agent NAME
  operator  sees which services there are and how they do, with ` + "`nats micro ls`" + `
  foreign   speaks UTP v1r4 as it is: an agent NAME, a tool service NAME, or both, from a third party;
            its tools are named like those of a tool service

Programs that speak HTTP use tokens instead, see ` + "`earshot token`" + `.`,
		Args: usage.KnownCommand,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(m.credentialAddCommand(), m.credentialListCommand(), m.credentialRevokeCommand())
	return c
}

// credentials returns the credential folder of a data directory, which is created if necessary.
func (m *commands) credentials(dataFlag string) (credentialfile.Dir, error) {
	path, err := m.DataPath(dataFlag, false)
	if err != nil {
		return credentialfile.Dir{}, err
	}
	if err := datadir.Make(path); err != nil {
		return credentialfile.Dir{}, err
	}
	return CredentialsIn(path)
}

// CredentialsIn returns the credential folder of a data directory.
func CredentialsIn(data string) (credentialfile.Dir, error) {
	project, err := projectfile.Of(data)
	return credentialfile.Dir{
		Path: (&datadir.Dir{Path: data}).File(credentialfile.Folder), Project: project.Name,
		Residents: []bus.Principal{
			{Kind: bus.Agent, Name: cli.TidyName}, {Kind: bus.Agent, Name: api.OperatorAgent}, {Kind: bus.Tool, Name: tidy.Target},
		},
	}, err
}

// credentialRow is the JSON of a credential in lists.
type credentialRow struct {
	Role  string   `json:"role"`
	Name  string   `json:"name"`
	File  string   `json:"file"`
	URL   string   `json:"url,omitzero"`
	Tools []string `json:"tools,omitzero"`
}

func (m *commands) credentialListCommand() *cobra.Command {
	var f cli.LocalFlags
	return f.Add(&cobra.Command{
		Use:   "list",
		Short: "List the credentials, without their secrets",
		Args:  usage.None,
		RunE: func(*cobra.Command, []string) error {
			files, err := m.credentials(f.Data)
			if err != nil {
				return err
			}
			all, err := files.All()
			if err != nil {
				return err
			}
			rows := make([]credentialRow, 0, len(all))
			for _, one := range all {
				rows = append(rows, credentialRow{string(one.Principal.Kind), one.Principal.Name, files.File(one.Principal), one.URL, one.Tools})
			}
			return cli.ListRows(m.Program, f.AsJSON, rows, "There are no credentials.", func(r credentialRow) string {
				line := fmt.Sprintf("Credentials of %s/%s: %s", r.Role, r.Name, cause.OneLine(r.File))
				if len(r.Tools) > 0 {
					line += fmt.Sprintf("\n  Tools beside %s.…: %s", r.Name, strings.Join(r.Tools, ", "))
				}
				return line
			})
		},
	}, "write the list as JSON")
}
