package main

import (
	"context"
	"sync"

	"github.com/spf13/cobra"

	"github.com/earshot-dev/earshot/internal/build"
	"github.com/earshot-dev/earshot/internal/cause"
	"github.com/earshot-dev/earshot/internal/cli"
	"github.com/earshot-dev/earshot/internal/cli/operators"
	"github.com/earshot-dev/earshot/internal/credentialfile"
	"github.com/earshot-dev/earshot/internal/memory"
	"github.com/earshot-dev/earshot/internal/toolfile"
	"github.com/earshot-dev/earshot/internal/usage"
	"github.com/earshot-dev/earshot/tool/service"
	"github.com/earshot-dev/earshot/utp"
)

// serveFlags are the flags of `earshot serve`.
type serveFlags struct {
	credentials          []string
	dataFlag             string
	check, asJSON, debug bool
}

func (m *Main) serveCommand() *cobra.Command {
	var f serveFlags
	c := &cobra.Command{
		Use:   "serve FILE",
		Short: "Serve commands, HTTP operations and MCP servers as tools, by a YAML file alone",
		Long: `Serve programs of this machine and operations of HTTP servers as tools. What they are, and
what an agent may fill in, stands in a YAML file (` + "`earshot tools example`" + ` prints one); so do
MCP servers, which tell their tools themselves (` + "`earshot mcp add`" + `).

It is a process of its own, which comes to the message bus of ` + "`earshot up --nats-listen`" + ` with
credentials for each service of the file (` + "`earshot credential add NAME --role tool`" + `): those that
--credential or EARSHOT_CREDENTIALS names, else those in the data directory of the server that runs.
A bus that is not there, or goes away, is waited for. Its tools are not reviewed by being there:
each call counts as irreversible and is asked for. To have the classes of the file count, run it
inside the server: ` + "`earshot up --tools FILE`" + `.

With --check it serves nothing and starts nothing: it reads the file, looks whether all that it
names is there, and lists the tools with their classes.

Exit codes: 0 ended when it was told to, or the file is good; 1 it may not come to the bus,
or something failed; 2 usage, or the file is not good.`,
		Example: `  earshot serve --check tools.yaml
  earshot serve tools.yaml
  earshot serve --credential ~/outbox.json tools.yaml`,
		Args: usage.OneFile("FILE", "`earshot tools example` prints one to begin with"),
		RunE: func(c *cobra.Command, args []string) error {
			o := m.ToolOptions("")
			if data, err := m.DataPath(f.dataFlag, false); err == nil {
				o = m.ServedTools("", data)
			}
			services, err := toolfile.Read(args[0], o)
			if err != nil {
				return err
			}
			if f.check {
				return m.listServices(args[0], services, f.asJSON)
			}
			if f.asJSON {
				return cause.Misuse("--json goes with --check", "leave it out, or add --check")
			}
			return m.serve(c.Context(), services, f)
		},
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return []string{"yaml", "yml"}, cobra.ShellCompDirectiveFilterFileExt
		},
	}
	flags := c.Flags()
	flags.StringArrayVar(&f.credentials, "credential", nil, "file with the credentials of a service of the file; may be given several times")
	flags.StringVar(&f.dataFlag, "data", "", cli.DataUsage)
	flags.BoolVar(&f.check, "check", false, "read the file, list its tools, and serve nothing")
	flags.BoolVar(&f.asJSON, "json", false, "with --check: write the list as JSON")
	flags.BoolVar(&f.debug, "debug", false, "log what the service does to standard error, without any content")
	cli.MarkPaths(c, []string{"data"}, []string{"credential"})
	return c
}

// toolRow is one tool of `serve --check --json`.
type toolRow struct {
	Tool        string    `json:"tool"`
	Service     string    `json:"service"`
	Kind        string    `json:"kind"`
	Class       utp.Class `json:"class"`
	Risk        utp.Risk  `json:"risk"`
	Description string    `json:"description"`
	Digest      string    `json:"digest"`
}

func (m *Main) listServices(path string, services []toolfile.Service, asJSON bool) error {
	var all []toolRow
	for _, c := range services {
		for _, d := range c.Definitions() {
			digest, err := d.Digest()
			if err != nil {
				return cause.Fail(err, "the tool "+d.Tool+" has no digest", "")
			}
			all = append(all, toolRow{d.Tool, c.Name, c.Kind, d.Class, d.Risk, d.Description, digest})
		}
	}
	if asJSON {
		return m.WriteJSON(all)
	}
	for _, t := range all {
		m.Printf("%s (%s, service %s): %s, risk %s. %s", t.Tool, t.Kind, t.Service, t.Class, t.Risk, cause.OneLine(t.Description))
	}
	for _, c := range services {
		if c.Source != nil {
			m.Printf("%s.", c)
		}
	}
	m.Printf("%s is good: %d tools.", cause.OneLine(path), len(all))
	return nil
}

// serve runs the services of a file until it is stopped.
func (m *Main) serve(ctx context.Context, services []toolfile.Service, f serveFlags) error {
	files, err := m.credentialFiles(services, f)
	if err != nil {
		return err
	}
	if m.OwnsProcess {
		defer memory.Tune(m.Getenv)()
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	signals := m.NewSignals()
	defer signals.Stop()
	signals.Heed()
	broken := make(chan error, len(services))
	var owned sync.WaitGroup
	for _, c := range services {
		o := service.Options{Credentials: files[c.Name], Version: build.This().Version, Logger: m.Logger(f.debug), Source: c.Source, Target: c.Name}
		owned.Go(func() {
			if err := service.Run(ctx, o, c.Tools...); err != nil {
				broken <- cause.Fail(err, "the service "+c.Name+" has ended", "")
			}
		})
		m.Printf("%s", c.String())
		m.Printf("Credentials: %s", cause.OneLine(files[c.Name]))
	}
	m.Printf("Nobody has reviewed these tools by this: each call is asked for, as irreversible. A bus that is away is waited for. Control C ends it.")
	select {
	case err = <-broken:
	case <-signals.C:
	case <-ctx.Done():
	}
	cancel()
	owned.Wait()
	for _, c := range services {
		c.Close()
	}
	return err
}

// credentialFiles returns the credential files of the services, by name: the given ones, and for the rest those in the
// data directory of a running server.
func (m *Main) credentialFiles(services []toolfile.Service, f serveFlags) (map[string]string, error) {
	named := f.credentials
	if from := m.Getenv(service.Variable); len(named) == 0 && from != "" {
		named = []string{from}
	}
	names := make([]string, 0, len(services))
	for _, c := range services {
		names = append(names, c.Name)
	}
	files, err := credentialfile.Named(names, named)
	if err != nil || len(files) == len(services) {
		return files, err
	}
	data, err := m.DataPath(f.dataFlag, false)
	if err == nil {
		err = cli.FoundServer(data)
	}
	if err != nil {
		return nil, err
	}
	all, err := operators.CredentialsIn(data)
	if err != nil {
		return nil, err
	}
	return files, all.Complete(names, files)
}
