package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/spf13/cobra"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/cause"
	"github.com/earshot-dev/earshot/internal/listing"
	"github.com/earshot-dev/earshot/internal/operate"
	"github.com/earshot-dev/earshot/internal/usage"
	"github.com/earshot-dev/earshot/utp"
)

func (m *Main) toolsCommand() *cobra.Command {
	return parent("tools", "Registered tools: list, show, add, review, remove, call; an example to begin with",
		`See which tools services have registered, and decide what each may do. A tool that nobody has reviewed counts
as irreversible and of high risk, and is asked for. How far a service is held to that is said of each: enforced, where
it starts only when Earshot grants the start; broker-only, where it is third-party and gets its calls only when Earshot lets them out;
advisory, where the caller could do it by itself. While a server works, "no service connected" marks a tool whose
calls nobody would hear of. To look takes the role auditor or operator at a server, to
add, review and remove operator and approver.`,
		m.toolsListCommand(), m.toolsShowCommand(), m.toolsAddCommand(), m.toolsReviewCommand(), m.toolsRemoveCommand(), m.toolsCallCommand(), m.toolsExampleCommand())
}

func (m *Main) toolsListCommand() *cobra.Command {
	return m.operated(&cobra.Command{
		Use:   "list",
		Short: "List the registered tools",
		Args:  usage.None,
	}, func(ctx context.Context, ask operate.Ask, f remoteFlags, _ []string) error {
		list := m.newRows(f.asJSON)
		err := operate.EachTool(ctx, ask, func(t api.ToolDetail) error { return list.add(t, listing.ToolLine(t)) })
		if err == nil {
			list.end("No tool is registered.")
		}
		return err
	})
}

// toolNamed reads one tool.
func toolNamed(ctx context.Context, ask operate.Ask, name string) (api.ToolDetail, error) {
	var page api.ToolsAnswer
	err := ask(ctx, api.OpTools, api.ToolsRequest{Tool: name}, &page)
	if absent(err) || err == nil && len(page.Tools) != 1 {
		return api.ToolDetail{}, cause.Fail(nil, fmt.Sprintf("no tool is called %.128q", name), "see `earshot tools list`")
	}
	if err != nil {
		return api.ToolDetail{}, err
	}
	return page.Tools[0], nil
}

const toolArgument = "the name of a tool, as `earshot tools list` tells it"

func (m *Main) toolsShowCommand() *cobra.Command {
	var example string
	c := m.operated(&cobra.Command{
		Use:   "show TOOL [--args JSON]",
		Short: "Show the definition of a tool, what counts of it, and how it asks",
		Args:  usage.One(toolArgument),
	}, func(ctx context.Context, ask operate.Ask, f remoteFlags, args []string) error {
		with, err := previewArgs(example)
		if err != nil {
			return err
		}
		t, err := toolNamed(ctx, ask, args[0])
		if err != nil {
			return err
		}
		if f.asJSON {
			return m.writeJSON(t)
		}
		return m.listing().Tool(t, with)
	}, offerOne(offerTools))
	previewFlag(c, &example)
	return c
}

func (m *Main) toolsReviewCommand() *cobra.Command {
	var digest, risk, example string
	var classes []string
	c := m.operated(&cobra.Command{
		Use:   "review TOOL|'NAME.*' [--digest DIGEST --class CLASS --risk RISK] [--args JSON]",
		Short: "Look at a tool's definition, or at all of a service, then say which class and risk count",
		Long: `Without --digest, show the definition, what has changed in it since it was reviewed last and how it asks, and tell the
command that takes it as it is. With --digest, record the review of the definition with that very digest: if it
has changed meanwhile, nothing is recorded. Class and risk default to what the service says, and to irreversible and high
where it says nothing; a service can only raise them later, and a changed definition counts as not reviewed.

'NAME.*' means all tools of the service NAME that are not reviewed, such as those of an MCP server. Without --digest they are shown,
each with what its server says of it and a class that is proposed for that, and the command is told that takes all of it as it is; change
the classes in it as you see fit. With --digest, --class names the tools of each class; those that are not named count as irreversible.`,
		Example: `  earshot tools review mail.send
  earshot tools review mail.send --digest 3f9a… --class reversible --risk medium
  earshot tools review 'outbox.*'
  earshot tools review 'outbox.*' --digest 77b0… --class read=read_file,list_directory`,
		Args: usage.One(toolArgument),
	}, func(ctx context.Context, ask operate.Ask, f remoteFlags, args []string) error {
		if service, all := strings.CutSuffix(args[0], ".*"); all {
			return m.reviewService(ctx, ask, f, serviceReview{service: service, digest: digest, classes: classes, risk: risk})
		}
		if len(classes) > 1 || len(classes) == 1 && strings.Contains(classes[0], "=") {
			return cause.Misuse("one tool has one class", "for example --class read; classes of several tools go with 'NAME.*'")
		}
		class := strings.Join(classes, "")
		with, err := previewArgs(example)
		if err != nil {
			return err
		}
		t, err := toolNamed(ctx, ask, args[0])
		if err != nil {
			return err
		}
		if digest == "" {
			return m.offerReview(t, f, class, risk, with)
		}
		if t.Digest != digest {
			return cause.Fail(nil, fmt.Sprintf("the definition of %s has another digest than the one that was looked at", cause.OneLine(t.Tool)),
				"look at it again: `earshot tools review "+cause.OneLine(t.Tool)+"`")
		}
		q := api.ReviewRequest{Tool: t.Tool, Digest: digest, Class: listing.ClassOr(class, t), Risk: listing.RiskOr(risk, t)}
		if !q.Class.Valid() || !q.Risk.Valid() {
			return cause.Misuse("the class or the risk is none", "a class is read, idempotent, reversible or irreversible; a risk is low, medium or high")
		}
		if err := ask(ctx, api.OpReview, q, &t); err != nil {
			return err
		}
		if f.asJSON {
			return m.writeJSON(t)
		}
		m.sayf("Recorded: %s", listing.ToolLine(t))
		return nil
	}, offerOne(offerTools))
	previewFlag(c, &example)
	c.Flags().StringVar(&digest, "digest", "", "digest of the definition that was looked at")
	c.Flags().StringArrayVar(&classes, "class", nil, "read, idempotent, reversible or irreversible (default what the service says); for 'NAME.*' as CLASS=TOOL,TOOL, several times")
	c.Flags().StringVar(&risk, "risk", "", "low, medium or high (default what the service says)")
	_ = c.RegisterFlagCompletionFunc("class", cobra.FixedCompletions([]string{"read", "idempotent", "reversible", "irreversible"}, cobra.ShellCompDirectiveNoFileComp))
	_ = c.RegisterFlagCompletionFunc("risk", cobra.FixedCompletions([]string{"low", "medium", "high"}, cobra.ShellCompDirectiveNoFileComp))
	return c
}

func (m *Main) offerReview(t api.ToolDetail, f remoteFlags, class, risk string, example jsontext.Value) error {
	if f.asJSON {
		return m.writeJSON(t)
	}
	if err := m.listing().Tool(t, example); err != nil {
		return err
	}
	p := proposed(t)
	if p.Why != "" {
		m.sayf("Proposed: %s, %s risk, because %s. Nobody has checked that.", p.Class, p.Risk, p.Why)
	}
	m.sayf("To record that you have looked at this very definition:")
	m.sayf("  earshot tools review %s --digest %s --class %s --risk %s", cause.Quoted(t.Tool), t.Digest, cmp.Or(utp.Class(class), p.Class), cmp.Or(utp.Risk(risk), p.Risk))
	return nil
}

func (m *Main) toolsRemoveCommand() *cobra.Command {
	return m.operated(&cobra.Command{
		Use:   "rm TOOL",
		Short: "Take a tool out of the registry",
		Long: `Take a tool out of the registry. Calls of it that wait are not started any more. When its service registers
it again, nobody has reviewed it.`,
		Args: usage.One(toolArgument),
	}, func(ctx context.Context, ask operate.Ask, f remoteFlags, args []string) error {
		if err := ask(ctx, api.OpRemove, api.RemoveRequest{Tool: args[0]}, nil); err != nil {
			return err
		}
		if f.asJSON {
			return m.writeJSON(map[string]string{"removed": args[0]})
		}
		m.sayf("Recorded: %s is removed.", cause.OneLine(args[0]))
		return nil
	}, offerOne(offerTools))
}

// maxCallArgs bounds what is read of a call's arguments.
const maxCallArgs = 192 << 10

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
	c.Flags().StringVar(&f.dataFlag, "data", "", "data directory of the server (default $EARSHOT_DATA, else ~/.local/share/earshot)")
	c.Flags().StringVar(&f.server.url, "url", "", "address of the server, where it is not the one of the data directory")
	c.Flags().StringVar(&f.server.tokenFile, "token-file", "", "file with the token for --url")
	c.Flags().BoolVar(&f.noInput, "no-input", false, "ask nothing here: others can still answer")
	c.Flags().BoolVar(&f.asJSON, "json", false, "write the result and how the call ended as JSON")
	markPaths(c, []string{"data"}, []string{"token-file"})
	c.ValidArgsFunction = func(c *cobra.Command, args []string, word string) ([]string, cobra.ShellCompDirective) {
		at := f.server
		at.dataFlag = f.dataFlag
		return m.completes(&remoteFlags{server: at}, offerOne(offerTools))(c, args, word)
	}
	return c
}

func (m *Main) callTool(ctx context.Context, f runFlags, args []string) error {
	f.server.dataFlag = f.dataFlag
	raw := jsontext.Value("{}")
	if len(args) == 2 {
		raw = jsontext.Value(args[1])
	}
	if string(raw) == "-" {
		all, err := io.ReadAll(io.LimitReader(m.Stdin, maxCallArgs+1))
		if err != nil {
			return cause.Fail(err, "the arguments cannot be read", "give them as one JSON object on standard input")
		}
		raw, f.noInput = all, true
	}
	if raw.Kind() != '{' || !raw.IsValid() || len(raw) > maxCallArgs {
		return cause.Misuse("the arguments are not JSON object of at most 192 KiB", `for example '{"root":"/a/folder"}'`)
	}
	request, err := json.Marshal(api.OperatorArgs{Tool: args[0], Args: raw}, jsontext.PreserveRawStrings(true))
	if err != nil {
		return cause.Fail(err, "the arguments cannot be written", "")
	}
	asJSON := f.asJSON
	f.asJSON = false
	// The narration goes to standard error: what was asked for is the result.
	told := &Main{Args: m.Args, Stdin: m.Stdin, Stdout: m.Stderr, Stderr: m.Stderr, Getenv: m.Getenv, LookupEnv: m.LookupEnv, Now: m.Now}
	session, verdict := told.attachedTurn(ctx, f, job{request: api.EnqueueRequest{Agent: api.OperatorAgent, Args: request, Request: "Call " + args[0]}})
	if session == "" {
		return verdict
	}
	remote, err := m.dial(ctx, f.server, "earshot-operator")
	if err != nil {
		return err
	}
	if err := m.printResult(ctx, remote.Operate, session, asJSON); err != nil {
		return err
	}
	return verdict
}

// printResult writes the result of the one call of a turn.
func (m *Main) printResult(ctx context.Context, ask operate.Ask, session string, asJSON bool) error {
	last, err := operate.LastCall(ctx, ask, session)
	switch {
	case err != nil:
		return operatorError(err)
	case last == nil:
		return nil
	case asJSON:
		return m.writeJSON(last)
	}
	if _, err := fmt.Fprintln(m.Stdout, string(last.Content)); err != nil {
		return cause.Fail(err, "the result could not be written", "")
	}
	return nil
}
