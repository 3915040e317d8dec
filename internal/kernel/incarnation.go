package kernel

import (
	"context"

	"github.com/earshot-dev/earshot/internal/kernel/store"
)

// counterIncarnation counts questions, answers, stops, and the starts of calls with an
// effect. A copy of it outside the ledger is written before a start is answered, and right
// after the others, so a ledger restored from before such a step is behind that copy.
const counterIncarnation = "incarnation"

// counterQuestion is the number of the last question.
const counterQuestion = "question"

// saveIncarnation brings the copy outside up to the ledger's count.
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

// IncarnationCount is the ledger's own count. Anyone who puts an older ledger in the place of another sets
// the one outside above both, so that [Kernel.Recover] finds it.
func IncarnationCount(ctx context.Context, s store.Ledger) (int64, error) {
	var n int64
	err := s.View(ctx, func(tx store.Tx) (err error) {
		n, err = tx.Count(counterIncarnation, 0)
		return err
	})
	return n, err
}
