package kernel

import (
	"context"
	"fmt"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/kernel/turn"
	"github.com/earshot-dev/earshot/utp"
)

// defineAgent records the definition of an agent. Calls that wait are judged by it at once.
func (k *Kernel) defineAgent(ctx context.Context, _ Caller, q api.DefineAgentRequest) (api.AgentDetail, error) {
	a, err := k.admin.DefineAgent(ctx, q)
	if err == nil {
		k.rejudgeDefined(ctx, q.Definition.Name)
	}
	return a, err
}

// removeAgent removes the definition of an agent. Nothing that was refused for it comes back.
func (k *Kernel) removeAgent(ctx context.Context, _ Caller, q api.RemoveAgentRequest) (struct{}, error) {
	return struct{}{}, k.admin.RemoveAgent(ctx, q)
}

// rejudgeDefined judges the calls of an agent that wait: its definition binds nobody else.
func (k *Kernel) rejudgeDefined(ctx context.Context, agent string) {
	if err := k.everyOpen(ctx, agent, (*step).rejudge); err != nil { // each start is judged by itself anyway
		k.o.Logger.Error("judging calls after an agent was defined", "error", err)
	}
}

// overSteps ends a turn that has taken as many steps as its agent may, in place of the next one, and reports whether it has.
func (s *step) overSteps(w turn.WorkerClaim) (bool, error) {
	d, err := s.admission.Definition()
	if err != nil || d.MaxSteps == 0 || s.rec.State.Step < d.MaxSteps || s.rec.State.Stop != nil {
		return false, err
	}
	return true, s.dispatch(turn.Deliver{WorkerClaim: w, End: turn.End{
		Status: utp.StatusFailed, Code: utp.CodeTooManySteps, Message: fmt.Sprintf("the agent %s may take %d steps in a turn, and it asked for another one", d.Name, d.MaxSteps),
	}})
}
