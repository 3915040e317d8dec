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

// Run runs the command and returns the exit code.
func (m *Main) Run() int {
	root := m.command()
	root.SetArgs(m.Args)
	root.SetOut(m.Stdout)
	root.SetErr(m.Stderr)
	err := root.ExecuteContext(context.Background())
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

func (m *Main) command() *cobra.Command {
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
	root.SetVersionTemplate("earshot {{.Version}}{{\"\\n\"}}")
	root.SetFlagErrorFunc(usage.UnknownFlag)
	m.addCommands(root)
	root.PersistentPreRun = func(c *cobra.Command, _ []string) { m.noteVariables(c) }
	root.SetHelpCommand(helpCommand(root))
	root.SetHelpFunc(fitting(root.HelpFunc()))
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
		Use: "help [command]", GroupID: "program",
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

// addCommands adds all commands to the root, in groups.
func (m *Main) addCommands(root *cobra.Command) {
	for _, g := range []struct {
		id, title string
		commands  []*cobra.Command
	}{
		{"people", "Run agents, and answer them:", []*cobra.Command{
			m.runCommand(), m.acpCommand(), m.listenCommand(), m.pendingCommand(), m.replyCommand(), m.extendCommand(), m.undoCommand(), m.stopCommand(), m.recapCommand(),
			m.sessionsCommand(), m.permissionsCommand(), m.setCommand(), m.loginCommand(), m.logoutCommand(), m.codeCommand(), m.pairCommand(),
		}},
		{"processes", "Processes:", slices.Concat([]*cobra.Command{m.upCommand(), m.serveCommand()}, gateways.Commands(&m.Program), []*cobra.Command{m.doctorCommand()})},
		{"operators", "Operate a server:", operators.Commands(&m.Program, m.toolsCallCommand())},
		{"protocol", "Work with AAEP, of any producer:", protocol.Commands(&m.Program)},
		{"program", "About this program:", []*cobra.Command{m.versionCommand(), m.manCommand()}},
	} {
		root.AddGroup(&cobra.Group{ID: g.id, Title: g.title})
		for _, c := range g.commands {
			c.GroupID = g.id
			root.AddCommand(c)
		}
	}
	root.AddCommand(topics()...)
	root.SetHelpCommandGroupID("program")
	root.SetCompletionCommandGroupID("program")
}
