package gateways

import (
	"context"
	"crypto/rand"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/earshot-dev/earshot/client"
	"github.com/earshot-dev/earshot/internal/build"
	"github.com/earshot-dev/earshot/internal/cause"
	"github.com/earshot-dev/earshot/internal/cli"
	"github.com/earshot-dev/earshot/internal/datadir"
	"github.com/earshot-dev/earshot/internal/gateway/local"
	"github.com/earshot-dev/earshot/internal/gateway/mcp"
	"github.com/earshot-dev/earshot/internal/usage"
)

type mcpServeFlags struct {
	data, agent, session string
	wall                 time.Duration
	alone, quiet         bool
}

func (m *commands) mcpServeCommand() *cobra.Command {
	var f mcpServeFlags
	c := &cobra.Command{
		Use:   "serve",
		Short: "Be an MCP server for an agent: Claude Code, Codex, Gemini CLI and others",
		Long: `Be an MCP server on standard input and output, as a host such as Claude Code, Codex or
Gemini CLI starts one. The host gets the tools of the Earshot that runs on the data
directory; where none runs, one is started, and stays. Each call goes through the gate:
what cannot be undone is asked for first, on every surface of yours.

A person may take longer than the host waits for a call. Before the host gives up, the
call is answered with what it waits for, and the agent waits on with earshot_wait. What
cannot be undone starts only while the agent waits for it.

What the agent can do by itself, without this server, is not held up by it.

A host that connects by an address needs no program: it goes to /mcp of "earshot up", with
a token that "earshot token add NAME --role agent" makes.`,
		Example: `  earshot install codex
  claude mcp add earshot -- earshot mcp serve`,
		Args: usage.None,
		RunE: func(c *cobra.Command, _ []string) error { return m.mcpServe(c.Context(), f) },
	}
	flags := c.Flags()
	flags.StringVar(&f.data, "data", "", cli.DataUsage)
	flags.StringVar(&f.agent, "agent", "", "name of the agent at Earshot (default what the host calls itself, such as claude)")
	flags.DurationVar(&f.wall, "answer-before", 0, "time after which a call that is still open is answered; less than the host's own limit for tools (default 4m)")
	flags.StringVar(&f.session, "session", "", "id of an open session of the agent to use, which is not ended here (default a session of its own)")
	flags.BoolVar(&f.alone, "no-start", false, "start no server where none runs")
	flags.BoolVar(&f.quiet, "no-elicitation", false, "do not have the host show where a question is answered")
	cli.MarkPaths(c, []string{"data"}, nil)
	return c
}

func (m *commands) mcpServe(ctx context.Context, f mcpServeFlags) error {
	data, err := m.DataPath(f.data, false)
	if err != nil {
		return err
	}
	if f.wall != 0 && f.wall < time.Second {
		return cause.Misuse("--answer-before is "+f.wall.String(), "give a second or more, such as 4m")
	}
	ctx, stop := m.UntilInterrupted(ctx)
	defer stop()
	program := ""
	if !f.alone {
		if program, err = os.Executable(); err != nil {
			return cause.Fail(err, "the program does not know where it is", "start Earshot by hand with `earshot up`, and use --no-start")
		}
	}
	where := func() string { return whereToAnswer(data) }
	if f.quiet {
		where = nil
	}
	g := mcp.New(mcp.Options{
		Dial: func(ctx context.Context, host string) (mcp.Agent, error) {
			name := f.agent
			if name == "" {
				name = local.AgentName(host)
			}
			a, err := local.Dial(ctx, local.Options{Data: data, Agent: name, Program: program, Now: m.Now, Notice: m.Note})
			switch {
			case err != nil:
				return nil, err
			case f.session != "":
				return mcp.Joined{Agent: a, ID: f.session}, nil
			}
			return mcp.Client{Agent: a}, nil
		},
		Key: local.Parent() + "\n" + local.WorkingFolder(), Holder: rand.Text(), Label: local.Folder(), Wall: f.wall, Where: where,
		Version: build.This().Version, Logger: m.Logger(false),
	})
	if err := g.RunStdio(ctx); err != nil {
		return cause.Fail(err, "the connection to the host has failed", "")
	}
	return nil
}

// whereToAnswer returns the address to which a host may lead a person: that of the page if the operator has named it,
// otherwise the server's, which says how to get to the page. The random name of a page is a secret: a program that knows
// it can attract the page's cookie.
func whereToAnswer(data string) string {
	place, err := client.ReadServerFile(filepath.Join(data, datadir.ServerFile))
	if err != nil {
		return ""
	}
	if page, err := url.Parse(place.Page); err == nil && page.Host != "" && !datadir.IsPageName(page.Hostname()) {
		return place.Page
	}
	return place.URL + "/"
}
