package storetest

import (
	"context"
	"errors"

	"github.com/earshot-dev/earshot/internal/kernel/store"
)

func contextCases() []exercise {
	return []exercise{
		{"that have ended let nothing run", endedContexts},
		{"that end meanwhile leave a true answer", endingContexts},
	}
}

func endedContexts(l *ledger) {
	ctx, cancel := context.WithCancel(l.t.Context())
	cancel()
	ran := false
	fn := func(store.Tx) error { ran = true; return nil }
	if err := l.store.Update(ctx, fn); !errors.Is(err, context.Canceled) || ran {
		l.t.Errorf("Update: %v, ran %t", err, ran)
	}
	if err := l.store.View(ctx, fn); !errors.Is(err, context.Canceled) || ran {
		l.t.Errorf("View: %v, ran %t", err, ran)
	}
}

// endingContexts ends contexts before, in and after updates: whatever the answer is, it
// is what the ledger then holds.
func endingContexts(l *ledger) {
	race(func(i int) {
		for j := range rounds {
			n := i*rounds + j + 1
			ctx, cancel := context.WithCancel(l.t.Context())
			if n%3 == 0 {
				go cancel()
			}
			r := plain(n)
			err := l.store.Update(ctx, func(tx store.Tx) error {
				if n%3 == 1 {
					cancel()
				}
				return tx.Save(store.Batch{Turn: &r})
			})
			cancel()
			if err != nil && !errors.Is(err, context.Canceled) {
				l.t.Errorf("update %d: %v", n, err)
			}
			there := l.store.View(l.t.Context(), func(tx store.Tx) error {
				_, err := tx.Turn(store.TurnRef{Turn: r.State.Turn})
				return err
			})
			if (there == nil) != (err == nil) {
				l.t.Errorf("update %d was answered %v, and reading it %v", n, err, there)
			}
		}
	})
}
