package hub

import (
	"context"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/rpc"
)

// Definitions returns what operators have defined about agents, by the agents' names. It checks no right: the caller shows a
// person only what concerns them.
func (h *Hub) Definitions(ctx context.Context) (all []api.AgentDefinition, err error) {
	after := ""
	for {
		var page api.AgentsAnswer
		if err := rpc.Ask(ctx, h.o.Conn, api.OpAgents, api.AgentsRequest{After: after}, &page); err != nil {
			return nil, err
		}
		for _, a := range page.Agents {
			all, after = append(all, a.AgentDefinition), a.Name
		}
		if !page.More || len(page.Agents) == 0 {
			return all, nil
		}
	}
}
