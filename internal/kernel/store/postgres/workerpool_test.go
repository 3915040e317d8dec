package postgres_test

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/earshot-dev/earshot/internal/kernel/store"
	"github.com/earshot-dev/earshot/internal/kernel/store/postgres"
)

// TestWhatWaitsIsTaken: what waits while one hand has just begun with something that turns out to be
// held up, and another has just got free, is committed without waiting for either.
func TestWhatWaitsIsTaken(t *testing.T) {
	t.Parallel()
	dsn := nowhere(t)
	s, other := open(t, dsn), open(t, dsn)
	for _, name := range []string{"x", "y"} {
		if err := save(t.Context(), s, store.Batch{Turn: numbered(name)}); err != nil {
			t.Fatal(err)
		}
	}
	until := func(busy, waiting int) {
		for b, w := postgres.Writing(s); b != busy || w != waiting; b, w = postgres.Writing(s) {
			runtime.Gosched()
		}
	}
	until(0, 0)
	freeX, freeY := held(t, other, "x"), held(t, other, "y")
	var late sync.WaitGroup
	touches := func(all *sync.WaitGroup, name string) {
		all.Go(func() {
			if err := touch(s, t, name, name); err != nil {
				t.Error(err)
			}
		})
	}
	var first, last sync.WaitGroup
	touches(&first, "x")
	until(1, 0)
	touches(&late, "y")
	until(2, 0)
	last.Go(func() {
		ctx, cancel := context.WithTimeout(t.Context(), 15*time.Second) // half of what y is waited for
		defer cancel()
		if err := save(ctx, s, store.Batch{Turn: numbered("z")}); err != nil {
			t.Errorf("it was left waiting: %v", err)
		}
	})
	until(2, 1)
	freeX()
	first.Wait()
	last.Wait()
	freeY()
	late.Wait()
}

// held has somebody else hold the row of a turn until it is freed.
func held(t *testing.T, other store.Ledger, name string) (free func()) {
	t.Helper()
	holding, release, ended := make(chan struct{}), make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		_ = other.Update(t.Context(), func(tx store.Tx) error {
			r, err := tx.Turn(store.TurnRef{Turn: "turn_" + name})
			if err = errors.Join(err, tx.Save(store.Batch{Turn: &r})); err == nil {
				_, err = tx.Turn(store.TurnRef{Turn: "turn_" + name}) // sent before it is read again
			}
			if err != nil {
				t.Error(err)
			}
			close(holding)
			<-release
			return errors.New("on purpose")
		})
	}()
	<-holding
	return func() {
		close(release)
		<-ended
	}
}
