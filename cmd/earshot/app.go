package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"
	"unicode"

	"github.com/spf13/cobra"
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
func (m *Main) tellf(format string, args ...any) { _, _ = fmt.Fprintf(m.Stderr, format+"\n", args...) }

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

  earshot run tidy --sample`,
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          cobra.NoArgs,
		RunE:          func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		return usage(err.Error(), "see `"+c.CommandPath()+" --help`")
	})
	root.AddCommand(m.runCommand(), m.versionCommand())
	return root
}
