package kernel

import (
	"cmp"
	"context"
	"errors"

	"github.com/earshot-dev/earshot/internal/kernel/store"
	"github.com/earshot-dev/earshot/internal/kernel/turn"
)

// deadRestored is why messages of a restored ledger do not leave.
const deadRestored = "the ledger went back in time; an operator has to look at what was under way"

// errRecovered says that another kernel has recovered the restored ledger.
var errRecovered = errors.New("kernel: the restored ledger has been gone through")

// Recover checks whether the ledger has gone back in time since it was last used here, and reports whether it
// has. If so, open calls with an effect become unknown, the messages in the outbox become dead letters, and
// the count is raised again. Call it before anything is served. If the process dies in it, the next call goes
// on.
func (k *Kernel) Recover(ctx context.Context) (bool, error) {
	if err := k.admin.NoteOlder(ctx); err != nil {
		return false, err
	}
	restored, err := k.incarnation.WentBack(ctx)
	if err != nil || !restored {
		return false, err
	}
	if err := k.outbox.Freeze(ctx, deadRestored); err != nil {
		return true, err
	}
	if err := k.endRestored(ctx); err != nil {
		return true, err
	}
	if err := k.restoreAll(ctx); err != nil {
		return true, store.ProtocolError(err)
	}
	return true, k.incarnation.Recovered(ctx)
}

// restoreAll applies [turn.Restored] to every open turn.
func (k *Kernel) restoreAll(ctx context.Context) error {
	var rows []store.TurnRow
	err := k.o.Store.View(ctx, func(tx store.Tx) (err error) {
		rows, err = tx.Turns(store.TurnFilter{Open: true})
		return err
	})
	if err != nil {
		return err
	}
	for _, row := range rows {
		err := k.attempt(ctx, store.TurnRef{Turn: row.Turn}, func(s *step) error {
			if recovering, err := k.incarnation.Recovering(s.tx); err != nil || !recovering {
				return cmp.Or(err, errRecovered)
			}
			if s.rec.State.Status == turn.Ended {
				return nil
			}
			return s.dispatch(turn.Restored{})
		})
		switch {
		case errors.Is(err, errRecovered):
			return nil
		case errors.Is(err, store.ErrDamaged): // it will refuse every later step; the others must not wait for it
			k.o.Logger.Error("a turn of the restored ledger cannot be read", "turn", row.Turn, "error", err)
		case err != nil:
			return err
		}
	}
	return nil
}
