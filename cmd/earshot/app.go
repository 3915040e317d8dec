package main

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/earshot-dev/earshot/internal/build"
	"github.com/earshot-dev/earshot/internal/cause"
	"github.com/earshot-dev/earshot/internal/cli"
	"github.com/earshot-dev/earshot/internal/cli/gateways"
	"github.com/earshot-dev/earshot/internal/cli/operators"
	"github.com/earshot-dev/earshot/internal/cli/protocol"
	"github.com/earshot-dev/earshot/internal/usage"
)

// Main is the whole program with its arguments and environment, so that tests start the real one.
type Main struct {
	cli.Program
	Args []string
}

// Run runs the command and returns the exit code. The context ends it early.
func (m *Main) Run(ctx context.Context) int {
	root := m.rootFor(m.Args)
	root.SetArgs(m.Args)
	err := root.ExecuteContext(ctx)
	var ended *cli.ExitError
	switch {
	case err == nil:
		return cli.ExitDone
	case errors.As(err, &ended):
		return ended.Code
	}
	failure, is := errors.AsType[*cause.Error](err)
	if !is {
		failure = usage.Unworded(err)
	}
	m.Explain(failure)
	return cli.CodeOf(failure.Kind)
}

// rootFor returns the root command with the one command that the arguments begin with. If they begin with anything else, such
// as help or a flag, it returns all commands.
func (m *Main) rootFor(args []string) *cobra.Command {
	groups := m.groups()
	for _, g := range groups {
		called := func(c cli.Command) bool { return len(args) > 0 && c.Name == args[0] }
		if i := slices.IndexFunc(g.commands, called); i >= 0 {
			root := m.root(groups)
			root.CompletionOptions.DisableDefaultCmd = true
			g.add(root, g.commands[i])
			return root
		}
	}
	return m.command()
}

// command returns the root command with all commands.
func (m *Main) command() *cobra.Command {
	groups := m.groups()
	root := m.root(groups)
	for _, g := range groups {
		g.add(root, g.commands...)
	}
	root.AddCommand(topics()...)
	root.InitDefaultCompletionCmd()
	for _, c := range root.Commands() {
		if c.Name() != "completion" {
			continue
		}
		c.Args, c.RunE = usage.KnownCommand, func(c *cobra.Command, _ []string) error { return c.Help() }
		for _, shell := range c.Commands() {
			shell.Args = usage.None
		}
	}
	root.CompletionOptions.SetDefaultShellCompDirective(cobra.ShellCompDirectiveNoFileComp)
	return root
}

// root returns the root command with groups that have no commands yet.
func (m *Main) root(groups []group) *cobra.Command {
	root := &cobra.Command{
		Use:   "earshot",
		Short: "Run AI agents within a person's earshot",
		Long: `Earshot runs the tool calls of AI agents. Every step is told in plain lines as it
happens, and nothing irreversible happens without your consent.

Try it on a sample folder:

  earshot run tidy --sample

Or leave it running, with a page to answer on, and put the agent that you have behind
it: claude, codex, gemini, opencode, qwen, cursor, vscode, zed or goose.

  earshot up --sample
  earshot install claude`,
		SilenceErrors: true,
		SilenceUsage:  true,
		Version:       build.This().Version,
		Args:          usage.KnownCommand,
		RunE:          func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	root.SetOut(m.Stdout) // before the commands of completion are made, which keep it
	root.SetErr(m.Stderr)
	root.SetVersionTemplate("earshot {{.Version}}{{\"\\n\"}}")
	root.SetFlagErrorFunc(usage.UnknownFlag)
	root.PersistentPreRun = func(c *cobra.Command, _ []string) { m.noteVariables(c) }
	root.SetHelpCommand(helpCommand(root))
	root.SetHelpCommandGroupID(programGroup)
	root.SetCompletionCommandGroupID(programGroup)
	root.SetHelpFunc(fitting(root.HelpFunc()))
	for _, g := range groups {
		root.AddGroup(&cobra.Group{ID: g.id, Title: g.title})
	}
	return root
}

// fitting returns help whose lines fit the terminal. Topics about files print examples, which stay as they are.
func fitting(help func(*cobra.Command, []string)) func(*cobra.Command, []string) {
	return func(c *cobra.Command, args []string) {
		out := c.OutOrStdout()
		var text strings.Builder
		c.SetOut(&text)
		help(c, args)
		c.SetOut(out)
		fit := text.String()
		if !c.IsAdditionalHelpTopicCommand() {
			fit = usage.Fit(fit, cli.WidthOf(out)())
		}
		if _, err := io.WriteString(out, fit); err != nil {
			c.PrintErrln(err)
		}
	}
}

// helpCommand returns the help command. It refuses an unknown command as the program does.
func helpCommand(root *cobra.Command) *cobra.Command {
	return &cobra.Command{
		Use: "help [command]", GroupID: programGroup,
		Short: "Help about any command",
		RunE: func(_ *cobra.Command, args []string) error {
			c, rest, err := root.Find(args)
			if err != nil {
				return err //nolint:wrapcheck // it is usage.KnownCommand's
			}
			if err := usage.KnownCommand(c, rest); err != nil {
				return err
			}
			return c.Help()
		},
		ValidArgsFunction: func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			c, _, err := root.Find(args)
			if err != nil {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			var names []string
			for _, below := range c.Commands() {
				if below.IsAvailableCommand() {
					names = append(names, below.Name()+"\t"+below.Short)
				}
			}
			return names, cobra.ShellCompDirectiveNoFileComp
		},
	}
}

// group is a group of commands, as help lists them.
type group struct {
	id, title string
	commands  []cli.Command
}

// add adds commands of the group to the root.
func (g group) add(root *cobra.Command, commands ...cli.Command) {
	for _, one := range commands {
		c := one.New()
		c.GroupID = g.id
		root.AddCommand(c)
	}
}

// programGroup is the group of help and completion, too.
const programGroup = "program"

// groups are all groups of commands, in the order of help.
func (m *Main) groups() []group {
	return []group{
		{"people", "Run agents, and answer them:", m.peopleCommands()},
		{"processes", "Processes:", slices.Concat(
			[]cli.Command{{Name: "up", New: m.upCommand}, {Name: "serve", New: m.serveCommand}},
			gateways.Commands(&m.Program),
			[]cli.Command{{Name: "doctor", New: m.doctorCommand}},
		)},
		{"operators", "Operate a server:", operators.Commands(&m.Program, m.toolsCallCommand)},
		{"protocol", "Work with AAEP, of any producer:", protocol.Commands(&m.Program)},
		{programGroup, "About this program:", []cli.Command{{Name: "version", New: m.versionCommand}, {Name: "man", New: m.manCommand}}},
	}
}

func (m *Main) peopleCommands() []cli.Command {
	return []cli.Command{
		{Name: "run", New: m.runCommand},
		{Name: "acp", New: m.acpCommand},
		{Name: "listen", New: m.listenCommand},
		{Name: "pending", New: m.pendingCommand},
		{Name: "reply", New: m.replyCommand},
		{Name: "extend", New: m.extendCommand},
		{Name: "undo", New: m.undoCommand},
		{Name: "stop", New: m.stopCommand},
		{Name: "recap", New: m.recapCommand},
		{Name: "sessions", New: m.sessionsCommand},
		{Name: "permissions", New: m.permissionsCommand},
		{Name: "set", New: m.setCommand},
		{Name: "login", New: m.loginCommand},
		{Name: "logout", New: m.logoutCommand},
		{Name: "code", New: m.codeCommand},
		{Name: "pair", New: m.pairCommand},
	}
}
