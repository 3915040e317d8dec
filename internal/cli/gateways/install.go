package gateways

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/earshot-dev/earshot/internal/cause"
	"github.com/earshot-dev/earshot/internal/cli"
	"github.com/earshot-dev/earshot/internal/datadir"
	"github.com/earshot-dev/earshot/internal/gateway/hook"
	"github.com/earshot-dev/earshot/internal/hostfile"
	"github.com/earshot-dev/earshot/internal/hostsetup"
	"github.com/earshot-dev/earshot/internal/usage"
	"github.com/earshot-dev/earshot/tool/settings"
)

// hostFlags are the flags of install and uninstall.
type hostFlags struct {
	cli.LocalFlags

	project, moves, force, dryRun, hooks bool
}

func (f *hostFlags) add(c *cobra.Command, moves, movesUsage, hooksUsage string) *cobra.Command {
	f.Add(c, "write the result as JSON")
	flags := c.Flags()
	flags.BoolVar(&f.project, "project", false, "the host's file of the project in the current folder, instead of yours")
	flags.BoolVar(&f.moves, moves, false, movesUsage)
	flags.BoolVar(&f.force, "force", false, "also where the entry was changed by hand since")
	flags.BoolVar(&f.hooks, "hooks", false, hooksUsage)
	flags.BoolVar(&f.dryRun, "dry-run", false, "show what would change, and write nothing")
	c.ValidArgsFunction = func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		if f.hooks {
			return hook.Names(), cobra.ShellCompDirectiveNoFileComp
		}
		return hostfile.Names(), cobra.ShellCompDirectiveNoFileComp
	}
	return c
}

func (m *commands) installCommand() *cobra.Command {
	var f hostFlags
	return f.add(&cobra.Command{
		Use:   "install [HOST]",
		Short: "Put Earshot into Claude Code, Codex, Gemini CLI, OpenCode, Qwen Code, Cursor, VS Code, Zed or Goose",
		Long: `Write one entry, earshot, among the MCP servers in the host's own file, with time enough for a person to
answer. What changes is shown, and the file from before stays beside it. A second time changes nothing.
Without HOST the hosts are listed, with those that are on this machine and those that have it.

With --import the host's other MCP servers move behind Earshot, as by ` + "`earshot mcp add`" + `: each is started once,
its tools are listed, and its entry goes away. Credentials go into files that only you can read. A server
that cannot move stays, and the reason is told.

What a host can do without Earshot, with a shell or with file tools of its own, does not pass through it. With
--hooks you are asked before: the host's file gets an entry that runs ` + "`earshot hook HOST`" + `, and nothing else.`,
		Example: "  earshot install claude\n  earshot install claude --hooks\n  earshot install codex --import --dry-run\n  earshot uninstall codex --restore",
		Args:    usage.AtMostOne("the name of a host: " + strings.Join(hostfile.Names(), ", ")),
		RunE: func(c *cobra.Command, args []string) error {
			switch {
			case len(args) == 0 && f.hooks:
				return cause.Misuse("--hooks is for one host", "name it: "+strings.Join(hook.Names(), ", "))
			case len(args) == 0:
				return m.listHosts(f)
			case f.hooks:
				return m.installHooks(f, args[0])
			}
			o, err := m.hostOptions(f, args[0])
			if err != nil {
				return err
			}
			if o.Import = f.moves; o.Import && f.project {
				return cause.Misuse("--import is for your own servers, and --project for those of a project", "give one of them")
			}
			o.OnStart = func(server string) {
				m.Notef("Listing the tools of %s. This can take some seconds.", cause.OneLine(server))
			}
			r, err := hostsetup.Install(c.Context(), o)
			var taken reread
			if len(r.Moved) > 0 && !r.DryRun {
				taken = m.rereadList(c.Context(), mcpFlags{}, o.Data)
			}
			err = m.hostDone(f, o, r, err, func(o hostsetup.Options, r hostsetup.Result) { m.printInstalled(o, r, taken) })
			if err != nil {
				return err
			}
			m.noteMissing(o.Host)
			return taken.failure()
		},
	}, "import", "move the host's other MCP servers behind Earshot", "have the host ask before it uses tools of its own: "+strings.Join(hook.Names(), ", "))
}

func (m *commands) uninstallCommand() *cobra.Command {
	var f hostFlags
	return f.add(&cobra.Command{
		Use:   "uninstall HOST",
		Short: "Take Earshot out of a host again",
		Long: `Take the entry earshot out of the host's file of MCP servers, and nothing else. What changes is shown, and the
file from before stays beside it. An entry that was changed by hand stays, unless --force is given.

With --hooks the entries that ` + "`earshot install --hooks`" + ` has written are taken out instead.

With --restore the servers that ` + "`earshot install --import`" + ` has moved go back into the host's file, and leave
Earshot as by ` + "`earshot mcp rm`" + `: a server that runs ends them, and their tools leave the registry. One that another
host has moved, too, stays.`,
		Args: usage.One("the name of a host: " + strings.Join(hostfile.Names(), ", ")),
		RunE: func(c *cobra.Command, args []string) error {
			if f.hooks {
				return m.uninstallHooks(f, args[0])
			}
			o, err := m.hostOptions(f, args[0])
			if err != nil {
				return err
			}
			o.Restore = f.moves
			r, err := hostsetup.Uninstall(c.Context(), o)
			var gone retired
			if len(r.Removed) > 0 {
				gone = m.retire(c.Context(), mcpFlags{}, o.Data, r.Removed...)
			}
			err = m.hostDone(f, o, r, err, func(o hostsetup.Options, r hostsetup.Result) { m.printUninstalled(o, r, gone) })
			if err != nil {
				return err
			}
			m.noteHooks(f, args[0])
			return gone.failure()
		},
	}, "restore", "move the servers back that --import has moved", "take out what --hooks has put in")
}

// environment returns where the files of hosts are.
func (m *commands) environment() (hostfile.Environment, error) {
	home := m.Getenv("HOME")
	if home == "" {
		return hostfile.Environment{}, cause.Fail(nil, "there is no home folder, in which hosts keep their files", "set HOME")
	}
	return hostfile.Environment{Home: home, Getenv: m.Getenv, Mac: runtime.GOOS == "darwin"}, nil
}

func (m *commands) hostOptions(f hostFlags, name string) (o hostsetup.Options, err error) {
	place, err := m.environment()
	if err != nil {
		return o, err
	}
	var known bool
	if o.Host, known = hostfile.HostOf(name); !known {
		return o, cause.Misuse("there is no host "+cause.Quoted(name), settings.Meant("hosts", name, hostfile.Names()))
	}
	if o.Data, err = m.DataPath(f.Data, false); err != nil {
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
	o.Args = append([]string{"mcp", "serve"}, dataArgs(place, o.Data)...)
	o.Home, o.Tools, o.Force, o.DryRun = place.Home, m.ToolOptions(""), f.force, f.dryRun
	o.AskLogin = m.Logins(o.Data).Ask
	return o, nil
}

// dataArgs returns the arguments for a data directory other than the default: a host passes on few environment
// variables.
func dataArgs(place hostfile.Environment, data string) []string {
	if data == filepath.Join(place.Home, ".local", "share", "earshot") {
		return nil
	}
	return []string{"--data", data}
}

// hostDone reports what was done, or would be.
func (m *commands) hostDone(f hostFlags, o hostsetup.Options, r hostsetup.Result, err error, tell func(hostsetup.Options, hostsetup.Result)) error {
	if err != nil && r.Snippet != "" && !f.AsJSON {
		m.Printf("This has to stand in %s, beside what is there:", cause.OneLine(r.File))
		for line := range strings.Lines(r.Snippet) {
			m.Printf("  %s", strings.TrimRight(line, "\r\n"))
		}
	}
	if err != nil {
		return err
	}
	if f.AsJSON {
		return m.WriteJSON(r)
	}
	tell(o, r)
	return m.OutputError()
}

// noteMissing says that the program of a host is not found. What was written stands there for when it is.
func (m *commands) noteMissing(host hostfile.Host) {
	programs := hostfile.Programs(host.Name)
	for _, folder := range filepath.SplitList(m.Getenv("PATH")) {
		if slices.ContainsFunc(programs, func(p string) bool { _, err := exec.LookPath(filepath.Join(folder, p)); return err == nil }) {
			return
		}
	}
	m.Notef("%s is not found: no program %s is in PATH. Install it, or add its folder to PATH; it reads this file when it starts.", host.Title, strings.Join(programs, " or "))
}

func (m *commands) printInstalled(o hostsetup.Options, r hostsetup.Result, taken reread) {
	host, file := o.Host, cause.OneLine(r.File)
	if !r.Changed {
		m.Printf("%s has Earshot already: nothing changes in %s.", host.Title, file)
		m.printLeft(r)
		return
	}
	m.printDiff(o, r)
	if host.Limit > 0 {
		m.Printf("%s then waits up to %.0f minutes for a call.", host.Title, host.Limit.Minutes())
	}
	if !r.DryRun {
		m.Printf("%s takes it up when it is started again.", host.Title)
	}
	m.Printf("Broker-only: calls of Earshot's tools go through the gate. What %s can do without Earshot, with a shell or with file tools of its own, does not.", host.Title)
	for _, s := range r.Moved {
		if r.DryRun {
			m.Printf("%s would move behind Earshot, as %s, if its tools can be listed, or it asks for a login.", cause.OneLine(s.Name), s.As)
			continue
		}
		if s.Login != "" {
			m.printMovedLogin(o, s)
			continue
		}
		m.Printf("%s moves behind Earshot, as %s. Review its tools once it runs: `earshot tools review%s '%s.*'`.", cause.OneLine(s.Name), s.As, m.DataFlag(o.Data), s.As)
		for _, less := range s.Without {
			m.Printf("  Of %s: %s.", s.As, cause.OneLine(less))
		}
	}
	if len(r.Moved) > 0 && !r.DryRun {
		m.Printf("Of your variables a program that moved gets HOME, PATH and those that its entry names.")
		names := make([]string, 0, len(r.Moved))
		for _, s := range r.Moved {
			names = append(names, s.As)
		}
		m.printReread(mcpFlags{}, taken, o.Data, filepath.Join(o.Data, datadir.ToolsFile), names...)
	}
	m.printLeft(r)
}

// printMovedLogin says how a person logs in at a server that moved. What its host has of its own login stays there.
func (m *commands) printMovedLogin(o hostsetup.Options, s hostsetup.Moved) {
	client := ""
	if s.Client != "" {
		client = " --client-id " + s.Client
	}
	m.Printf("%s moves behind Earshot, as %s. It asks for a login, and the host's own does not move with it. Log in: `earshot mcp login%s%s %s`. "+
		"Then review its tools: `earshot tools review%s '%s.*'`.", cause.OneLine(s.Name), s.As, m.DataFlag(o.Data), client, s.As, m.DataFlag(o.Data), s.As)
}

func (m *commands) printUninstalled(o hostsetup.Options, r hostsetup.Result, gone retired) {
	if !r.Changed {
		m.Printf("%s does not have Earshot: nothing changes in %s.", o.Host.Title, cause.OneLine(r.File))
	} else {
		m.printDiff(o, r)
	}
	m.printLeft(r)
	m.printRetired(gone)
	if len(r.Behind) > 0 {
		m.Printf("These servers stay behind Earshot: %s. To have %s start them again: `earshot uninstall %s%s --restore`.",
			strings.Join(r.Behind, ", "), o.Host.Title, o.Host.Name, m.DataFlag(o.Data))
	}
}

// printDiff summarizes the change in a sentence, and then shows it.
func (m *commands) printDiff(o hostsetup.Options, r hostsetup.Result) {
	m.Printf("%s Lines that are removed begin with -, and those that are added with +:", r.Sentence(o.Host))
	m.tellLines(r.Diff, r.DryRun, r.Backup)
}

// tellLines shows the changes in a file, and where its backup is.
func (m *commands) tellLines(diff []string, dryRun bool, backup string) {
	for _, line := range diff {
		m.Printf("  %s", line)
	}
	switch {
	case dryRun:
		m.Printf("Nothing was written.")
	case backup != "":
		m.Printf("Written. The file from before is %s.", cause.OneLine(backup))
	default:
		m.Printf("Written. There was no such file before.")
	}
}

func (m *commands) printLeft(r hostsetup.Result) {
	for _, left := range r.Left {
		m.Printf("Left as it is: %s, since %s.", cause.OneLine(left.Name), cause.OneLine(left.Reason))
	}
}

func (m *commands) listHosts(f hostFlags) error {
	place, err := m.environment()
	if err != nil {
		return err
	}
	return cli.ListRows(m.Program, f.AsJSON, hostsetup.Survey(place), "", func(k hostsetup.Known) string {
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
