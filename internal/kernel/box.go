package kernel

import (
	"context"
	"fmt"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/kernel/turn"
	"github.com/earshot-dev/earshot/utp"
)

// readBox gives a worker the cards of its turn's context or output, and keeps in the box that the turn has read it.
func (k *Kernel) readBox(ctx context.Context, from Caller, q api.ReadBoxRequest) (api.ReadBoxAnswer, error) {
	var a api.ReadBoxAnswer
	err := k.stepAgentTurn(ctx, from, q.Turn, func(s *step) (err error) {
		st := s.rec.State
		switch {
		case st.Status == turn.Ended:
			return api.NewFault(utp.CodeTurnEnded, "the turn has ended")
		case !st.Recognizes(workerClaim(from, q.WorkerRequest, st)):
			return api.NewFault(utp.CodeStale, "the turn is leased under another epoch; claim it again")
		case q.Box == "" || q.Box != st.Boxes.ContextBox && q.Box != st.Boxes.OutputBox:
			return api.NewFault(utp.CodeAuthFailed, fmt.Sprintf("the box %.128q is neither the context nor the output of the turn", q.Box))
		}
		a, err = s.boxes.Read(q)
		return err
	})
	return a, err
}
