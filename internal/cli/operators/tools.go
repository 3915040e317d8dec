package operators

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/spf13/cobra"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/cause"
	"github.com/earshot-dev/earshot/internal/cli"
	"github.com/earshot-dev/earshot/internal/example"
	"github.com/earshot-dev/earshot/internal/listing"
	"github.com/earshot-dev/earshot/internal/operate"
	"github.com/earshot-dev/earshot/internal/usage"
	"github.com/earshot-dev/earshot/internal/wording"
	"github.com/earshot-dev/earshot/tool/settings"
	"github.com/earshot-dev/earshot/utp"
)

func (m *commands) toolsCommand() *cobra.Command {
	return cli.Parent("tools", "Registered tools: list, show, add, review, remove, call; an example to begin with",
		`See which tools services have registered, and decide what each may do. A tool that nobody has reviewed counts
as irreversible and of high risk, and is asked for. How far a service is held to that is said of each: enforced, where
it starts only when Earshot grants the start; broker-only, where it is third-party and gets its calls only when Earshot lets them out;
advisory, where the caller could do it by itself. While a server works, "no service connected" marks a tool whose
calls nobody would hear of. To look takes the role auditor or operator at a server, to
add, review and remove operator and approver.`,
		m.toolsListCommand(), m.toolsShowCommand(), m.toolsAddCommand(), m.toolsReviewCommand(), m.toolsRemoveCommand(), m.toolCall(), m.toolsExampleCommand())
}

func (m *commands) toolsListCommand() *cobra.Command {
	return m.Operated(&cobra.Command{
		Use:   "list",
		Short: "List the registered tools",
		Args:  usage.None,
	}, func(ctx context.Context, ask operate.Ask, f cli.RemoteFlags, _ []string) error {
		list := m.NewRows(f.AsJSON)
		err := operate.EachTool(ctx, ask, func(t api.ToolDetail) error { return list.Add(t, listing.ToolLine(t)) })
		if err == nil {
			list.End("No tool is registered.")
		}
		return err
	})
}

// ToolNamed reads one tool.
func ToolNamed(ctx context.Context, ask operate.Ask, name string) (api.ToolDetail, error) {
	var page api.ToolsAnswer
	err := ask(ctx, api.OpTools, api.ToolsRequest{Tool: name}, &page)
	if cli.Absent(err) || err == nil && len(page.Tools) != 1 {
		return api.ToolDetail{}, noTool(ctx, ask, name)
	}
	if err != nil {
		return api.ToolDetail{}, err
	}
	return page.Tools[0], nil
}

// noTool is the error for a name that no tool has.
func noTool(ctx context.Context, ask operate.Ask, name string) error {
	var names []string
	_ = operate.EachTool(ctx, ask, func(t api.ToolDetail) error { // where it fails, no similar name is known
		names = append(names, t.Tool)
		return nil
	})
	return cause.Fail(nil, fmt.Sprintf("no tool is called %.128q", name), settings.Suggest(name, names, "see `earshot tools list`"))
}

const toolArgument = "the name of a tool, as `earshot tools list` tells it"

func (m *commands) toolsShowCommand() *cobra.Command {
	var example string
	c := m.Operated(&cobra.Command{
		Use:   "show TOOL [--args JSON]",
		Short: "Show the definition of a tool, what counts of it, and how it asks",
		Args:  usage.One(toolArgument),
	}, func(ctx context.Context, ask operate.Ask, f cli.RemoteFlags, args []string) error {
		with, err := previewArgs(example)
		if err != nil {
			return err
		}
		t, err := ToolNamed(ctx, ask, args[0])
		if err != nil {
			return err
		}
		if f.AsJSON {
			return m.WriteJSON(t)
		}
		return m.Listing().Tool(t, with)
	}, cli.OfferOne(OfferTools))
	previewFlag(c, &example)
	return c
}

func (m *commands) toolsReviewCommand() *cobra.Command {
	var digest, risk, example string
	var classes []string
	c := m.Operated(&cobra.Command{
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
	}, func(ctx context.Context, ask operate.Ask, f cli.RemoteFlags, args []string) error {
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
		t, err := ToolNamed(ctx, ask, args[0])
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
		q := api.ReviewRequest{Tool: t.Tool, Digest: digest, Class: wording.ClassOr(class, t), Risk: wording.RiskOr(risk, t)}
		if !q.Class.Valid() || !q.Risk.Valid() {
			return cause.Misuse("the class or the risk is none", "a class is read, idempotent, reversible or irreversible; a risk is low, medium or high")
		}
		if err := ask(ctx, api.OpReview, q, &t); err != nil {
			return err
		}
		if f.AsJSON {
			return m.WriteJSON(t)
		}
		m.Printf("Recorded: %s", listing.ToolLine(t))
		return nil
	}, cli.OfferOne(OfferTools))
	previewFlag(c, &example)
	c.Flags().StringVar(&digest, "digest", "", "digest of the definition that was looked at")
	c.Flags().StringArrayVar(&classes, "class", nil, "read, idempotent, reversible or irreversible (default what the service says); for 'NAME.*' as CLASS=TOOL,TOOL, several times")
	c.Flags().StringVar(&risk, "risk", "", "low, medium or high (default what the service says)")
	_ = c.RegisterFlagCompletionFunc("class", cobra.FixedCompletions([]string{"read", "idempotent", "reversible", "irreversible"}, cobra.ShellCompDirectiveNoFileComp))
	_ = c.RegisterFlagCompletionFunc("risk", cobra.FixedCompletions([]string{"low", "medium", "high"}, cobra.ShellCompDirectiveNoFileComp))
	return c
}

func (m *commands) offerReview(t api.ToolDetail, f cli.RemoteFlags, class, risk string, example jsontext.Value) error {
	if f.AsJSON {
		return m.WriteJSON(t)
	}
	if err := m.Listing().Tool(t, example); err != nil {
		return err
	}
	p := proposed(t)
	if p.Why != "" {
		m.Printf("Proposed: %s, %s risk, because %s. Nobody has checked that.", p.Class, p.Risk, p.Why)
	}
	m.Printf("To record that you have looked at this very definition:")
	m.Printf("  earshot tools review %s --digest %s --class %s --risk %s", cause.Quoted(t.Tool), t.Digest, cmp.Or(utp.Class(class), p.Class), cmp.Or(utp.Risk(risk), p.Risk))
	return nil
}

func (m *commands) toolsRemoveCommand() *cobra.Command {
	return m.Operated(&cobra.Command{
		Use:   "rm TOOL",
		Short: "Take a tool out of the registry",
		Long: `Take a tool out of the registry. Calls of it that wait are not started any more. When its service registers
it again, nobody has reviewed it.`,
		Args: usage.One(toolArgument),
	}, func(ctx context.Context, ask operate.Ask, f cli.RemoteFlags, args []string) error {
		err := ask(ctx, api.OpRemove, api.RemoveRequest{Tool: args[0]}, nil)
		switch {
		case cli.Absent(err):
			return noTool(ctx, ask, args[0])
		case err != nil:
			return err
		case f.AsJSON:
			return m.WriteJSON(map[string]string{"removed": args[0]})
		}
		m.Printf("Recorded: %s is removed.", cause.OneLine(args[0]))
		return nil
	}, cli.OfferOne(OfferTools))
}

// MaxCallArgs is the maximum size of a call's arguments in bytes.
const MaxCallArgs = 192 << 10

func (m *commands) toolsExampleCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "example",
		Short: "Print a file of tools to begin with, for `earshot up --tools` and `earshot serve`",
		Long: `Print a file that turns programs of this machine and operations of HTTP servers into tools. It can be used as it is;
change in it what is run and sent.`,
		Example: `  earshot tools example > tools.yaml
  earshot serve --check tools.yaml`,
		Args: usage.None,
		RunE: func(*cobra.Command, []string) error { return m.Write(example.Tools) },
	}
}
