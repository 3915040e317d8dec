package kernel

import (
	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/kernel/admission"
	"github.com/earshot-dev/earshot/internal/kernel/delegation"
)

// offeredOwn are the kernel's own tools as an agent is offered them: those that its definition leaves it, if it says whom
// the agent may ask.
func (k *Kernel) offeredOwn(agent string, by api.AgentDefinition) ([]api.OfferedTool, error) {
	if len(by.MayAsk) == 0 {
		return nil, nil
	}
	var all []api.OfferedTool
	for _, d := range delegation.Definitions() {
		tool, _ := admission.KernelTool(d.Tool)
		offered, err := k.offeredTool(agent, by, tool)
		if err != nil {
			return nil, err
		}
		if offered.Tool != "" {
			all = append(all, offered)
		}
	}
	return all, nil
}
