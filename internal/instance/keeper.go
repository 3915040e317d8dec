package instance

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/earshot-dev/earshot/internal/kernel/store"
)

// Keeper keeps something of calls beside the ledger, such as a journal of what was done. It goes when the content of its call
// goes.
type Keeper interface {
	// Forget removes what is kept of calls.
	Forget(calls []string) error
	// Older are the calls of which something was kept last before that time.
	Older(before time.Time) ([]string, error)
}

// keepersEvery is how often things are looked for that no content in the ledger belongs to.
const keepersEvery = time.Hour

// forget removes what is kept of calls whose content is erased.
func (i *Instance) forget(calls []string) {
	for _, k := range i.options.Keepers {
		if err := k.Forget(calls); err != nil {
			i.options.Logger.Error("the journal of an erased call stays", "error", err)
		}
	}
}

// sweepKeepers looks at the start and then every hour for what is older than
// content is kept, and of whose calls the ledger keeps no content: the process that erased it had
// no time to remove it, or the ledger never had the call.
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

// hasContent reports whether the ledger has the content of a call. What cannot be read
// may be it.
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
