package kernel

import (
	"context"

	"github.com/earshot-dev/earshot/kernel/turn"
)

// deadRestored is why messages of a restored ledger do not leave.
const deadRestored = "the ledger went back in time; an operator has to look at what was under way"

// Recover looks whether the ledger has gone back in time since it was last used here.
// If so, open calls with an effect become unknown, the outbox is put aside, and the
// count is brought up again. It reports whether that was so. Call it before anything
// is served.
func (k *Kernel) Recover(ctx context.Context) (bool, error) {
	if k.o.Incarnation == nil {
		return false, nil
	}
	outside, err := k.o.Incarnation.Load()
	if err != nil {
		return false, unexpected("reading the incarnation", err)
	}
	var inside int64
	var rows []TurnRow
	err = k.o.Store.View(ctx, func(tx Tx) error {
		if inside, err = tx.Count(counterIncarnation, 0); err != nil {
			return err
		}
		rows, err = tx.Turns(TurnFilter{Open: true})
		return err
	})
	if err != nil {
		return false, protocolError(err)
	}
	if inside >= outside {
		return false, k.o.Incarnation.Store(inside)
	}
	if err := k.freeze(ctx); err != nil {
		return true, err
	}
	for _, row := range rows {
		err := k.step(ctx, TurnRef{Turn: row.Turn}, func(s *step) error { return s.feed(turn.Restored{}) })
		if err != nil {
			return true, err
		}
	}
	err = k.update(ctx, func(tx Tx) error {
		_, err := tx.Count(counterIncarnation, outside+1-inside)
		return err
	})
	if err != nil {
		return true, protocolError(err)
	}
	return true, k.o.Incarnation.Store(outside + 1)
}

// freeze puts the outbox aside: what it holds may have left already, in the part of
// time that was lost.
func (k *Kernel) freeze(ctx context.Context) error {
	for {
		left := 0
		err := k.update(ctx, func(tx Tx) error {
			rows, err := tx.Outbox(relayPage)
			if err != nil {
				return err
			}
			var b Batch
			for _, row := range rows {
				b.Dead = append(b.Dead, DeadLetter{ID: row.ID, Reason: deadRestored})
			}
			left = len(rows)
			return tx.Save(b)
		})
		if err != nil || left == 0 {
			return protocolError(err)
		}
	}
}
