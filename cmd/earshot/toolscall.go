package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/spf13/cobra"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/cause"
	"github.com/earshot-dev/earshot/internal/cli"
	"github.com/earshot-dev/earshot/internal/cli/operators"
	"github.com/earshot-dev/earshot/internal/operate"
)

func (m *Main) toolsCallCommand() *cobra.Command {
	var f runFlags
	c := &cobra.Command{
		Use:   "call TOOL [JSON|-]",
		Short: "Call a tool through the gate, as an agent does, and print its result",
		Long: `Call one tool at the server, as the agent operator, in a turn of its own that you own. It is gated like the
call of any agent: the policy decides, and where it says so you are asked here, with what would be done. The
arguments are a JSON object, or - for standard input. The result goes to standard output, all else to standard error.

Exit codes: 0 done; 1 it failed or its outcome is unknown; 2 usage; 3 declined or nobody answered.`,
		Example: `  earshot tools call mail.send '{"to":"anna@example.org","text":"Hello"}'`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) < 1 || len(args) > 2 {
				return cause.Misuse("expected the name of a tool, and its arguments", "for example `earshot tools call files.scan '{\"root\":\"/a/folder\"}'`")
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error { return m.callTool(c.Context(), f, args) },
	}
	c.Flags().StringVar(&f.dataFlag, "data", "", cli.ServerDataUsage)
	c.Flags().StringVar(&f.server.URL, "url", "", "address of the server, where it is not the one of the data directory")
	c.Flags().StringVar(&f.server.TokenFile, "token-file", "", "file with a token to use instead of the one for commands, such as one of earshot token add; --url needs it")
	c.Flags().BoolVar(&f.noInput, "no-input", false, "ask nothing here: others can still answer")
	c.Flags().BoolVar(&f.asJSON, "json", false, "write the result and how the call ended as JSON")
	cli.MarkPaths(c, []string{"data"}, []string{"token-file"})
	c.ValidArgsFunction = func(c *cobra.Command, args []string, word string) ([]string, cobra.ShellCompDirective) {
		at := f.server
		at.DataFlag = f.dataFlag
		return m.Completes(&cli.RemoteFlags{Server: at}, cli.OfferOne(operators.OfferTools))(c, args, word)
	}
	return c
}

func (m *Main) callTool(ctx context.Context, f runFlags, args []string) error {
	f.server.DataFlag = f.dataFlag
	raw := jsontext.Value("{}")
	if len(args) == 2 {
		raw = jsontext.Value(args[1])
	}
	if string(raw) == "-" {
		all, err := io.ReadAll(io.LimitReader(m.Stdin, operators.MaxCallArgs+1))
		if err != nil {
			return cause.Fail(err, "the arguments cannot be read", "give them as one JSON object on standard input")
		}
		raw, f.inputRead = all, true
	}
	if raw.Kind() != '{' || !raw.IsValid() || len(raw) > operators.MaxCallArgs {
		return cause.Misuse("the arguments are not a JSON object of at most 192 KiB", `for example '{"root":"/a/folder"}'`)
	}
	if err := m.toolThere(ctx, f.server, args[0]); err != nil {
		return err
	}
	request, err := json.Marshal(api.OperatorArgs{Tool: args[0], Args: raw}, jsontext.PreserveRawStrings(true))
	if err != nil {
		return cause.Fail(err, "the arguments cannot be written", "")
	}
	asJSON := f.asJSON
	f.asJSON = false
	// The narration goes to standard error: standard output is for the result.
	told := &Main{Args: m.Args, Program: cli.Program{
		Stdin: m.Stdin, Stdout: m.Stderr, Stderr: m.Stderr, Getenv: m.Getenv, LookupEnv: m.LookupEnv, Environ: m.Environ, Now: m.Now, Signals: m.Signals,
	}}
	session, verdict := told.attachedTurn(ctx, f, job{request: api.EnqueueRequest{Agent: api.OperatorAgent, Args: request, Request: "Call " + args[0]}})
	if session == "" {
		return verdict
	}
	remote, err := m.Dial(ctx, f.server, "earshot-operator")
	if err != nil {
		return err
	}
	if err := m.printResult(ctx, remote.Operate, session, asJSON); err != nil {
		return err
	}
	return verdict
}

// toolThere refuses the name of a tool that the server does not have, before a turn is begun for it. What else goes wrong the turn says.
func (m *Main) toolThere(ctx context.Context, server cli.ServerFlags, name string) error {
	remote, err := m.Dial(ctx, server, "earshot-operator")
	if err != nil {
		return err
	}
	_, err = operators.ToolNamed(ctx, remote.Operate, name)
	if absent, is := errors.AsType[*cause.Error](err); is {
		return absent
	}
	return nil
}

// printResult writes the result of the only call of a turn.
func (m *Main) printResult(ctx context.Context, ask operate.Ask, session string, asJSON bool) error {
	last, err := operate.LastCall(ctx, ask, session)
	switch {
	case err != nil:
		return cli.OperatorError(err)
	case last == nil:
		return nil
	case asJSON:
		return m.WriteJSON(last)
	}
	if _, err := fmt.Fprintln(m.Stdout, string(last.Content)); err != nil {
		return cause.Fail(err, "the result could not be written", "")
	}
	return nil
}
