package main

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/spf13/cobra"

	"github.com/earshot-dev/earshot/internal/cause"
	"github.com/earshot-dev/earshot/internal/datadir"
	"github.com/earshot-dev/earshot/internal/hostfile"
	"github.com/earshot-dev/earshot/internal/hostsetup"
	"github.com/earshot-dev/earshot/internal/usage"
	"github.com/earshot-dev/earshot/tool/settings"
)

// hostFlags are those of install and uninstall.
type hostFlags struct {
	localFlags

	project, moves, force, dryRun bool
}

func (f *hostFlags) add(c *cobra.Command, moves, movesUsage string) *cobra.Command {
	f.localFlags.add(c, "write the result as JSON")
	flags := c.Flags()
	flags.BoolVar(&f.project, "project", false, "the host's file of the project in the current folder, instead of yours")
	flags.BoolVar(&f.moves, moves, false, movesUsage)
	flags.BoolVar(&f.force, "force", false, "also where the entry was changed by hand since")
	flags.BoolVar(&f.dryRun, "dry-run", false, "show what would change, and write nothing")
	c.ValidArgsFunction = func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return hostfile.Names(), cobra.ShellCompDirectiveNoFileComp
	}
	return c
}

func (m *Main) installCommand() *cobra.Command {
	var f hostFlags
	return f.add(&cobra.Command{
		Use:   "install [HOST]",
		Short: "Put Earshot into Claude Code, Codex, Gemini CLI, Cursor, VS Code, Zed or Goose",
		Long: `Write one entry, earshot, among the MCP servers in the host's own file, with time enough for a person to
answer. What changes is shown, and the file from before stays beside it. A second time changes nothing.
Without HOST the hosts are listed, with those that are on this machine and those that have it.

With --import the host's other MCP servers move behind Earshot, as by ` + "`earshot mcp add`" + `: each is started once,
its tools are listed, and its entry goes away. Credentials go into files that only you can read. A server
that cannot move stays, and the reason is told.

What a host can do without Earshot, with a shell or with file tools of its own, does not pass through it.`,
		Example: "  earshot install claude\n  earshot install codex --import --dry-run\n  earshot uninstall codex --restore",
		Args:    usage.AtMostOne("the name of a host: " + strings.Join(hostfile.Names(), ", ")),
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				return m.listHosts(f)
			}
			o, err := m.hostOptions(f, args[0])
			if err != nil {
				return err
			}
			if o.Import = f.moves; o.Import && f.project {
				return cause.Misuse("--import is for your own servers, and --project for those of a project", "give one of them")
			}
			r, err := hostsetup.Install(c.Context(), o)
			return m.hostDone(f, o, r, err, m.printInstalled)
		},
	}, "import", "move the host's other MCP servers behind Earshot")
}

func (m *Main) uninstallCommand() *cobra.Command {
	var f hostFlags
	return f.add(&cobra.Command{
		Use:   "uninstall HOST",
		Short: "Take Earshot out of a host again",
		Long: `Take the entry earshot out of the host's file of MCP servers, and nothing else. What changes is shown, and the
file from before stays beside it. An entry that was changed by hand stays, unless --force is given.

With --restore the servers that ` + "`earshot install --import`" + ` has moved go back into the host's file.`,
		Args: usage.One("the name of a host: " + strings.Join(hostfile.Names(), ", ")),
		RunE: func(c *cobra.Command, args []string) error {
			o, err := m.hostOptions(f, args[0])
			if err != nil {
				return err
			}
			o.Restore = f.moves
			r, err := hostsetup.Uninstall(c.Context(), o)
			return m.hostDone(f, o, r, err, m.printUninstalled)
		},
	}, "restore", "move the servers back that --import has moved")
}

// environment is where the files of hosts are.
func (m *Main) environment() (hostfile.Environment, error) {
	home := m.Getenv("HOME")
	if home == "" {
		return hostfile.Environment{}, cause.Fail(nil, "there is no home folder, in which hosts keep their files", "set HOME")
	}
	return hostfile.Environment{Home: home, Getenv: m.Getenv, Mac: runtime.GOOS == "darwin"}, nil
}

func (m *Main) hostOptions(f hostFlags, name string) (o hostsetup.Options, err error) {
	place, err := m.environment()
	if err != nil {
		return o, err
	}
	var known bool
	if o.Host, known = hostfile.HostOf(name); !known {
		return o, cause.Misuse("there is no host "+cause.Quoted(name), settings.Meant("hosts", name, hostfile.Names()))
	}
	if o.Data, err = m.dataPath(f.data, false); err != nil {
		return o, err
	}
	if o.File = o.Host.File(place); f.project {
		folder, err := os.Getwd()
		if err != nil {
			return o, cause.Fail(err, "the current folder is not known", "change to the folder of the project")
		}
		if o.File = o.Host.ProjectFile(folder); o.File == "" {
			return o, cause.Misuse(o.Host.Title+" has no file of servers for a project", "leave --project out")
		}
	}
	if o.Program, err = hostsetup.Program(); err != nil {
		return o, err
	}
	o.Args = []string{"mcp", "serve"}
	if o.Data != filepath.Join(place.Home, ".local", "share", "earshot") { // a host hands on few variables
		o.Args = append(o.Args, "--data", o.Data)
	}
	o.Home, o.Tools, o.Force, o.DryRun = place.Home, m.toolOptions(""), f.force, f.dryRun
	return o, nil
}

// hostDone tells what was done, or would be.
func (m *Main) hostDone(f hostFlags, o hostsetup.Options, r hostsetup.Result, err error, tell func(hostsetup.Options, hostsetup.Result)) error {
	if err != nil {
		return err
	}
	if f.asJSON {
		return m.writeJSON(r)
	}
	tell(o, r)
	return m.outputError()
}

func (m *Main) printInstalled(o hostsetup.Options, r hostsetup.Result) {
	host, file := o.Host, cause.OneLine(r.File)
	if !r.Changed {
		m.sayf("%s has Earshot already: nothing changes in %s.", host.Title, file)
		m.printLeft(r)
		return
	}
	m.printDiff(o, r)
	if host.Limit > 0 {
		m.sayf("%s then waits up to %.0f minutes for a call.", host.Title, host.Limit.Minutes())
	}
	if !r.DryRun {
		m.sayf("%s takes it up when it is started again.", host.Title)
	}
	m.sayf("Broker-only: calls of Earshot's tools go through the gate. What %s can do without Earshot, with a shell or with file tools of its own, does not.", host.Title)
	for _, s := range r.Moved {
		if r.DryRun {
			m.sayf("%s would move behind Earshot, as %s, if its tools can be listed.", cause.OneLine(s.Name), s.As)
			continue
		}
		m.sayf("%s moves behind Earshot, as %s. Review its tools once it runs: `earshot tools review%s '%s.*'`.", cause.OneLine(s.Name), s.As, m.dataFlag(o.Data), s.As)
		for _, less := range s.Without {
			m.sayf("  Of %s: %s.", s.As, cause.OneLine(less))
		}
	}
	if len(r.Moved) > 0 && !r.DryRun {
		m.sayf("Of your variables a program that moved gets HOME, PATH and those that its entry names.")
		m.printReload(mcpFlags{}, o.Data, filepath.Join(o.Data, datadir.ToolsFile))
	}
	m.printLeft(r)
}

func (m *Main) printUninstalled(o hostsetup.Options, r hostsetup.Result) {
	if !r.Changed {
		m.sayf("%s does not have Earshot: nothing changes in %s.", o.Host.Title, cause.OneLine(r.File))
	} else {
		m.printDiff(o, r)
	}
	m.printLeft(r)
	if len(r.Behind) > 0 {
		m.sayf("These servers stay behind Earshot: %s. To have %s start them again: `earshot uninstall %s%s --restore`.",
			strings.Join(r.Behind, ", "), o.Host.Title, o.Host.Name, m.dataFlag(o.Data))
	}
}

// printDiff says in a sentence what changes, and then shows it.
func (m *Main) printDiff(o hostsetup.Options, r hostsetup.Result) {
	m.sayf("%s Lines that are removed begin with -, and those that are added with +:", r.Sentence(o.Host))
	for _, line := range r.Diff {
		m.sayf("  %s", line)
	}
	switch {
	case r.DryRun:
		m.sayf("Nothing was written.")
	case r.Backup != "":
		m.sayf("Written. The file from before is %s.", cause.OneLine(r.Backup))
	default:
		m.sayf("Written. There was no such file before.")
	}
}

func (m *Main) printLeft(r hostsetup.Result) {
	for _, left := range r.Left {
		m.sayf("Left as it is: %s, since %s.", cause.OneLine(left.Name), cause.OneLine(left.Reason))
	}
}

func (m *Main) listHosts(f hostFlags) error {
	place, err := m.environment()
	if err != nil {
		return err
	}
	return listRows(m, f.asJSON, hostsetup.Survey(place), "", func(k hostsetup.Known) string {
		state := "not found on this machine"
		switch {
		case k.Trouble != "":
			state = k.Trouble
		case k.Installed:
			state = "has Earshot, in " + cause.OneLine(k.File)
		case k.Found:
			state = "is here, without Earshot: `earshot install " + k.Host + "`"
		}
		return k.Host + ": " + k.Title + " " + state + "."
	})
}
