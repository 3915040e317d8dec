package operators

import (
	"context"
	"fmt"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/client"
	"github.com/earshot-dev/earshot/internal/cause"
	"github.com/earshot-dev/earshot/internal/cli"
	"github.com/earshot-dev/earshot/internal/datadir"
	"github.com/earshot-dev/earshot/internal/instance"
	"github.com/earshot-dev/earshot/internal/projectfile"
	"github.com/earshot-dev/earshot/internal/usage"
)

// projectRow is the JSON of a project.
type projectRow struct {
	Name   string    `json:"name"`
	Data   string    `json:"data"`
	Config string    `json:"config,omitzero"`
	By     string    `json:"by,omitzero"`
	Added  time.Time `json:"added,omitzero"`
	// URL is where its programs come, while it is served.
	URL     string `json:"url,omitzero"`
	Trouble string `json:"trouble,omitzero"`
	Hint    string `json:"hint,omitzero"`
}

func projectRowOf(p projectfile.Project) projectRow {
	row := projectRow{Name: p.Name, Data: p.Path, Config: p.Config, By: p.By, Added: p.Added}
	if p.Trouble != nil {
		row.Trouble = cause.Of(p.Trouble)
	}
	if !cli.ServerAt(p.Path) {
		return row
	}
	if info, err := client.ReadServerFile(filepath.Join(p.Path, datadir.ServerFile)); err == nil {
		row.URL = info.URL
	}
	return row
}

// with adds the trouble that the server has with a project that it does not serve.
func (r projectRow) with(states []api.ServedProject) projectRow {
	for _, s := range states {
		if s.Name == r.Name && s.Trouble != "" && r.URL == "" {
			r.Trouble, r.Hint = s.Trouble, s.Hint
		}
	}
	return r
}

// projectStates asks the server of the data directory how its projects are. Without an answer the list says what the files say.
func (m *commands) projectStates(ctx context.Context, data, dataFlag string) []api.ServedProject {
	if !cli.ServerAt(data) {
		return nil
	}
	remote, err := m.Dial(ctx, cli.ServerFlags{DataFlag: dataFlag}, "earshot-projects")
	if err != nil {
		return nil
	}
	answer, err := remote.Projects(ctx)
	if err != nil {
		return nil
	}
	return answer.Projects
}

func (r projectRow) line() string {
	text := "Project " + r.Name + ": "
	switch {
	case r.Trouble != "":
		text += "not served: " + cause.OneLine(r.Trouble)
	case r.URL != "":
		text += "served at " + r.URL
	default:
		text += "not served at the moment"
	}
	return text + ", data in " + cause.OneLine(r.Data)
}

func (m *commands) projectsCommand() *cobra.Command {
	c := m.projectsListCommand("projects", "Serve several teams with one server, each with everything of its own")
	c.Long = `A project is a whole Earshot of its own: a ledger, tokens, logins, agents, tools, rules, boxes and an audit chain. One
server serves several of them behind one address, on one message bus, and nothing of one can be reached from another.

Each has a data directory below that of the server. To work in one, name it: every command takes --data, and EARSHOT_DATA
holds for a whole shell. Programs with a token come to http://NAME.localhost and the server's port. Its page has a name of its
own, which ` + "`earshot code --data DIR`" + ` prints.

A server that runs serves a new project at once, and ends one that is removed. Who added one stands in the audit chain of the
server's own project.`
	c.Example = `  earshot projects add billing --config /etc/earshot/billing.yaml
  earshot projects
  earshot projects show billing`
	c.AddCommand(m.projectsAddCommand(), m.projectsListCommand("list", "List the projects"), m.projectsShowCommand(), m.projectsRemoveCommand())
	return c
}

func (m *commands) projectsListCommand(name, short string) *cobra.Command {
	var f cli.LocalFlags
	return f.Add(&cobra.Command{
		Use: name, Short: short, Args: usage.None,
		RunE: func(c *cobra.Command, _ []string) error {
			data, err := m.DataPath(f.Data, false)
			if err != nil {
				return err
			}
			all, err := projectfile.List(data)
			if err != nil {
				return err
			}
			states := m.projectStates(c.Context(), data, f.Data)
			rows := make([]projectRow, 0, len(all))
			for _, p := range all {
				rows = append(rows, projectRowOf(p).with(states))
			}
			return cli.ListRows(m.Program, f.AsJSON, rows, "There is no project besides the server's own.", projectRow.line)
		},
	}, "write the list as JSON")
}

func (m *commands) projectsShowCommand() *cobra.Command {
	var f cli.LocalFlags
	return f.Add(&cobra.Command{
		Use: "show NAME", Short: "Show a project, and how to work in it", Args: usage.One("the name of a project"), ValidArgsFunction: m.offerProjects(&f),
		RunE: func(c *cobra.Command, args []string) error {
			data, err := m.DataPath(f.Data, false)
			if err != nil {
				return err
			}
			p, err := projectfile.Find(data, args[0])
			if err != nil {
				return err
			}
			row := projectRowOf(p).with(m.projectStates(c.Context(), data, f.Data))
			if f.AsJSON {
				return m.WriteJSON(row)
			}
			m.printProject(row)
			return nil
		},
	}, "write it as JSON")
}

// printProject writes a project, and how to work in it.
func (m *commands) printProject(r projectRow) {
	m.Printf("%s", r.line())
	if r.Hint != "" {
		m.Printf("What to do: %s", cause.OneLine(r.Hint))
	}
	if r.Config != "" {
		m.Printf("Configuration: %s", cause.OneLine(r.Config))
	}
	if r.By != "" {
		m.Printf("Added by %s on %s", cause.OneLine(r.By), r.Added.Format("2 January 2006"))
	}
	flag := m.DataFlag(r.Data)
	m.Printf("Work in it:")
	m.Printf("  earshot pending%s", flag)
	m.Printf("  earshot token add%s NAME", flag)
	m.Printf("  earshot code%s", flag)
}

func (m *commands) projectsAddCommand() *cobra.Command {
	var (
		f      cli.LocalFlags
		config string
	)
	c := f.Add(&cobra.Command{
		Use:   "add NAME [--config FILE]",
		Short: "Add a project; a server that runs serves it at once",
		Long: `Add a project. Its name is one part of a host name: 1 to 63 of a-z, 0-9 and -.

--config names a file with its folders, tools, rules and page address, in the form of ` + "`earshot help configuration`" + `. What
belongs to the process (` + "http, https, nats-listen, data" + ` and the like) is the server's and cannot stand there. The file is read
when the server begins to serve the project. Without one no folder is allowed and there are no tools.

A project that was removed is there again, with all its data. Of one that the server could not serve, the command says why, or
serves it by now.`,
		Args: usage.One("a name for the project"),
		RunE: func(c *cobra.Command, args []string) error { return m.addProject(c.Context(), args[0], config, f) },
	}, "write it as JSON")
	c.Flags().StringVar(&config, "config", "", "YAML file with the settings of the project")
	cli.MarkPaths(c, nil, []string{"config"})
	return c
}

func (m *commands) addProject(ctx context.Context, name, config string, f cli.LocalFlags) (err error) {
	data, err := m.DataPath(f.Data, false)
	if err != nil {
		return err
	}
	if config != "" {
		if config, err = filepath.Abs(config); err != nil {
			return cause.Misuse("the file of --config cannot be named", "give it by an absolute path")
		}
		if !datadir.Exists(config) {
			return cause.Misuse("there is no file "+config, "make it first, or leave --config out")
		}
	}
	if p, err := projectfile.Find(data, name); err == nil && config == "" && cli.ServerAt(data) && !cli.ServerAt(p.Path) {
		return m.serveAgain(ctx, p, data, f)
	}
	if err := datadir.Make(data); err != nil {
		return err
	}
	p, again, err := projectfile.Add(data, projectfile.Project{Name: name, Config: config, By: instance.LocalUser(), Added: m.Now().UTC().Truncate(time.Second)})
	if err != nil {
		return err
	}
	told, running, err := m.rereadProjects(ctx, data, f.Data)
	if err != nil {
		return cause.Fail(nil, "the project "+name+" is added, and the server that runs has not taken it up: "+cause.Of(err), "it is served from the next start")
	}
	for _, one := range told {
		if one.Name != name || one.Trouble == "" {
			continue
		}
		if _, err := projectfile.Remove(data, name); err != nil {
			return err
		}
		_, _, _ = m.rereadProjects(ctx, data, f.Data) // where it fails, the project is not served as it is
		return cause.Fail(nil, "the project "+name+" is not added, because it cannot be served: "+one.Trouble, one.Hint)
	}
	if f.AsJSON {
		return m.WriteJSON(projectRowOf(p))
	}
	if again {
		m.Printf("It was removed before, and is there again with its data.")
	}
	m.printProject(projectRowOf(p))
	if !running {
		m.Printf("No server runs here: `earshot up%s` serves it.", m.DataFlag(data))
	}
	return nil
}

// serveAgain has the server that runs try again to serve a project that it could not serve.
func (m *commands) serveAgain(ctx context.Context, p projectfile.Project, data string, f cli.LocalFlags) error {
	told, _, err := m.rereadProjects(ctx, data, f.Data)
	if err != nil {
		return err
	}
	for _, one := range told {
		if one.Name == p.Name && one.Trouble != "" {
			return cause.Fail(nil, "the project "+p.Name+" cannot be served: "+one.Trouble, one.Hint)
		}
	}
	if f.AsJSON {
		return m.WriteJSON(projectRowOf(p))
	}
	m.printProject(projectRowOf(p))
	return nil
}

// rereadProjects makes the server of the data directory, if there is one, read its list of projects again.
func (m *commands) rereadProjects(ctx context.Context, data, dataFlag string) (told []api.ServedProject, running bool, err error) {
	if !cli.ServerAt(data) {
		return nil, false, nil
	}
	remote, err := m.Dial(ctx, cli.ServerFlags{DataFlag: dataFlag}, "earshot-projects")
	if err != nil {
		return nil, true, err
	}
	answer, err := remote.RereadProjects(ctx)
	return answer.Projects, true, cli.ServerFailure(err)
}

func (m *commands) projectsRemoveCommand() *cobra.Command {
	var (
		f     cli.LocalFlags
		erase bool
		sure  string
	)
	c := f.Add(&cobra.Command{
		Use:   "rm NAME [--erase --confirm NAME]",
		Short: "Remove a project; its data stays, unless it is erased",
		Long: `Remove a project: a server that runs ends it, its running calls are told to stop, and its tokens count no more. Its data stays
where it is, and ` + "`earshot projects add`" + ` of the same name brings it back.

With --erase its data directory is deleted, with the ledger and the audit chain in it, and cannot be brought back but from a
backup. Type the name once more, with --confirm. A ledger in a database stays there, for you to delete.`,
		Args: usage.One("the name of a project"), ValidArgsFunction: m.offerProjects(&f),
		RunE: func(c *cobra.Command, args []string) error {
			switch {
			case erase && sure != args[0]:
				return cause.Misuse(fmt.Sprintf("to erase all data of %.80q, its name has to be confirmed", args[0]),
					"add --confirm "+cause.Quoted(args[0])+"; without --erase the data stays")
			case !erase && sure != "":
				return cause.Misuse("--confirm goes with --erase", "leave it out; the data stays")
			}
			return m.removeProject(c.Context(), args[0], erase, f)
		},
	}, "")
	c.Flags().BoolVar(&erase, "erase", false, "delete its data directory, with the ledger and the audit chain")
	c.Flags().StringVar(&sure, "confirm", "", "the name once more, for --erase")
	return c
}

func (m *commands) removeProject(ctx context.Context, name string, erase bool, f cli.LocalFlags) error {
	data, err := m.DataPath(f.Data, false)
	if err != nil {
		return err
	}
	p, err := projectfile.Remove(data, name)
	if err != nil && erase {
		if left, failed := projectfile.Left(data, name); failed == nil { // it was removed before
			p, err = left, nil
		}
	}
	if err != nil {
		return err
	}
	if _, _, err := m.rereadProjects(ctx, data, f.Data); err != nil {
		return cause.Fail(nil, "the project "+name+" is removed, and the server that runs has not ended it: "+cause.Of(err), "it is served until the server ends; its data stays")
	}
	m.Printf("The project %s is removed.", name)
	if !erase {
		m.Printf("Its data stays in %s.", cause.OneLine(p.Path))
		return nil
	}
	if err := projectfile.Erase(p); err != nil {
		return err
	}
	m.Printf("Its data is erased.")
	return nil
}

// offerProjects completes the names of projects.
func (m *commands) offerProjects(f *cli.LocalFlags) cobra.CompletionFunc {
	return func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		var names []string
		if data, err := m.DataPath(f.Data, false); err == nil && len(args) == 0 {
			all, _ := projectfile.List(data) // what cannot be read is not offered
			for _, p := range all {
				names = append(names, p.Name)
			}
		}
		return names, cobra.ShellCompDirectiveNoFileComp
	}
}
