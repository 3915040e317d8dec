package kernel

import (
	"cmp"
	"context"
	"fmt"

	"github.com/go-json-experiment/json"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/kernel/store"
	"github.com/earshot-dev/earshot/internal/kernel/turn"
	"github.com/earshot-dev/earshot/utp"
)

// retry retries a dead letter. A command rests on a consent that is used up or too old, so it is never sent
// again: its call is asked for again, in a turn of its own.
func (k *Kernel) retry(ctx context.Context, from Caller, q api.RetryRequest) (api.RetryAnswer, error) {
	var a api.RetryAnswer
	var args api.OperatorArgs
	err := k.update(ctx, func(tx store.Tx) error {
		a, args = api.RetryAnswer{}, api.OperatorArgs{}
		row, err := store.OneRow(tx.Outbox(store.OutboxFilter{Dead: true, After: q.ID - 1, Limit: 1}))
		if err != nil || row.ID != q.ID {
			return cmp.Or(err, store.ErrNotFound)
		}
		if row.Call == "" {
			again := store.Outgoing{Session: row.Session, Subject: row.Subject, Header: row.Header, Payload: row.Payload}
			a.Sent = true
			return tx.Save(store.Batch{Published: []int64{row.ID}, Outbox: []store.Outgoing{again}})
		}
		args, err = k.again(tx, row.Call)
		return err
	})
	if err != nil || a.Sent {
		return a, err
	}
	raw, err := json.Marshal(args)
	if err != nil {
		return a, store.Unexpected("the arguments of a retry", err)
	}
	a.EnqueueAnswer, err = k.enqueue(ctx, from, api.EnqueueRequest{
		Agent: api.OperatorAgent, Args: raw, Owner: q.Owner, Request: "Try " + args.Tool + " again",
		Key: fmt.Sprintf("retry-%d", q.ID), // two operators at once, or a form that is sent twice, ask for one call
	})
	if err != nil {
		return a, err
	}
	// It is closed last: if this is lost, the dead letter stays in the list, and the new call still has to be asked for.
	return a, k.update(ctx, func(tx store.Tx) error { return tx.Save(store.Batch{Published: []int64{q.ID}}) })
}

// again returns the arguments of a call, for a new call.
func (k *Kernel) again(tx store.Tx, id string) (api.OperatorArgs, error) {
	rec, err := tx.Turn(store.TurnRef{Call: id})
	if err != nil {
		return api.OperatorArgs{}, err
	}
	if live, found := rec.State.Find(id); found && live.State.Open() && rec.State.Status != turn.Ended {
		return api.OperatorArgs{}, api.NewFault(utp.CodeConflict, "the call is still under way, in "+rec.State.Session+"; it is rung again by itself, or can be stopped")
	}
	if rec.Erased {
		return api.OperatorArgs{}, api.NewFault(utp.CodeConflict, "the content of the call's turn has been erased; ask for the call itself")
	}
	c, err := store.ReadCall(tx, id)
	if err != nil {
		return api.OperatorArgs{}, err
	}
	s := k.newStep(tx, turn.Timestamp{}, rec)
	given, err := s.cards.SuppliedArgs(c)
	if len(given) > api.InlineLimit/2 {
		return api.OperatorArgs{}, api.NewFault(utp.CodeTooLarge, "the arguments are too large to be asked for in this way")
	}
	return api.OperatorArgs{Tool: c.Tool, Args: given}, err
}
