package kernel

import (
	"context"

	"github.com/earshot-dev/earshot/internal/kernel/store"
)

// counterIncarnation counts questions, answers, stops, and starts of calls with an effect. A copy outside
// the ledger is written before a start is answered, and right after the other steps. So a ledger that is
// restored from before such a step is behind the copy.
const counterIncarnation = "incarnation"

// counterQuestion is the number of the last question.
const counterQuestion = "question"

// saveIncarnation updates the copy outside to the ledger's count.
func (k *Kernel) saveIncarnation(ctx context.Context) error {
	if k.o.Incarnation == nil {
		return nil
	}
	n, err := IncarnationCount(ctx, k.o.Store)
	if err != nil {
		return err
	}
	return k.o.Incarnation.Store(n)
}

// changeCounted runs a change that is not a step, and counts it.
func (k *Kernel) changeCounted(ctx context.Context, fn func(store.Tx) error) error {
	err := k.update(ctx, func(tx store.Tx) error {
		if err := fn(tx); err != nil {
			return err
		}
		_, err := tx.Count(counterIncarnation, 1)
		return err
	})
	if err != nil {
		return err
	}
	return k.saveIncarnation(ctx)
}

// IncarnationCount returns the ledger's own count. Anyone who replaces a ledger with an older one sets the
// count outside above both, so that [Kernel.Recover] detects it.
func IncarnationCount(ctx context.Context, s store.Ledger) (int64, error) {
	var n int64
	err := s.View(ctx, func(tx store.Tx) (err error) {
		n, err = tx.Count(counterIncarnation, 0)
		return err
	})
	return n, err
}
