package gateways

import (
	"context"
	"errors"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/earshot-dev/earshot/internal/cause"
	"github.com/earshot-dev/earshot/internal/cli"
	"github.com/earshot-dev/earshot/internal/datadir"
	"github.com/earshot-dev/earshot/internal/toolfile"
	"github.com/earshot-dev/earshot/internal/usage"
)

func (m *commands) mcpCommand() *cobra.Command {
	return cli.Parent("mcp", "The Model Context Protocol: serve agents that speak it, and add servers of tools",
		`On the side of agents, `+"`earshot mcp serve`"+` is a server for Claude Code, Codex, Gemini CLI and other hosts.

On the side of tools, have those of other servers go through the gate. The servers stand in the section mcp of a file of
tools: that of the data directory, which `+"`earshot up`"+` reads by itself, at its start and after each change, or another one
that it is given with --tools.
Their credentials stay with Earshot: agents see none.`,
		m.mcpServeCommand(), m.mcpAddCommand(), m.mcpListCommand(), m.mcpRemoveCommand(),
		m.mcpLoginCommand(), m.mcpLogoutCommand())
}

// mcpFlags name the tools file.
type mcpFlags struct {
	dataFlag, file string
	asJSON         bool
}

func (f *mcpFlags) add(c *cobra.Command) {
	c.Flags().StringVar(&f.dataFlag, "data", "", cli.DataUsage)
	c.Flags().StringVar(&f.file, "file", "", "YAML file of tools (default tools.yaml in the data directory)")
	c.Flags().BoolVar(&f.asJSON, "json", false, "write the result as JSON")
	cli.MarkPaths(c, []string{"data"}, []string{"file"})
}

// toolsFileOf returns the tools file and the data directory. The directory is created if the file is its own.
func (m *commands) toolsFileOf(f mcpFlags, change bool) (file, data string, err error) {
	if data, err = m.DataPath(f.dataFlag, false); err != nil {
		return "", "", err
	}
	if f.file != "" {
		file, err = filepath.Abs(f.file)
		if err != nil {
			return "", "", cause.Fail(err, "the file of tools cannot be found", "name it in full")
		}
		return file, data, nil
	}
	if change {
		err = datadir.Make(data)
	}
	return filepath.Join(data, datadir.ToolsFile), data, err
}

// serverRow is one row of `mcp list --json`.
type serverRow struct {
	Name    string `json:"name"`
	Address string `json:"place"`
	File    string `json:"file"`
	Login   string `json:"login,omitzero"` // "logged_in" or "needed"; none if the server asks for none
}

func (m *commands) mcpListCommand() *cobra.Command {
	var f mcpFlags
	c := &cobra.Command{
		Use:   "list",
		Short: "List the MCP servers of a file of tools",
		Args:  usage.None,
		RunE: func(*cobra.Command, []string) error {
			file, data, err := m.toolsFileOf(f, false)
			if err != nil {
				return err
			}
			list := m.NewRows(f.asJSON)
			if datadir.Exists(file) || f.file != "" {
				services, err := toolfile.Read(file, m.ToolOptions(""))
				if err != nil {
					return err
				}
				for _, s := range services {
					if s.Source == nil {
						continue
					}
					state, login := m.loginState(data, s.Name, s.Address)
					if err := list.Add(serverRow{s.Name, s.Address, file, state}, s.Name+": "+cause.OneLine(s.Address)+login); err != nil {
						return err
					}
				}
			}
			list.End("There is no MCP server in " + cause.OneLine(file) + ".")
			return m.OutputError()
		},
	}
	f.add(c)
	return c
}

// looked lists the tools of one server of a draft.
func (m *commands) looked(ctx context.Context, draft *toolfile.Draft, name string) (offeredTools, error) {
	var out offeredTools
	var err error
	out.Offered, out.address, err = draft.Inspect(ctx, name, m.ToolOptions(""))
	if wrong, is := errors.AsType[*cause.Error](err); is && wrong.Kind == cause.Usage {
		return out, err // an error in the entry itself
	}
	if err != nil {
		return out, cause.Fail(err, "the MCP server "+name+" was not added, since its tools cannot be listed",
			"try the command by itself, and give what it needs with --env or --secret; `earshot mcp add --help` has examples")
	}
	return out, nil
}
