package gateways

import (
	"context"
	"os/exec"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/earshot-dev/earshot/internal/agentcheck"
	"github.com/earshot-dev/earshot/internal/cause"
	"github.com/earshot-dev/earshot/internal/cli"
	"github.com/earshot-dev/earshot/internal/doctor"
	"github.com/earshot-dev/earshot/internal/gateway/hook"
	"github.com/earshot-dev/earshot/internal/hostfile"
	"github.com/earshot-dev/earshot/internal/hostsetup"
	"github.com/earshot-dev/earshot/tool/settings"
)

func (m *commands) doctorAgentsCommand() *cobra.Command {
	var f cli.LocalFlags
	c := &cobra.Command{
		Use:   "agents [HOST…]",
		Short: "Say of each host what is asked for, and try that a no holds",
		Long: `Run each host that is on this machine, or those that are named, for one turn with a scripted
model, which has it write a line into a file of the check. Earshot's hook says no to it. Then
say whether the hook ran and its no held, which tools nobody is asked for, and how far the
host is held to your answers:

  enforced     the host has no other way: it offers its model no tool of its own that changes something
  broker-only  calls of Earshot's tools go through the gate; what the host does with tools of its own does not
  advisory     the host asks before it uses tools of its own, and could leave that out

The host runs with your own settings and its other hooks, without its model or login, and may
keep the turn in its history. Nobody is asked anything. Claude Code, Codex, Gemini CLI, OpenCode
and Qwen Code can be run like that; of the others their files alone are read.

Exit codes: 0 what is set up holds; 1 it does not.`,
		Example: "  earshot doctor agents\n  earshot doctor agents codex --json",
		Args: func(_ *cobra.Command, args []string) error {
			for _, name := range args {
				if !slices.Contains(hostNames(), name) {
					return cause.Misuse("there is no host "+cause.Quoted(name), settings.Meant("hosts", name, hostNames()))
				}
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error { return m.doctorAgents(c.Context(), f, args) },
	}
	f.Add(c, "write the list as JSON")
	c.ValidArgsFunction = func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return hostNames(), cobra.ShellCompDirectiveNoFileComp
	}
	return c
}

// hostNames returns the names of all hosts that Earshot can be installed in.
func hostNames() []string {
	names := slices.Concat(hostfile.Names(), hook.Names())
	slices.Sort(names)
	return slices.Compact(names)
}

// agentFinding is the finding about one host.
type agentFinding struct {
	Host     string   `json:"host"`
	State    string   `json:"state"`
	Label    string   `json:"label,omitzero"`
	Found    string   `json:"found"`
	Denied   bool     `json:"denial_held"` // observed in this run
	NotGated []string `json:"not_gated,omitzero"`
	Advice   string   `json:"hint,omitzero"`
}

func (m *commands) doctorAgents(ctx context.Context, f cli.LocalFlags, names []string) error {
	all := len(names) == 0
	if all {
		names = hostNames()
	}
	code := cli.ExitDone
	var found []agentFinding
	for _, name := range names {
		finding, here, err := m.agentFinding(ctx, f, name)
		if err != nil {
			return err
		}
		if !here && all {
			continue
		}
		found = append(found, finding)
		if finding.State == doctor.Problem {
			code = cli.ExitFailed
		}
		if !f.AsJSON { // each takes some seconds
			m.tellAgent(finding)
		}
	}
	switch {
	case f.AsJSON:
		if err := m.WriteJSON(slices.Concat([]agentFinding{}, found)); err != nil {
			return err
		}
	case len(found) == 0:
		m.Printf("Found none of %s on this machine.", strings.Join(hostNames(), ", "))
	}
	if code != cli.ExitDone {
		return &cli.ExitError{Code: code}
	}
	return m.OutputError()
}

func (m *commands) tellAgent(f agentFinding) {
	label := ""
	if f.Label != "" {
		label = f.Label + ": "
	}
	line := f.State + ": " + f.Host + ": " + label + strings.Join(append([]string{f.Found}, f.NotGated...), " ")
	if f.Advice != "" {
		line += " hint: " + f.Advice
	}
	m.Printf("%s", line)
}

// agentFinding checks one host, and runs it if possible. here is false if it is not on this machine.
func (m *commands) agentFinding(ctx context.Context, f cli.LocalFlags, name string) (finding agentFinding, here bool, err error) {
	place, err := m.environment()
	if err != nil {
		return finding, false, err
	}
	finding = agentFinding{Host: name, State: doctor.Note}
	facts := agentcheck.Facts{Title: name}
	program := ""
	if host, known := hostfile.HostOf(name); known {
		facts.Title = host.Title
		for _, one := range host.Programs {
			if path, err := exec.LookPath(one); err == nil && program == "" {
				program, here = path, true
			}
		}
		if facts.MCP, err = hostsetup.Has(host, host.File(place)); err != nil {
			finding.State, finding.Found, finding.Advice = doctor.Problem, cause.Of(err), "mend its file"
			return finding, true, nil
		}
	}
	asks, hooked := hook.Named(name)
	if hooked {
		facts.Title, facts.Blocks = asks.Title, asks.Blocks
		if facts.Hook, err = m.hasHooks(f, name); err != nil {
			finding.State, finding.Found, finding.Advice = doctor.Problem, cause.Of(err), "mend its file"
			return finding, true, nil
		}
	}
	here = here || facts.MCP || facts.Hook
	if !here {
		finding.Found = facts.Title + " is not found on this machine."
		return finding, false, nil
	}
	if reviewed, known := hook.Reviewed(name); known && program != "" && agentcheck.Can(name) {
		if facts.Result, err = agentcheck.Run(ctx, agentcheck.Options{Hook: reviewed, Program: program, Env: m.Environ(), MCP: facts.MCP}); err != nil {
			return finding, true, cause.Fail(err, facts.Title+" could not be tried", "")
		}
		facts.Driven = true
	}
	m.judged(&finding, facts, asks, program)
	return finding, true, nil
}

// untried says why a host with a hook was not run, and how a person sees whether a no holds.
func untried(title, program, name string) string {
	if host, known := hostfile.HostOf(name); known && program == "" {
		return "no program " + strings.Join(host.Programs, " or ") + " is in PATH; install it, or add its folder to PATH, and do this again"
	}
	return title + " cannot be run by this check; have it use a tool of its own, and answer reject"
}

// judged adds the conclusions from the facts to a finding.
func (m *commands) judged(finding *agentFinding, facts agentcheck.Facts, asks hook.Host, program string) {
	v := facts.Judge()
	finding.Label, finding.Found, finding.NotGated = string(v.Label), v.Why, v.NotGated
	finding.Denied = facts.Driven && facts.Result.Denied && !facts.Result.Ran
	switch {
	case v.Problem:
		finding.State, finding.Advice = doctor.Problem, "look at its hooks, then do this again"
		if then := asks.Settings("").Then; then != "" {
			finding.Advice = then
		}
	case facts.Driven && !facts.Result.Asked:
		finding.NotGated = append(finding.NotGated, "It did not come to the scripted model: "+cause.OneLine(facts.Result.Trouble)+".")
	case v.Label != "" && (!facts.Hook || finding.Denied):
		finding.State = doctor.OK
	}
	if finding.Advice == "" && facts.Hook && !facts.Driven {
		finding.Advice = untried(facts.Title, program, finding.Host)
	}
	if finding.Advice == "" && asks.Name != "" && !facts.Hook {
		finding.Advice = "to be asked before it uses its own tools: `earshot install " + asks.Name + " --hooks`"
	}
}

func (m *commands) hasHooks(f cli.LocalFlags, name string) (bool, error) {
	flags := hostFlags{LocalFlags: f}
	if host, _ := hostfile.HookHostOf(name); host.File(hostfile.Environment{Getenv: m.Getenv}) == "" {
		flags.project = true
	}
	o, err := m.hookOptions(flags, name)
	if err != nil {
		return false, err
	}
	return hostsetup.HasHooks(o)
}
