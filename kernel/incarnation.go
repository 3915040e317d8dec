package kernel

import "context"

// counterIncarnation counts the starts of calls with an effect. A copy of it outside
// the ledger is written before the start is answered, so a ledger restored from
// before such a start is behind that copy.
const counterIncarnation = "incarnation"

// advance brings the copy outside up to the ledger's count.
func (k *Kernel) advance(ctx context.Context) error {
	if k.o.Incarnation == nil {
		return nil
	}
	var n int64
	err := k.o.Store.View(ctx, func(tx Tx) (err error) {
		n, err = tx.Count(counterIncarnation, 0)
		return err
	})
	if err != nil {
		return err
	}
	return k.o.Incarnation.Store(n)
}
