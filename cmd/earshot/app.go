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
	"unicode"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/earshot-dev/earshot/listen"
	"github.com/earshot-dev/earshot/tool/settings"
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
	var failure *failure
	if !errors.As(err, &failure) {
		failure = usage(err.Error(), "see `earshot --help`")
	}
	m.explain(failure)
	return failure.code
}

// explain writes the error and what to do about it, each on lines of its own.
func (m *Main) explain(f *failure) {
	m.tellf("error: %s", oneLine(f.message))
	if f.hint != "" {
		m.tellf("hint: %s", oneLine(f.hint))
	}
}

// tellf writes one line for people. Where standard error is gone, nobody can be told.
func (m *Main) tellf(format string, args ...any) {
	_ = writeLine(m.Stderr, fmt.Sprintf(format, args...))
}

// sayf writes one line of what was asked for. Where standard output is gone, nobody reads it;
// whether it was taken is for the end of the command, see [Main.allSaid].
func (m *Main) sayf(format string, args ...any) {
	m.said(writeLine(m.Stdout, fmt.Sprintf(format, args...)))
}

func (m *Main) said(err error) {
	if err != nil {
		m.unsaid.CompareAndSwap(nil, &err)
	}
}

// allSaid is an error where standard output has not taken all that was said to it: a list in a
// file on a full disk is not whole.
func (m *Main) allSaid() error {
	if err := m.unsaid.Load(); err != nil {
		return failed(*err, "the output could not be written", "make room on the disk")
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
			text = strings.Join(listen.Wrap(text, width), "\n")
		}
	}
	_, err := io.WriteString(w, text+"\n")
	return err //nolint:wrapcheck // the caller says what it was
}

// oneLine keeps what others have written, such as a path, from acting on the terminal
// or passing for a line of its own.
func oneLine(s string) string {
	var out strings.Builder
	for _, r := range strings.Join(strings.Fields(s), " ") {
		if unicode.IsPrint(r) {
			out.WriteRune(r)
		} else {
			fmt.Fprintf(&out, "\\u{%x}", r)
		}
	}
	return out.String()
}

// failure is an error for people: what was found and what was expected, then what to
// do.
type failure struct {
	code          int
	message, hint string
	err           error
}

func (f *failure) Error() string { return f.message }
func (f *failure) Unwrap() error { return f.err }

func usage(message, hint string) *failure {
	return &failure{code: exitUsage, message: message, hint: hint}
}

func failed(err error, message, hint string) *failure {
	if err != nil {
		message += ": " + err.Error()
	}
	return &failure{code: exitFailed, message: message, hint: hint, err: err}
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
		Version:       thisBuild().Version,
		Args:          knownCommand,
		RunE:          func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	root.SetVersionTemplate("earshot {{.Version}}{{\"\\n\"}}")
	root.SetFlagErrorFunc(unknownFlag)
	root.AddCommand(m.commands()...)
	root.CompletionOptions.SetDefaultShellCompDirective(cobra.ShellCompDirectiveNoFileComp)
	return root
}

// knownCommand refuses a word that is no command, and says which one is near.
func knownCommand(root *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	var names []string
	for _, c := range root.Commands() {
		names = append(names, c.Name())
	}
	return usage(fmt.Sprintf("there is no command %.64q", args[0]), orHelp(root, settings.Nearest(args[0], names)))
}

// unknownFlag tells what is wrong with a flag, and which one is near that there is.
func unknownFlag(c *cobra.Command, err error) error {
	near := ""
	if unknown, is := errors.AsType[*pflag.NotExistError](err); is {
		var names []string
		c.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
		if near = settings.Nearest(unknown.GetSpecifiedName(), names); near != "" {
			near = "--" + near
		}
	}
	return usage(err.Error(), orHelp(c, near))
}

// orHelp is a hint: what was probably meant, and where there is more.
func orHelp(c *cobra.Command, near string) string {
	help := "see `" + c.CommandPath() + " --help`"
	if near != "" {
		return "did you mean " + near + "? Or " + help
	}
	return help
}

// commands are all that the program can do.
func (m *Main) commands() []*cobra.Command {
	return []*cobra.Command{
		m.runCommand(), m.upCommand(), m.serveCommand(), m.pendingCommand(), m.replyCommand(), m.extendCommand(), m.stopCommand(),
		m.undoCommand(), m.recapCommand(), m.sessionsCommand(), m.setCommand(), m.codeCommand(), m.loginsCommand(), m.tokenCommand(), m.credentialCommand(),
		m.turnsCommand(), m.cardsCommand(), m.toolsCommand(), m.deadCommand(), m.auditCommand(), m.eraseCommand(), m.exportCommand(), m.importCommand(),
		m.backupCommand(), m.restoreCommand(),
		m.validateCommand(), m.captureCommand(), m.replayCommand(), m.schemaCommand(), m.conformCommand(),
		m.doctorCommand(), m.versionCommand(), m.manCommand(),
	}
}
