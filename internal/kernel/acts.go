package kernel

import (
	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/kernel/turn"
)

// started records the start of a call with an effect for the audit chain.
func (s *step) started(c turn.Call, fence int) error {
	return s.addAct(api.AuditAct{Act: api.ActStart, Call: c.ID, Fence: fence, Detail: string(c.Class), Digest: c.Digest, By: c.Target})
}

// ended records the outcome, as far as it is known here, of a call with an effect that was started.
func (s *step) ended(c turn.Call) error {
	if c.Fence == 0 && c.State == turn.Closed || !c.Class.Effectful() {
		return nil // a restored ledger may have lost the start, but the outcome is known all the same
	}
	sum, err := s.cards.Sum(c.Outcome.Card)
	if err != nil {
		return err
	}
	return s.addAct(api.AuditAct{
		Act: api.ActOutcome, Call: c.ID, Fence: c.Fence, Detail: string(c.Outcome.Status), Digest: sum, By: c.Target,
	})
}

func (s *step) addAct(a api.AuditAct) error {
	a.Session, a.At = s.rec.State.Session, s.now.Wall
	a, err := s.k.admin.Act(a)
	s.batch.Acts = append(s.batch.Acts, a)
	return err
}
