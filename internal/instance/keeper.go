package instance

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/earshot-dev/earshot/internal/kernel/store"
)

// Keeper stores data of calls outside the ledger, such as a journal of effects. It is erased together with the content
// of its call.
type Keeper interface {
	// Forget removes the data of calls.
	Forget(calls []string) error
	// Older returns the calls whose data was last written before that time.
	Older(before time.Time) ([]string, error)
}

// keepersEvery is the interval at which data without content in the ledger is searched for.
const keepersEvery = time.Hour

// forget removes the data of calls whose content is erased.
func (i *Instance) forget(calls []string) {
	for _, k := range i.options.Keepers {
		if err := k.Forget(calls); err != nil {
			i.options.Logger.Error("the journal of an erased call stays", "error", err)
		}
	}
}

// sweepKeepers searches, at the start and then every hour, for data that is older than content is kept and whose call
// has no content in the ledger. Either the process that erased the content did not get to removing the data, or the
// ledger never had the call.
func (i *Instance) sweepKeepers(ctx context.Context, content time.Duration) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
		}
		for _, k := range i.options.Keepers {
			if err := i.sweep(ctx, k, i.Now().Add(-content)); err != nil && ctx.Err() == nil {
				i.options.Logger.Error("journals that are too old could not be looked for; it is tried again", "error", err)
			}
		}
		timer.Reset(keepersEvery)
	}
}

func (i *Instance) sweep(ctx context.Context, k Keeper, before time.Time) error {
	old, err := k.Older(before)
	if err != nil {
		return fmt.Errorf("what was kept before: %w", err)
	}
	var missing []string
	for _, call := range old {
		kept, err := i.hasContent(ctx, call)
		if err != nil {
			return err
		}
		if !kept {
			missing = append(missing, call)
		}
	}
	return k.Forget(missing)
}

// hasContent reports whether the ledger has the content of a call. Content that cannot be read counts.
func (i *Instance) hasContent(ctx context.Context, call string) (bool, error) {
	kept := false
	err := i.Store.View(ctx, func(tx store.Tx) error {
		rec, err := tx.Turn(store.TurnRef{Call: call})
		switch {
		case errors.Is(err, store.ErrNotFound):
			return nil
		case errors.Is(err, store.ErrDamaged):
			kept = true
			return nil
		}
		kept = !rec.Erased
		return err
	})
	if err != nil {
		return true, fmt.Errorf("the call of a journal: %w", err)
	}
	return kept, nil
}
