package invocation

import (
	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/kernel/cards"
	"github.com/earshot-dev/earshot/internal/kernel/store"
	"github.com/earshot-dev/earshot/internal/kernel/turn"
)

// Status returns the status of a call of an outside turn, under its first id. If other calls have replaced it, it is
// the status of the latest.
func Status(tx store.Tx, rec *store.Record, c *cards.Tx, id string) (api.CallStatus, error) {
	call, live := rec.State.Current(id)
	if !live {
		var err error
		if call, err = endedCall(tx, rec.State, id); err != nil {
			return api.CallStatus{}, err
		}
	}
	a := api.CallStatus{Call: id, Tool: call.Tool, State: callState(call.State), Stopping: rec.State.Stop != nil, Permission: call.Kind == turn.PermissionCall}
	if a.State == api.CallWaiting || a.State == api.CallUnknown {
		if q := rec.Question(call.Question); q != nil {
			a.Question, a.AnswerBy = q.Number, q.Deadline()
		}
	}
	if a.State == api.CallAccepted {
		a.Question = call.Question
	}
	if a.State != api.CallEnded || call.Outcome == nil {
		return a, nil
	}
	o := call.Outcome
	a.Status, a.Code, a.Message = o.Status, o.Code, o.Message
	if o.Card == "" {
		return a, nil
	}
	card, err := c.Card(o.Card)
	if err != nil {
		return a, store.AsDamage(err)
	}
	r, err := cards.ResultOn(card, store.ResultRow{Key: call.Key, Call: id, Tool: call.Tool, Card: o.Card})
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
func endedCall(tx store.Tx, st turn.State, id string) (turn.Call, error) {
	for {
		c, err := store.OneRow(tx.Calls(store.CallFilter{Turn: st.Turn, Call: id}))
		if err != nil || c.ReplacedBy == "" {
			return c, err
		}
		if next, live := st.Current(c.ReplacedBy); live {
			return next, nil
		}
		id = c.ReplacedBy
	}
}
