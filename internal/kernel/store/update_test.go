package store_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/earshot-dev/earshot/internal/kernel/store"
)

// contested is a ledger on which so many races are lost.
type contested struct {
	store.Ledger

	losses, tried int
}

func (c *contested) Update(context.Context, func(store.Tx) error) error {
	if c.tried++; c.tried <= c.losses {
		return store.ErrConflict
	}
	return nil
}

// TestLostRaces: a transaction is run again for as long as others win, and no longer than its caller waits, or than makes sense.
func TestLostRaces(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		losses, tried int
		within        time.Duration // that the caller waits; 0 is for ever
		took          time.Duration
		lost          bool
	}{
		"none":              {0, 1, 0, 0, false},
		"few, at once":      {4, 5, 0, 0, false},
		"more than others":  {60, 61, 0, 63*time.Millisecond + 50*64*time.Millisecond, false},
		"all":               {1 << 20, 245, 0, 63*time.Millisecond + 234*64*time.Millisecond, true},
		"the caller leaves": {1 << 20, 10, 40 * time.Millisecond, 40 * time.Millisecond, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				ctx := t.Context()
				if tt.within > 0 {
					var cancel func()
					ctx, cancel = context.WithTimeout(ctx, tt.within)
					defer cancel()
				}
				c := &contested{losses: tt.losses}
				began := time.Now()
				err := store.Update(ctx, c, nil)
				if took := time.Since(began); took != tt.took || c.tried != tt.tried || errors.Is(err, store.ErrConflict) != tt.lost {
					t.Errorf("%v after %d tries in %v; want %d in %v", err, c.tried, took, tt.tried, tt.took)
				}
			})
		})
	}
}
