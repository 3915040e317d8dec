package kernel

import (
	"context"
	"errors"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/kernel/store"
	"github.com/earshot-dev/earshot/internal/kernel/turn"
	"github.com/earshot-dev/earshot/utp"
)

// SuspendOpenTurns suspends the turns that are open now until each is resumed. The only host of a ledger
// calls it at its start, before it decides which turns may go on.
func (k *Kernel) SuspendOpenTurns(ctx context.Context) error {
	var rows []store.TurnRow
	err := k.o.Store.View(ctx, func(tx store.Tx) (err error) {
		rows, err = tx.Turns(store.TurnFilter{Open: true})
		return err
	})
	for _, row := range rows {
		k.active.Park(row.Turn, row.Session)
	}
	return store.ProtocolError(err)
}

// Resume makes this kernel work on a turn that an earlier process left. With Options.SingleHost, every claim and
// lease from before is void.
func (k *Kernel) Resume(ctx context.Context, id string) error {
	var st turn.State
	err := k.step(ctx, store.TurnRef{Turn: id}, func(s *step) error {
		st = s.rec.State
		if s.rec.State.Status == turn.Ended {
			return api.NewFault(utp.CodeTurnEnded, "the turn has ended; there is nothing to resume")
		}
		s.rec.Absent = false // who resumes it is there
		if k.o.SingleHost {
			if err := s.dispatch(turn.Orphan{Generation: k.generation()}); err != nil {
				return err
			}
		}
		if err := s.rejudge(); err != nil && !errors.Is(err, errUnchanged) { // the rules may have changed meanwhile
			return err
		}
		return s.showAll()
	})
	if err != nil {
		return err
	}
	k.activate(st)
	k.outbox.SweepSoon()
	k.wakeWorker(ctx, st)
	return nil
}

// activate makes this kernel work on a turn.
func (k *Kernel) activate(st turn.State) {
	k.active.Begin(st.Turn, st.Session)
	k.ticker.Wake()
}
