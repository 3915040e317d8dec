// The race detector makes a run ten times as slow, and says nothing of what is found; TestSeeds plays
// the same code under it.

//go:build !race

package sim_test

import (
	"slices"
	"testing"

	"github.com/earshot-dev/earshot/internal/sim"
)

// ofDelegation are the bugs of turns that others do for a call.
var ofDelegation = []sim.Bug{sim.OrphanChild, sim.DoubledChild, sim.LostBatchResult, sim.InheritedConsent, sim.DepthOverrun}

// TestBugs: what the simulation is there to find, it finds. In short mode only the bugs are tried that a few seeds find.
func TestBugs(t *testing.T) {
	t.Parallel()
	for _, bug := range sim.Bugs() {
		t.Run(string(bug), func(t *testing.T) {
			t.Parallel()
			within := uint64(2000)
			if slices.Contains(ofDelegation, bug) {
				within = 500
			}
			if testing.Short() {
				within = 10
			}
			for n := uint64(1); n <= within; n++ {
				if r := sim.Run(t, n, sim.Options{Bug: bug}); len(r.Violations) > 0 {
					t.Logf("found at seed %d: %s", n, r.Violations[0])
					return
				}
			}
			if testing.Short() {
				t.Skipf("left out in short mode: it takes more than %d seeds", within)
			}
			t.Errorf("not found within %d seeds", within)
		})
	}
}
