package gateways

import (
	"context"
	"slices"
	"strings"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/cause"
	"github.com/earshot-dev/earshot/internal/cli"
	"github.com/earshot-dev/earshot/internal/datadir"
	"github.com/earshot-dev/earshot/internal/operate"
	"github.com/earshot-dev/earshot/tool/mcp"
)

// retired is what became of MCP servers that were taken out of a file of tools.
type retired struct {
	reread

	servers []string
	tools   []string // those that were taken out of the registry
	login   bool     // a login has ended
	err     error    // why their logins, or their tools, are there still
}

// retire does what is left to do of MCP servers that are not in their file any more: the server that runs ends them, their tools are taken
// out of the registry, which only the data directory's own file fills, and their logins end. All of it can be repeated.
func (m *commands) retire(ctx context.Context, f mcpFlags, data string, servers ...string) retired {
	got := retired{reread: m.rereadList(ctx, f, data), servers: servers} // first: a service that runs would register its tools again
	if f.file == "" {
		var err error
		if got.tools, err = m.unregister(ctx, data, servers); err != nil {
			got.err = cause.Fail(err, "tools of "+strings.Join(servers, ", ")+" stay in the registry",
				"once that is mended, take them out: `earshot mcp rm"+m.DataFlag(data)+" "+servers[0]+"`")
		}
	}
	for _, name := range servers {
		ended, err := m.forgetLogin(ctx, data, name)
		got.login = got.login || ended
		if got.err == nil {
			got.err = err
		}
	}
	return got
}

// some reports whether there was anything left of the servers.
func (r retired) some() bool {
	return r.login || len(r.tools) > 0 || slices.ContainsFunc(r.servers, func(name string) bool { return slices.Contains(r.answer.Ended, name) })
}

// failure is the first error of what was left to do; nil if there is none.
func (r retired) failure() error {
	if r.err != nil {
		return r.err
	}
	return r.reread.failure()
}

// printRetired says what is not there any more.
func (m *commands) printRetired(r retired) {
	if len(r.tools) > 0 {
		m.Printf("Tools that are not offered any more: %s.", cause.OneLine(strings.Join(r.tools, ", ")))
	}
	for _, name := range r.servers {
		if slices.Contains(r.answer.Ended, name) {
			m.Printf("The server that runs has ended %s.", cause.OneLine(name))
		}
	}
	m.printOthers(r.reread, r.servers)
}

// unregister takes the tools of MCP servers out of the registry, and returns their names.
func (m *commands) unregister(ctx context.Context, data string, servers []string) (removed []string, err error) {
	if !cli.ServerAt(data) && !datadir.Exists((&datadir.Dir{Path: data}).File(datadir.LedgerFile)) {
		return nil, nil // nothing was ever registered
	}
	err = m.WithOperator(ctx, cli.RemoteFlags{Server: cli.ServerFlags{DataFlag: data}}, func(ask operate.Ask) error {
		removed, err = removeTools(ctx, ask, servers)
		return err
	})
	return removed, err
}

// removeTools takes the tools of MCP servers out of the registry, and returns the names of those that were there.
func removeTools(ctx context.Context, ask operate.Ask, servers []string) (removed []string, err error) {
	var tools []string
	err = operate.EachTool(ctx, ask, func(t api.ToolDetail) error {
		if slices.Contains(servers, mcp.ServerOf(t.Definition)) {
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
