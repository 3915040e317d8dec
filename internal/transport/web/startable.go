package web

import (
	"context"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/aaep/legible"
	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/surface/page"
)

// startable is an agent that can be started from the page now.
type startable struct {
	StartAgent

	line       page.StartAgent
	parameters jsontext.Value // the schema of its arguments, where it has a form of its own
}

// startable returns the agents that can be started from the page now: those whose program offers that, and those that this
// server can start and whose definition says which arguments they take. The definition comes first.
func (s *Server) startable(ctx context.Context) ([]startable, error) {
	defined, err := s.options.Definitions(ctx)
	if err != nil {
		return nil, s.unreadable(err)
	}
	known, err := s.options.KnownAgents()
	if err != nil {
		return nil, s.unreadable(err)
	}
	var all []startable
	add := func(agent StartAgent, offered bool) {
		there := func(a startable) bool { return a.Name == agent.Name }
		d := api.AgentDefinition{Name: agent.Name}
		if i := slices.IndexFunc(defined, func(o api.AgentDefinition) bool { return o.Name == agent.Name }); i >= 0 {
			d = defined[i]
		}
		if !d.IsActive() || !offered && len(d.Parameters) == 0 || slices.ContainsFunc(all, there) {
			return
		}
		line := page.StartAgent{Name: d.Name, Label: legible.Text(d.Name), About: agent.About, Formal: len(d.Parameters) > 0}
		if d.DisplayName != "" {
			line.Label = legible.Text(d.DisplayName)
		}
		all = append(all, startable{StartAgent: agent, line: line, parameters: d.Parameters})
	}
	for _, agent := range s.options.Startable {
		add(agent, true)
	}
	for _, agent := range known {
		add(StartAgent{Name: agent.Name}, false)
	}
	distinguish(all)
	return all, nil
}

// distinguish adds the names of those agents that are called alike.
func distinguish(all []startable) {
	called := map[string]int{}
	for _, one := range all {
		called[one.line.Label]++
	}
	for i := range all {
		if line := &all[i].line; called[line.Label] > 1 {
			line.Label += " (" + legible.Text(line.Name) + ")"
		}
	}
}

func (s *Server) unreadable(err error) error {
	return &Refusal{Kind: api.KindUnavailable, Message: "which agents can be started cannot be read", Hint: "see the log of the server", Cause: err}
}
