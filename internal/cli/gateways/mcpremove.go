package gateways

import (
	"context"
	"maps"
	"slices"

	"github.com/spf13/cobra"

	"github.com/earshot-dev/earshot/internal/cause"
	"github.com/earshot-dev/earshot/internal/hostsetup"
	"github.com/earshot-dev/earshot/internal/toolfile"
	"github.com/earshot-dev/earshot/internal/usage"
	"github.com/earshot-dev/earshot/tool/settings"
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
	absent, err := m.removeEntry(&out, data)
	if err != nil {
		return err
	}
	gone := m.retire(ctx, f, data, name)
	out.Tools = gone.tools
	if absent != nil && gone.failure() == nil && !gone.some() && len(out.Secrets) == 0 {
		if !f.asJSON {
			m.printOthers(gone.reread, gone.servers)
		}
		return absent
	}
	if f.asJSON {
		if err := m.WriteJSON(out); err != nil {
			return err
		}
		return gone.failure()
	}
	m.printRemoved(f, data, out, absent == nil, gone)
	if err := gone.failure(); err != nil {
		return err
	}
	return m.OutputError()
}

// noServer is the error for a name that no MCP server of a file has.
func noServer(name, file string, all map[string]toolfile.MCPServer) error {
	return cause.Fail(nil, "there is no MCP server of the name "+cause.OneLine(name)+" in "+cause.OneLine(file),
		settings.Suggest(name, slices.Sorted(maps.Keys(all)), "see `earshot mcp list`"))
}

// removeEntry takes a server out of the file, with its secrets. Absent is the error where the file did not have it.
func (m *commands) removeEntry(out *removedServer, data string) (absent, err error) {
	before, err := toolfile.Servers(out.File)
	if err != nil {
		return nil, err
	}
	if _, there := before[out.Name]; there {
		draft, err := toolfile.RemoveServer(out.File, out.Name)
		if err != nil {
			return nil, err
		}
		if err := draft.Save(); err != nil {
			return nil, err
		}
	} else {
		absent = noServer(out.Name, out.File, before)
	}
	out.Secrets, err = hostsetup.RemoveSecrets(data, out.Name, before)
	return absent, err
}

func (m *commands) printRemoved(f mcpFlags, data string, out removedServer, there bool, gone retired) {
	name, file := cause.OneLine(out.Name), cause.OneLine(out.File)
	if there {
		m.Printf("Recorded: %s is not in %s any more.", name, file)
	} else {
		m.Printf("There is no MCP server of the name %s in %s; what was left of it is removed.", name, file)
	}
	for _, path := range out.Secrets {
		m.Printf("Removed: %s, which held a credential of it.", cause.OneLine(path))
	}
	m.printRetired(gone)
	if f.file != "" && there {
		m.printReread(f, gone.reread, data, out.File)
		m.Printf("Its tools stay registered until you take them out: `earshot tools rm%s %s.…`.", m.DataFlag(data), name)
	}
}
