package kernel

import (
	"context"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/kernel/admission"
	"github.com/earshot-dev/earshot/internal/kernel/store"
	"github.com/earshot-dev/earshot/internal/kernel/turn"
	"github.com/earshot-dev/earshot/utp"
)

// spawn begins a turn within another, for the worker or the service that is at work there. Everything that the new turn
// wants to do is judged, and asked about, for itself.
func (k *Kernel) spawn(ctx context.Context, from Caller, q api.SpawnRequest) (api.EnqueueAnswer, error) {
	if err := checkSpawn(from, q); err != nil {
		return api.EnqueueAnswer{}, err
	}
	var above turn.State
	err := k.o.Store.View(ctx, func(tx store.Tx) error {
		rec, err := spawner(tx, from, q)
		above = rec.State
		return err
	})
	if err != nil {
		return api.EnqueueAnswer{}, store.ProtocolError(err)
	}
	begin := api.EnqueueRequest{
		Agent: q.Agent, Args: q.Args, Request: q.Request, Label: q.Label, Owner: above.Owner, ResultFields: q.ResultFields,
		Correlation: q.Correlation, Parent: above.Turn, Deadline: q.Deadline, Boxes: q.Boxes,
	}
	principal := "spawn " + from.Kind + " " + from.Name + " " + above.Turn // an id of another parent is another id
	return k.beginQueued(ctx, from, principal, begin, func(s *step) error {
		s.rec.State.Within.Spawner = from.Name
		if err := s.admission.MayStart(from.Name, from.Kind == ToolCaller); err != nil {
			return err
		}
		rec, err := spawner(s.tx, from, q)
		if err != nil {
			return err
		}
		if q.Call != nil {
			c, _ := rec.State.Find(q.Call.Call)
			s.rec.State.Within.Step = c.Step
		}
		return atWork(rec.State, from, q)
	})
}

func checkSpawn(from Caller, q api.SpawnRequest) error {
	switch {
	case (q.Worker == nil) == (q.Call == nil) || (q.Call != nil) != (from.Kind == ToolCaller):
		return api.NewFault(utp.CodeBadRequest, "a turn is started within another: an agent names the turn that it has claimed, and a tool service the call that it runs")
	case q.Correlation == "":
		return api.NewFault(utp.CodeBadRequest, "the request has no correlation_id; with one it can be sent again, and starts one turn")
	case q.Agent == api.OperatorAgent:
		return admission.MayNotStart(from.Name, q.Agent)
	}
	return nil
}

// spawner reads the turn that the caller names, if it is the caller's.
func spawner(tx store.Tx, from Caller, q api.SpawnRequest) (store.Record, error) {
	if q.Worker != nil {
		rec, err := tx.Turn(store.TurnRef{Turn: q.Worker.Turn})
		if err == nil && rec.State.Agent != from.Name {
			err = notYours()
		}
		return rec, err
	}
	rec, err := tx.Turn(store.TurnRef{Call: q.Call.Call})
	if err != nil {
		return rec, err
	}
	c, err := store.ReadCall(tx, q.Call.Call)
	if err == nil && c.Target != from.Name {
		err = api.NewFault(utp.CodeAuthFailed, "the call belongs to another service")
	}
	return rec, err
}

// atWork checks that the caller is at work in the turn at this moment.
func atWork(st turn.State, from Caller, q api.SpawnRequest) error {
	if q.Worker != nil {
		if st.Outside || !st.Recognizes(workerClaim(from, *q.Worker, st)) {
			return api.NewFault(utp.CodeStale, "the turn is leased under another epoch; nothing was started")
		}
		return nil
	}
	c, live := st.Find(q.Call.Call)
	if !live || c.State != turn.Started || q.Call.Owner == "" || c.Owner != q.Call.Owner || c.Fence != q.Call.Fence {
		return api.NewFault(utp.CodeStale, "the call is not running under this owner and fence; nothing was started")
	}
	return nil
}
