package operators

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/earshot-dev/earshot/aaep/legible"
	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/cause"
	"github.com/earshot-dev/earshot/internal/cli"
	"github.com/earshot-dev/earshot/internal/kernel/roster"
	"github.com/earshot-dev/earshot/internal/operate"
	"github.com/earshot-dev/earshot/internal/usage"
	"github.com/earshot-dev/earshot/tool/settings"
)

func (m *commands) agentsCommand() *cobra.Command {
	return cli.Parent("agents", "Definitions of agents: what each may use, whom it may ask, and how its turns end",
		`Define what an agent may do beyond the policy: which tools it may use, which agents it may ask, with which call its
turns have to end, and how many steps they take. An agent without a definition is bound by the policy alone. To look takes
the role auditor or operator at a server, to add and remove operator and approver; without a server it works on the data
directory. Each change has an entry in the audit chain.`,
		m.agentsAddCommand(), m.agentsListCommand(), m.agentsShowCommand(), m.agentsRemoveCommand())
}

// agentLine describes a definition in one line.
func agentLine(d api.AgentDefinition) string {
	return cause.OneLine(d.Name) + ": " + legible.Line(roster.Describe(d))
}

func (m *commands) agentsListCommand() *cobra.Command {
	return m.Operated(&cobra.Command{
		Use:   "list",
		Short: "List the agents that have a definition",
		Args:  usage.None,
	}, func(ctx context.Context, ask operate.Ask, f cli.RemoteFlags, _ []string) error {
		list := m.NewRows(f.AsJSON)
		err := operate.EachAgent(ctx, ask, func(a api.AgentDetail) error { return list.Add(a, agentLine(a.AgentDefinition)) })
		if err == nil {
			list.End("No agent has a definition: the policy alone says what each may do.")
		}
		return err
	})
}

const agentArgument = "the name of an agent, as `earshot agents list` tells it"

// agentNamed reads the definition of one agent.
func agentNamed(ctx context.Context, ask operate.Ask, name string) (a api.AgentDetail, found bool, err error) {
	var page api.AgentsAnswer
	err = ask(ctx, api.OpAgents, api.AgentsRequest{Name: name}, &page)
	if cli.Absent(err) || err == nil && len(page.Agents) != 1 {
		return a, false, nil
	}
	if err != nil {
		return a, false, err
	}
	return page.Agents[0], true, nil
}

// noAgent is the error for the name of an agent that has no definition.
func noAgent(ctx context.Context, ask operate.Ask, name string) error {
	var names []string
	_ = operate.EachAgent(ctx, ask, func(a api.AgentDetail) error { // where it fails, no similar name is known
		names = append(names, a.Name)
		return nil
	})
	return cause.Fail(nil, fmt.Sprintf("the agent %.128q has no definition", name), settings.Suggest(name, names, "see `earshot agents list`"))
}

func (m *commands) agentsShowCommand() *cobra.Command {
	return m.Operated(&cobra.Command{
		Use:   "show NAME",
		Short: "Show the definition of an agent",
		Args:  usage.One(agentArgument),
	}, func(ctx context.Context, ask operate.Ask, f cli.RemoteFlags, args []string) error {
		a, found, err := agentNamed(ctx, ask, args[0])
		switch {
		case err != nil:
			return err
		case !found:
			return noAgent(ctx, ask, args[0])
		case f.AsJSON:
			return m.WriteJSON(a)
		}
		m.Printf("%s", agentLine(a.AgentDefinition))
		m.Printf("Digest: %s", cause.OneLine(a.Digest))
		return nil
	}, cli.OfferOne(offerAgents))
}

func (m *commands) agentsRemoveCommand() *cobra.Command {
	digest := ""
	c := m.Operated(&cobra.Command{
		Use:   "rm NAME [--digest DIGEST]",
		Short: "Remove the definition of an agent: the policy alone binds it from then on",
		Long: `Without --digest, show the definition, and the command that removes it. With --digest, remove it: exactly the
definition that was looked at, or nothing. From then on the policy alone says what the agent may do, as for one that never had
a definition. To keep an agent from working, define it with "active: false" instead.`,
		Args: usage.One(agentArgument),
	}, func(ctx context.Context, ask operate.Ask, f cli.RemoteFlags, args []string) error {
		if digest == "" {
			return m.offerRemoval(ctx, ask, f, args[0])
		}
		err := ask(ctx, api.OpRemoveAgent, api.RemoveAgentRequest{Name: args[0], Before: digest}, nil)
		switch {
		case cli.Absent(err):
			return noAgent(ctx, ask, args[0])
		case err != nil:
			return err
		case f.AsJSON:
			return m.WriteJSON(map[string]string{"removed": args[0]})
		}
		m.Printf("Recorded: the definition of %s is removed.", cause.OneLine(args[0]))
		return nil
	}, cli.OfferOne(offerAgents))
	c.Flags().StringVar(&digest, "digest", "", "digest of the definition that was looked at")
	return c
}

// offerRemoval shows what a removal takes away, and the command that does it.
func (m *commands) offerRemoval(ctx context.Context, ask operate.Ask, f cli.RemoteFlags, name string) error {
	a, found, err := agentNamed(ctx, ask, name)
	switch {
	case err != nil:
		return err
	case !found:
		return noAgent(ctx, ask, name)
	case f.AsJSON:
		return m.WriteJSON(a)
	}
	m.Printf("%s. Without this, the policy alone says what it may do.", agentLine(a.AgentDefinition))
	m.Printf("To remove this very definition:")
	m.Printf("  earshot agents rm %s --digest %s", cause.Quoted(name), cause.OneLine(a.Digest))
	return nil
}
