package memory_test

import (
	"testing"
	"time"

	"github.com/earshot-dev/earshot/internal/kernel/store"
	"github.com/earshot-dev/earshot/internal/kernel/store/memory"
	"github.com/earshot-dev/earshot/internal/storetest"
)

func TestStore(t *testing.T) {
	t.Parallel()
	storetest.Exercise(t, storetest.Factory{
		Open:     func(_ *testing.T, now func() time.Time) store.Ledger { return memory.New(now) },
		Volatile: true,
	})
}
