package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/earshot-dev/earshot/internal/build"
	"github.com/earshot-dev/earshot/internal/cause"
	"github.com/earshot-dev/earshot/internal/surface/terminal"
	"github.com/earshot-dev/earshot/internal/usage"
)

// The exit codes of the program.
const (
	exitDone     = 0
	exitFailed   = 1 // it failed, its outcome is unknown, or something accepted was not done
	exitUsage    = 2
	exitDeclined = 3 // declined, expired, or nobody could answer
	exitSignal   = 128
)

// Main is the whole program with its surroundings, so that tests start the real one.
type Main struct {
	Args           []string
	Stdin          *os.File
	Stdout, Stderr io.Writer
	Getenv         func(string) string
	LookupEnv      func(string) (string, bool)
	Now            func() time.Time

	unsaid atomic.Pointer[error] // the first line that standard output did not take
}

// Run runs the command and returns the exit code.
func (m *Main) Run() int {
	root := m.command()
	root.SetArgs(m.Args)
	root.SetOut(m.Stdout)
	root.SetErr(m.Stderr)
	err := root.ExecuteContext(context.Background())
	var ended *exitError
	switch {
	case err == nil:
		return exitDone
	case errors.As(err, &ended):
		return ended.code
	}
	failure, is := errors.AsType[*cause.Error](err)
	if !is {
		failure = usage.Unworded(err)
	}
	m.explain(failure)
	return codeOf(failure.Kind)
}

// codeOf is the exit code of a kind of failure.
func codeOf(kind cause.Kind) int {
	switch kind {
	case cause.Usage:
		return exitUsage
	case cause.Declined:
		return exitDeclined
	default:
		return exitFailed
	}
}

// explain writes the error and what to do about it, each on lines of its own.
func (m *Main) explain(f *cause.Error) {
	m.tellf("error: %s", cause.OneLine(f.Message))
	if f.Hint != "" {
		m.tellf("hint: %s", cause.OneLine(f.Hint))
	}
}

// tellf writes one line for people. Where standard error is gone, nobody can be told.
func (m *Main) tellf(format string, args ...any) {
	_ = writeLine(m.Stderr, fmt.Sprintf(format, args...))
}

// printLine writes one line for people, as it is.
func (m *Main) printLine(line string) { m.tellf("%s", line) }

// sayf writes one line of what was asked for. Where standard output is gone, nobody reads it;
// whether it was taken is for the end of the command, see [Main.outputError].
func (m *Main) sayf(format string, args ...any) {
	m.printError(writeLine(m.Stdout, fmt.Sprintf(format, args...)))
}

func (m *Main) printError(err error) {
	if err != nil {
		m.unsaid.CompareAndSwap(nil, &err)
	}
}

// outputError is an error where standard output has not taken all that was said to it: a list in a
// file on a full disk is not whole.
func (m *Main) outputError() error {
	if err := m.unsaid.Load(); err != nil {
		return cause.Fail(*err, "the output could not be written", "make room on the disk")
	}
	return nil
}

// writeLine fills a terminal's lines as the narration does; elsewhere a line stays one. What is
// to be copied stays whole too: a line that is indented, and one with a word, such as an
// address, that has no room on a line.
func writeLine(w io.Writer, text string) error {
	if file, is := w.(*os.File); is && isTerminal(file) && !strings.HasPrefix(text, " ") {
		width := widthOf(file)()
		long := slices.ContainsFunc(strings.Fields(text), func(word string) bool { return width > 0 && utf8.RuneCountInString(word) > width })
		if !long {
			text = strings.Join(terminal.Wrap(text, width), "\n")
		}
	}
	_, err := io.WriteString(w, text+"\n")
	return err //nolint:wrapcheck // the caller says what it was
}

// exitError ends the program with a code when all has been said.
type exitError struct{ code int }

func (e *exitError) Error() string { return fmt.Sprintf("exit %d", e.code) }

func (m *Main) command() *cobra.Command {
	root := &cobra.Command{
		Use:   "earshot",
		Short: "Run AI agents within a person's earshot",
		Long: `Earshot runs the tool calls of AI agents. Every step is told in plain lines as it
happens, and nothing irreversible happens without your consent.

Try it on a sample folder:

  earshot run tidy --sample

Or leave it running, with a page to answer on:

  earshot up --sample`,
		SilenceErrors: true,
		SilenceUsage:  true,
		Version:       build.This().Version,
		Args:          usage.KnownCommand,
		RunE:          func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	root.SetVersionTemplate("earshot {{.Version}}{{\"\\n\"}}")
	root.SetFlagErrorFunc(usage.UnknownFlag)
	m.addCommands(root)
	root.SetHelpCommand(helpCommand(root))
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

// helpCommand is the help about a command; a word that is none is refused as it is elsewhere.
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

// addCommands gives the root all that the program can do, in groups.
func (m *Main) addCommands(root *cobra.Command) {
	for _, g := range []struct {
		id, title string
		commands  []*cobra.Command
	}{
		{"people", "Run agents, and answer them:", []*cobra.Command{
			m.runCommand(), m.pendingCommand(), m.replyCommand(), m.extendCommand(), m.undoCommand(), m.stopCommand(), m.recapCommand(), m.sessionsCommand(),
			m.setCommand(), m.codeCommand(),
		}},
		{"processes", "Processes:", []*cobra.Command{m.upCommand(), m.serveCommand(), m.mcpCommand(), m.hookCommand(), m.installCommand(), m.uninstallCommand(), m.doctorCommand()}},
		{"operators", "Operate a server:", []*cobra.Command{
			m.toolsCommand(), m.turnsCommand(), m.cardsCommand(), m.deadCommand(), m.auditCommand(), m.tokenCommand(), m.credentialCommand(), m.loginsCommand(),
			m.eraseCommand(), m.exportCommand(), m.importCommand(), m.backupCommand(), m.restoreCommand(),
		}},
		{"protocol", "Work with AAEP, of any producer:", []*cobra.Command{
			m.validateCommand(), m.captureCommand(), m.replayCommand(), m.schemaCommand(), m.conformCommand(),
		}},
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
