package memory_test

import (
	"strings"
	"testing"
	"time"

	"github.com/earshot-dev/earshot/internal/kernel/store"
	"github.com/earshot-dev/earshot/internal/kernel/store/memory"
	"github.com/earshot-dev/earshot/internal/kernel/turn"
	"github.com/earshot-dev/earshot/internal/storetest"
)

func TestStore(t *testing.T) {
	t.Parallel()
	storetest.Exercise(t, storetest.Factory{
		Open:     func(_ *testing.T, now func() time.Time) store.Ledger { return memory.New(now) },
		Volatile: true,
	})
}

// TestCopy: a copy and its original go on apart, also where both append to what they have in common, and a restored ledger is
// what the copy is.
func TestCopy(t *testing.T) {
	t.Parallel()
	l := memory.New(nil)
	tell := func(l *memory.Ledger, b store.Batch, event string) {
		t.Helper()
		b.Events = []store.Event{{Session: "sess_1", ID: event}}
		if err := l.Update(t.Context(), func(tx store.Tx) error { return tx.Save(b) }); err != nil {
			t.Fatal(err)
		}
	}
	told := func(l *memory.Ledger) (ids []string) {
		t.Helper()
		if err := l.View(t.Context(), func(tx store.Tx) error {
			rows, err := tx.Events(store.EventFilter{Session: "sess_1", Limit: 9})
			for _, e := range rows {
				ids = append(ids, e.ID)
			}
			return err
		}); err != nil {
			t.Fatal(err)
		}
		return ids
	}
	tell(l, store.Batch{Turn: &store.Record{State: turn.State{Turn: "turn_1", Session: "sess_1"}}}, "1")
	tell(l, store.Batch{}, "2")
	tell(l, store.Batch{}, "3") // a list grows by more than it needs
	early := l.Copy()
	tell(l, store.Batch{}, "4")
	late := l.Copy()
	tell(early, store.Batch{}, "other")
	for want, got := range map[string][]string{"1 2 3 4": told(l), "1 2 3 other": told(early)} {
		if strings.Join(got, " ") != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	l.Restore(early)
	tell(l, store.Batch{}, "5")
	for want, got := range map[string][]string{"1 2 3 other 5": told(l), "1 2 3 other": told(early), "1 2 3 4": told(late)} {
		if strings.Join(got, " ") != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
