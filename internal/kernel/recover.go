package kernel

import (
	"cmp"
	"context"
	"errors"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/kernel/store"
	"github.com/earshot-dev/earshot/internal/kernel/turn"
)

// deadRestored is why messages of a restored ledger do not leave.
const deadRestored = "the ledger went back in time; an operator has to look at what was under way"

// counterRecovering is above 0 while a restored ledger is being recovered: if the process dies meanwhile, the
// next one must go on.
const counterRecovering = "recovering"

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
	if k.o.Incarnation == nil {
		return false, nil
	}
	outside, err := k.o.Incarnation.Load()
	if err != nil {
		return false, store.Unexpected("reading the incarnation", err)
	}
	inside, restored, err := k.ledgerWentBack(ctx, outside)
	if err != nil {
		return false, store.ProtocolError(err)
	}
	if !restored {
		return false, k.o.Incarnation.Store(inside)
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
	err = k.update(ctx, func(tx store.Tx) error {
		n, err := tx.Count(counterRecovering, 0)
		if err == nil && n > 0 {
			_, err = tx.Count(counterRecovering, -n)
		}
		return err
	})
	if err != nil {
		return true, store.ProtocolError(err)
	}
	return true, k.saveIncarnation(ctx)
}

// ledgerWentBack compares the two counts. If the ledger has gone back, it moves both counters past what was
// lost before anything else is written: what Recover writes counts as well, and would hide the loss.
func (k *Kernel) ledgerWentBack(ctx context.Context, outside int64) (inside int64, restored bool, err error) {
	look := func(tx store.Tx) (lost int64, err error) {
		if inside, err = tx.Count(counterIncarnation, 0); err != nil {
			return 0, err
		}
		recovering, err := tx.Count(counterRecovering, 0)
		lost = max(outside-inside, 0)
		if k.o.Takeover && !k.takeoverCounted.Load() { // what another server did with it is not known here
			lost = max(lost, 1)
		}
		restored = lost+recovering > 0
		return lost, err
	}
	var lost int64
	err = k.o.Store.View(ctx, func(tx store.Tx) (err error) {
		lost, err = look(tx)
		return err
	})
	if err != nil || lost == 0 {
		return inside, restored, err
	}
	err = k.update(ctx, func(tx store.Tx) error {
		lost, err := look(tx) // another kernel may have been faster
		if err != nil || lost == 0 {
			return err
		}
		// At most so many questions were asked in the part that is lost.
		if _, err := tx.Count(counterQuestion, lost); err != nil {
			return err
		}
		if _, err := tx.Count(counterPermission, lost); err != nil { // each was counted when it was made
			return err
		}
		if _, err := tx.Count(counterIncarnation, lost+1); err != nil {
			return err
		}
		if _, err = tx.Count(counterRecovering, 1); err != nil {
			return err
		}
		detail := "the ledger went back in time"
		if k.o.Takeover {
			detail = "taken over from another data directory"
		}
		a, err := k.admin.Operated(api.AuditAct{Act: api.ActRestore, Subject: "ledger", Detail: detail})
		if err != nil {
			return err
		}
		return tx.Save(store.Batch{Acts: a})
	})
	if err == nil {
		k.takeoverCounted.Store(true)
	}
	return inside, restored, err
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
			if n, err := s.tx.Count(counterRecovering, 0); err != nil || n == 0 {
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
