package gateways

import (
	"os"
	"strings"

	"github.com/earshot-dev/earshot/internal/cause"
	"github.com/earshot-dev/earshot/internal/gateway/hook"
	"github.com/earshot-dev/earshot/internal/hostfile"
	"github.com/earshot-dev/earshot/internal/hostsetup"
	"github.com/earshot-dev/earshot/tool/settings"
)

func (m *commands) hookOptions(f hostFlags, name string) (o hostsetup.HookOptions, err error) {
	place, err := m.environment()
	if err != nil {
		return o, err
	}
	var known bool
	if o.Hook, known = hook.Named(name); !known {
		return o, cause.Misuse("there is no host "+cause.Quoted(name)+" that has hooks", settings.Meant("hosts", name, hook.Names()))
	}
	o.Host, _ = hostfile.HookHostOf(name)
	if f.moves {
		return o, cause.Misuse("--hooks is not about MCP servers", "leave --import or --restore out, or --hooks")
	}
	if o.Data, err = m.DataPath(f.Data, false); err != nil {
		return o, err
	}
	o.File = o.Host.File(place)
	switch folder, err := os.Getwd(); {
	case f.project && err != nil:
		return o, cause.Fail(err, "the current folder is not known", "change to the folder of the project")
	case f.project:
		o.File = o.Host.ProjectFile(folder)
	case o.File == "":
		return o, cause.Misuse(o.Host.Title+" has hooks for a project alone", "change to its folder, and add --project")
	}
	if o.Program, err = hostsetup.Program(); err != nil {
		return o, err
	}
	o.Args, o.Force, o.DryRun = dataArgs(place, o.Data), f.force, f.dryRun
	return o, nil
}

func (m *commands) installHooks(f hostFlags, name string) error {
	o, err := m.hookOptions(f, name)
	if err != nil {
		return err
	}
	r, err := hostsetup.InstallHooks(o)
	if r.Snippet != "" && !f.AsJSON {
		m.Printf("These entries belong in %s:", cause.OneLine(r.File))
		for line := range strings.Lines(r.Snippet) {
			m.Printf("  %s", strings.TrimRight(line, "\n"))
		}
	}
	if err != nil {
		return err
	}
	defer m.noteMissing(o.Host)
	if f.AsJSON {
		return m.WriteJSON(r)
	}
	title := o.Host.Title
	if !r.Changed {
		m.Printf("%s has Earshot's hook already: nothing changes in %s.", title, cause.OneLine(r.File))
		return m.OutputError()
	}
	verb := "is"
	if r.DryRun {
		verb = "would be"
	}
	m.Printf("In %s, the file of %s, Earshot's hook %s put at %s. Lines that are removed begin with -, and those that are added with +:",
		cause.OneLine(r.File), title, verb, strings.Join(r.Events, ", "))
	m.tellLines(r.Diff, r.DryRun, r.Backup)
	if !r.DryRun {
		m.Printf("You are asked before %s uses a tool of its own that may change something, from its next start on.", title)
		if r.Then != "" {
			m.Printf("%s", r.Then)
		}
		m.Printf("To see that a no holds: `earshot doctor agents%s`.", m.DataFlag(o.Data))
	}
	m.Printf("Advisory: %s runs the hook, and could leave it out.", title)
	return m.OutputError()
}

// noteHooks says that a host still asks before it uses its own tools, for its entry of servers is another one.
func (m *commands) noteHooks(f hostFlags, name string) {
	if _, hooked := hook.Named(name); !hooked {
		return
	}
	f.moves = false
	o, err := m.hookOptions(f, name)
	if err != nil {
		return // the host has no hooks there
	}
	flag := m.DataFlag(o.Data)
	if f.project {
		flag += " --project"
	}
	if has, err := hostsetup.HasHooks(o); err == nil && has {
		m.Notef("Earshot's hook stays in %s, so you are still asked before %s uses tools of its own. `earshot uninstall %s%s --hooks` takes it out.",
			cause.OneLine(o.File), o.Host.Title, name, flag)
	}
}

func (m *commands) uninstallHooks(f hostFlags, name string) error {
	o, err := m.hookOptions(f, name)
	if err != nil {
		return err
	}
	r, err := hostsetup.UninstallHooks(o)
	switch {
	case err != nil:
		return err
	case f.AsJSON:
		return m.WriteJSON(r)
	case !r.Changed:
		m.Printf("%s does not have Earshot's hook: nothing changes in %s.", o.Host.Title, cause.OneLine(r.File))
		return m.OutputError()
	}
	verb := "is"
	if r.DryRun {
		verb = "would be"
	}
	m.Printf("In %s, the file of %s, Earshot's hook %s removed from %s. Lines that are removed begin with -, and those that are added with +:",
		cause.OneLine(r.File), o.Host.Title, verb, strings.Join(r.Events, ", "))
	m.tellLines(r.Diff, r.DryRun, r.Backup)
	return m.OutputError()
}
