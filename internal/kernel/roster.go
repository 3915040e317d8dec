package kernel

import (
	"context"
	"fmt"
	"strings"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/kernel/roster"
	"github.com/earshot-dev/earshot/internal/kernel/turn"
	"github.com/earshot-dev/earshot/utp"
)

// defineAgent records the definition of an agent. Calls that wait are judged by it at once.
func (k *Kernel) defineAgent(ctx context.Context, _ Caller, q api.DefineAgentRequest) (api.AgentDetail, error) {
	a, err := k.admin.DefineAgent(ctx, q)
	if err == nil {
		k.rejudgeDefined(ctx)
	}
	return a, err
}

// removeAgent removes the definition of an agent. Nothing that was refused for it comes back.
func (k *Kernel) removeAgent(ctx context.Context, _ Caller, q api.RemoveAgentRequest) (struct{}, error) {
	return struct{}{}, k.admin.RemoveAgent(ctx, q)
}

func (k *Kernel) rejudgeDefined(ctx context.Context) {
	if err := k.Rejudge(ctx); err != nil { // each start is judged by itself anyway
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

// unmet returns the end of a turn in place of a success, unless its last call is one that its agent has to end with and
// succeeded; the zero value if it is. Calls that were asked for together are all the last one. Submitted is whether the
// turn ends with an answer that has fields, which stands for a call of submit_result.
func (s *step) unmet(submitted bool) (turn.End, error) {
	d, err := s.admission.Definition()
	if err != nil || len(d.MustEndWith) == 0 || submitted && roster.Submits(d) {
		return turn.End{}, err
	}
	for _, c := range s.rec.State.Latest() {
		if c.Outcome != nil && c.Outcome.Status == utp.StatusSuccess && roster.EndsWith(d, c.Tool) {
			return turn.End{}, nil
		}
	}
	return turn.End{
		Status: utp.StatusFailed, Code: utp.CodeMustEndWith,
		Message: fmt.Sprintf("a turn of the agent %s has to end with a successful call of %s", d.Name, strings.Join(d.MustEndWith, " or ")),
	}, nil
}
