package gateways

import (
	"context"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/cause"
	"github.com/earshot-dev/earshot/internal/cli"
	"github.com/earshot-dev/earshot/internal/datadir"
	"github.com/earshot-dev/earshot/internal/hostsetup"
	"github.com/earshot-dev/earshot/internal/operate"
	"github.com/earshot-dev/earshot/internal/toolfile"
	"github.com/earshot-dev/earshot/internal/usage"
	"github.com/earshot-dev/earshot/tool/mcp"
)

// removedServer is the result of `mcp rm --json`.
type removedServer struct {
	Name    string   `json:"removed"`
	File    string   `json:"file"`
	Tools   []string `json:"removed_tools,omitzero"`
	Secrets []string `json:"removed_secrets,omitzero"`
}

func (m *commands) mcpRemoveCommand() *cobra.Command {
	var f mcpFlags
	c := &cobra.Command{
		Use:   "rm NAME",
		Short: "Take an MCP server out of a file of tools",
		Long: `Take an MCP server out of a file of tools. Files with its credentials in the folder secrets of the data directory,
which ` + "`earshot install --import`" + ` has written for it, are removed, too; others stay. A login there is ended.

An ` + "`earshot up`" + ` that runs ends it at once: its calls that run are told to stop, and say what they have done. Its tools
are taken out of the registry: agents do not see them any more, and their calls that wait are not started.
That takes the rights of ` + "`earshot tools rm`" + `, and is left out with --file. The command can be repeated.`,
		Args: usage.One("the name of an MCP server, as `earshot mcp list` tells it"),
		RunE: func(c *cobra.Command, args []string) error { return m.removeServer(c.Context(), f, args[0]) },
	}
	f.add(c)
	c.ValidArgsFunction = m.completeServers(&f, func(toolfile.MCPServer) bool { return true })
	return c
}

func (m *commands) removeServer(ctx context.Context, f mcpFlags, name string) error {
	file, data, err := m.toolsFileOf(f, false)
	if err != nil {
		return err
	}
	out := removedServer{Name: name, File: file}
	there, err := m.removeEntry(ctx, &out, data)
	if err != nil {
		return err
	}
	taken := m.rereadList(ctx, f, data) // first: a service that runs would register its tools again
	var refused error
	if f.file == "" {
		out.Tools, refused = m.unregister(ctx, data, name)
	}
	if f.asJSON {
		if err := m.WriteJSON(out); err != nil {
			return err
		}
		if refused == nil {
			refused = taken.failure()
		}
		return refused
	}
	m.printRemoved(f, data, out, there, taken)
	if refused != nil {
		return cause.Fail(refused, "its tools stay in the registry", "repeat the command once that is mended")
	}
	if err := taken.failure(); err != nil {
		return err
	}
	return m.OutputError()
}

// removeEntry takes a server out of the file, with its secrets and its login. It reports whether it was there.
func (m *commands) removeEntry(ctx context.Context, out *removedServer, data string) (there bool, err error) {
	before, err := toolfile.Servers(out.File)
	if err != nil {
		return false, err
	}
	if _, there = before[out.Name]; there {
		draft, err := toolfile.RemoveServer(out.File, out.Name)
		if err != nil {
			return true, err
		}
		if err := draft.Save(); err != nil {
			return true, err
		}
	}
	if out.Secrets, err = hostsetup.RemoveSecrets(data, out.Name, before); err != nil {
		return there, err
	}
	return there, m.forgetLogin(ctx, data, out.Name)
}

func (m *commands) printRemoved(f mcpFlags, data string, out removedServer, there bool, taken reread) {
	name, file := cause.OneLine(out.Name), cause.OneLine(out.File)
	if there {
		m.Printf("Recorded: %s is not in %s any more.", name, file)
	} else {
		m.Printf("There is no MCP server of the name %s in %s.", name, file)
	}
	for _, path := range out.Secrets {
		m.Printf("Removed: %s, which held a credential of it.", cause.OneLine(path))
	}
	if len(out.Tools) > 0 {
		m.Printf("Its tools are not offered any more: %s.", cause.OneLine(strings.Join(out.Tools, ", ")))
	}
	if slices.Contains(taken.answer.Ended, out.Name) {
		m.Printf("The server that runs has ended it.")
	}
	m.printOthers(taken, []string{out.Name})
	if f.file != "" && there {
		m.printReread(f, taken, data, out.File)
		m.Printf("Its tools stay registered until you take them out: `earshot tools rm%s %s.…`.", m.DataFlag(data), name)
	}
}

// unregister takes the tools of an MCP server out of the registry, and returns their names.
func (m *commands) unregister(ctx context.Context, data, name string) (removed []string, err error) {
	if !cli.ServerAt(data) && !datadir.Exists((&datadir.Dir{Path: data}).File(datadir.LedgerFile)) {
		return nil, nil // nothing was ever registered
	}
	err = m.WithOperator(ctx, cli.RemoteFlags{Server: cli.ServerFlags{DataFlag: data}}, func(ask operate.Ask) error {
		removed, err = removeTools(ctx, ask, name)
		return err
	})
	return removed, err
}

// removeTools takes the tools of an MCP server out of the registry, and returns the names of those that were there.
func removeTools(ctx context.Context, ask operate.Ask, server string) (removed []string, err error) {
	var tools []string
	err = operate.EachTool(ctx, ask, func(t api.ToolDetail) error {
		if mcp.ServerOf(t.Definition) == server {
			tools = append(tools, t.Tool)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	for _, tool := range tools {
		switch err := ask(ctx, api.OpRemove, api.RemoveRequest{Tool: tool}, nil); {
		case err == nil:
			removed = append(removed, tool)
		case !cli.Absent(err): // another one may have taken it out meanwhile
			return removed, err
		}
	}
	return removed, nil
}
