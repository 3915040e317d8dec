package postgres_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/earshot-dev/earshot/internal/kernel/store"
	"github.com/earshot-dev/earshot/internal/kernel/store/postgres"
	"github.com/earshot-dev/earshot/internal/storetest"
)

// TestTwoStoresChain: the answers that two kernels save at once in one database, and what one of
// them forgets meanwhile, are numbered once and linked in their order.
func TestTwoStoresChain(t *testing.T) {
	t.Parallel()
	dsn := nowhere(t)
	stores := []*postgres.Store{open(t, dsn), open(t, dsn)}
	const old, each = 6, 20
	for n := range old {
		b := storetest.Content(n+1, "")
		b.Outbox = nil
		must(t, save(t.Context(), stores[0], b))
	}
	_, err := purge(t.Context(), stores[0], store.Purge{Project: storetest.Content(1, "").Turn.State.Project, Limit: 100})
	must(t, err)
	var all sync.WaitGroup
	for hand := range 8 {
		all.Go(func() {
			for i := range each {
				n := 1 + old + hand*each + i
				b := storetest.Answered(n)
				if n%2 == 0 { // one that asks for something in between has a connection of its own
					b = counting(t, stores[hand%2], b)
				}
				if err := save(t.Context(), stores[hand%2], b); err != nil {
					t.Errorf("an answer of many: %v", err)
				}
			}
		})
	}
	forgotten := 0
	for forgotten < old {
		done, err := purge(t.Context(), stores[1], store.Purge{Receipts: time.Now().Add(time.Hour), Limit: 1})
		if err != nil || done.Dropped == 0 {
			t.Errorf("forgetting: %d, %v", done.Dropped, err)
			break
		}
		forgotten += done.Dropped
	}
	all.Wait()
	if r := storetest.Audit(t, stores[0]); r.Answers != old+8*each || r.Forgotten != old || r.Receipts != 8*each {
		t.Errorf("the chain: %+v", r)
	}
}

// counting saves a batch in an update that counts, and returns one that does nothing more.
func counting(t *testing.T, s *postgres.Store, b store.Batch) store.Batch {
	err := s.Update(t.Context(), func(tx store.Tx) error {
		if _, err := tx.Count("answers", 1); err != nil {
			return err
		}
		return tx.Save(b)
	})
	if err != nil {
		t.Errorf("an answer of many: %v", err)
	}
	return store.Batch{}
}

func purge(ctx context.Context, s store.Ledger, p store.Purge) (done store.Purged, err error) {
	err = s.Update(ctx, func(tx store.Tx) (err error) {
		done, err = tx.Purge(p)
		return err
	})
	return done, err
}
