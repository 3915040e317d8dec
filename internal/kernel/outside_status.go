package kernel

import (
	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/kernel/cards"
	"github.com/earshot-dev/earshot/internal/kernel/store"
	"github.com/earshot-dev/earshot/internal/kernel/turn"
)

// callStatus returns the status of a call of an outside turn, under its first id. If other calls have replaced it, it is
// the status of the latest.
func (s *step) callStatus(id string) (api.CallStatus, error) {
	c, live := s.latest(id)
	if !live {
		var err error
		if c, err = s.endedCall(id); err != nil {
			return api.CallStatus{}, err
		}
	}
	a := api.CallStatus{Call: id, Tool: c.Tool, State: callState(c.State), Stopping: s.rec.State.Stop != nil, Permission: c.Kind == turn.PermissionCall}
	if a.State == api.CallWaiting || a.State == api.CallUnknown {
		if q := s.rec.Question(c.Question); q != nil {
			a.Question, a.AnswerBy = q.Number, q.Deadline()
		}
	}
	if a.State == api.CallAccepted {
		a.Question = c.Question
	}
	if a.State != api.CallEnded || c.Outcome == nil {
		return a, nil
	}
	o := c.Outcome
	a.Status, a.Code, a.Message = o.Status, o.Code, o.Message
	if o.Card == "" {
		return a, nil
	}
	card, err := s.cards.Card(o.Card)
	if err != nil {
		return a, store.AsDamage(err)
	}
	r, err := cards.ResultOn(card, store.ResultRow{Key: c.Key, Call: id, Tool: c.Tool, Card: o.Card})
	if err != nil {
		return a, err
	}
	a.Result, a.Message = r.Result, r.Message
	return a, nil
}

func callState(s turn.CallState) string {
	switch s {
	case turn.Requested, turn.Asked:
		return api.CallWaiting
	case turn.Accepted:
		return api.CallAccepted
	case turn.Dispatched, turn.Started, turn.LeaseExpired:
		return api.CallRunning
	case turn.Unknown:
		return api.CallUnknown
	case turn.Finished, turn.Resolved, turn.Closed:
		return api.CallEnded
	}
	return api.CallEnded
}

// endedCall reads a call that is no longer live in the turn, or the one that replaced it.
func (s *step) endedCall(id string) (turn.Call, error) {
	for {
		c, err := store.OneRow(s.tx.Calls(store.CallFilter{Turn: s.rec.State.Turn, Call: id}))
		if err != nil || c.ReplacedBy == "" {
			return c, err
		}
		if next, live := s.latest(c.ReplacedBy); live {
			return next, nil
		}
		id = c.ReplacedBy
	}
}

// forbidPermission withdraws the question about a tool of the agent's own if the policy forbids the tool now, and reports
// whether it does.
func (s *step) forbidPermission(c turn.Call) (bool, error) {
	if c.Kind != turn.PermissionCall || c.State != turn.Asked {
		return false, nil
	}
	if forbidden, err := s.admission.Forbids(c); err != nil || !forbidden {
		return false, err
	}
	return true, s.dispatch(turn.Ruled{Call: c.ID, Terms: turn.Terms{Decision: turn.Deny}})
}
