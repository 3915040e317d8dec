package sim_test

import (
	"testing"
	"time"

	"github.com/earshot-dev/earshot/internal/kernel/store"
	"github.com/earshot-dev/earshot/internal/sim"
	"github.com/earshot-dev/earshot/internal/storetest"
)

// TestLedger: the simulated ledger keeps what every ledger has to.
func TestLedger(t *testing.T) {
	t.Parallel()
	storetest.Exercise(t, func(_ *testing.T, now func() time.Time) store.Ledger { return sim.NewLedger(now) })
}
