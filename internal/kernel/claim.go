package kernel

import (
	"context"
	"errors"
	"time"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/kernel/store"
	"github.com/earshot-dev/earshot/internal/kernel/turn"
	"github.com/earshot-dev/earshot/utp"
)

// claim gives a worker the turn that it has claimed already, or else the turn of its agent that has
// been free for the longest.
func (k *Kernel) claim(ctx context.Context, from Caller, q api.ClaimRequest) (api.ClaimAnswer, error) {
	if q.Agent != from.Name {
		return api.ClaimAnswer{}, api.NewFault(utp.CodeAuthFailed, "this credential belongs to the agent "+from.Name)
	}
	if q.Worker == "" || len(q.Worker) > store.MaxName {
		return api.ClaimAnswer{}, api.NewFault(utp.CodeBadRequest, "a claim names its worker: a nonce of the worker's process, of at most 128 bytes")
	}
	held, free, err := k.claimable(ctx, q)
	if err != nil {
		return api.ClaimAnswer{}, err
	}
	var failure error
	for _, row := range held {
		answer, err := k.claimTurn(ctx, q.Worker, func(store.Tx) (store.TurnRow, error) { return row, nil })
		if err == nil && answer.Turn != "" {
			return answer, nil
		}
		failure = k.unclaimed(row.Turn, err, failure)
	}
	if !free {
		return api.ClaimAnswer{}, failure
	}
	answer, err := k.claimFree(ctx, q)
	if err == nil && answer.Turn != "" {
		return answer, nil // an error about another turn does not concern a worker that has got one
	}
	return answer, errors.Join(err, failure)
}

// unclaimed remembers why one turn could not be claimed: the others must not wait for it.
func (k *Kernel) unclaimed(id string, err, before error) error {
	if err == nil || isCode(err, utp.CodeBusy) || isCode(err, utp.CodeTurnEnded) {
		return before
	}
	k.o.Logger.Warn("claim", "turn", id, "error", err)
	return err
}

// claimable reads whether there is a turn to claim: a worker that finds none writes nothing.
func (k *Kernel) claimable(ctx context.Context, q api.ClaimRequest) (held []store.TurnRow, free bool, err error) {
	until := k.clock.At(k.clock.Now())
	err = k.o.Store.View(ctx, func(tx store.Tx) error {
		rows, err := tx.Turns(store.TurnFilter{Agent: q.Agent, Worker: q.Worker, Open: true})
		if err != nil {
			return err
		}
		held = nil
		for _, row := range rows {
			if k.active.Has(row.Turn) {
				held = append(held, row)
			}
		}
		statuses, err := k.claimableStatuses(tx, q.Agent)
		if err != nil {
			return err
		}
		first, err := k.firstFree(tx, store.TurnFilter{Agent: q.Agent, Free: until, Statuses: statuses})
		free = first.Turn != ""
		return err
	})
	return held, free, err
}

// firstFree finds the first turn after f.After that may be claimed here; the zero row means none.
func (k *Kernel) firstFree(tx store.Tx, f store.TurnFilter) (store.TurnRow, error) {
	f.Limit = 1
	if own, only := k.active.Owned(); only {
		return firstOf(own, tx, f)
	}
	for {
		rows, err := tx.Turns(f)
		if err != nil || len(rows) == 0 || k.active.Has(rows[0].Turn) {
			return first(rows), err
		}
		f.After, f.Position = rows[0].Turn, rows[0].Position
	}
}

// firstOf is firstFree among the few turns that were begun or resumed here.
func firstOf(own []string, tx store.Tx, f store.TurnFilter) (store.TurnRow, error) {
	behind := f.After
	f.After, f.Position = "", time.Time{}
	for _, id := range own {
		if id <= behind {
			continue
		}
		f.Turn = id
		if rows, err := tx.Turns(f); err != nil || len(rows) > 0 {
			return first(rows), err
		}
	}
	return store.TurnRow{}, nil
}

func first(rows []store.TurnRow) store.TurnRow {
	if len(rows) == 0 {
		return store.TurnRow{}
	}
	return rows[0]
}

// claimFree finds the first free turn in the transaction that gives it to the worker, so that
// concurrent claims get other turns. A turn that cannot be claimed is skipped.
func (k *Kernel) claimFree(ctx context.Context, q api.ClaimRequest) (api.ClaimAnswer, error) {
	f := store.TurnFilter{Agent: q.Agent, Claim: true}
	var failure error
	for {
		var row store.TurnRow
		answer, err := k.claimTurn(ctx, q.Worker, func(tx store.Tx) (_ store.TurnRow, err error) {
			f.Free = k.clock.At(k.clock.Now())
			if f.Statuses, err = k.takePlace(tx, q.Agent); err != nil {
				return row, err
			}
			row, err = k.firstFree(tx, f)
			return row, err
		})
		if row.Turn == "" {
			return api.ClaimAnswer{}, k.unclaimed("", err, failure)
		}
		if err == nil && answer.Turn != "" {
			return answer, nil
		}
		failure = k.unclaimed(row.Turn, err, failure)
		f.After, f.Position = row.Turn, row.Position
	}
}

// claimTurn gives the worker the turn that pick finds.
func (k *Kernel) claimTurn(ctx context.Context, worker string, pick func(store.Tx) (store.TurnRow, error)) (api.ClaimAnswer, error) {
	var a api.ClaimAnswer
	err := k.attemptAny(ctx, func(tx store.Tx) (store.TurnRef, error) {
		row, err := pick(tx)
		if err == nil && row.Turn == "" {
			err = api.NewFault(utp.CodeBusy, "nothing is free any more")
		}
		return store.TurnRef{Turn: row.Turn}, err
	}, func(s *step) error {
		a = api.ClaimAnswer{}
		nonce, err := k.ids.Nonce()
		if err != nil {
			return err
		}
		if err := s.dispatch(turn.Claim{Worker: worker, Nonce: nonce, Lease: k.o.WorkerLease}); err != nil {
			return err
		}
		st := s.rec.State
		if st.Status == turn.Ended { // it was claimed too often
			return nil
		}
		a = api.ClaimAnswer{
			Turn: st.Turn, Session: st.Session, Epoch: st.Epoch, Nonce: st.Nonce, Step: st.Step, Args: s.rec.Args,
			Suspended: st.Status == turn.Suspended, LeaseMS: milliseconds(k.o.WorkerLease), ResultFields: st.ResultFields, ReportedText: st.ReportedText,
			Depth: st.Depth, Boxes: st.Boxes,
		}
		control := st.Context("")
		a.Traceparent, a.ParentTraceparent = control.Traceparent, control.ParentTraceparent
		a.ParentAgent, a.ParentTurn, a.ParentStep = control.ParentAgentID, control.ParentTurnID, control.ParentStepID
		if !st.Deadline.IsZero() {
			a.DeadlineMS = max(1, int64(milliseconds(st.Deadline.Left(s.now))))
		}
		return nil
	})
	return a, store.ProtocolError(err)
}
