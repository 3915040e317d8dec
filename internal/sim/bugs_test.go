// The race detector makes a run ten times as slow, and says nothing of what is found; TestSeeds plays
// the same code under it.

//go:build !race

package sim_test

import (
	"slices"
	"testing"

	"github.com/earshot-dev/earshot/internal/sim"
)

// ofDelegation are the bugs of turns that others do for a call, or that a turn begins beside its calls.
var ofDelegation = []sim.Bug{sim.OrphanChild, sim.DoubledChild, sim.LostBatchResult, sim.InheritedConsent, sim.DepthOverrun, sim.DoubledSpawn, sim.LostSpawn}

// few seeds are always looked through for a bug.
const few = 10

// foundAt are seeds that have found the bugs which a few do not find. They are played first. A change of the simulation changes
// what a seed plays; then the test looks through all of them, takes two minutes longer, and says which one to write here.
var foundAt = map[sim.Bug]uint64{
	sim.StaleConsent:     30,
	sim.RestoredFires:    65,
	sim.LostOutboxRow:    97,
	sim.StopLost:         14,
	sim.OutlivedYes:      27,
	sim.UnspentUse:       15,
	sim.OrphanChild:      12,
	sim.InheritedConsent: 12,
	sim.DepthOverrun:     18,
	sim.LostSpawn:        39,
}

// TestBugs: what the simulation is there to find, it finds. In short mode only the bugs are tried that foundAt or a few seeds find.
func TestBugs(t *testing.T) {
	t.Parallel()
	for _, bug := range sim.Bugs() {
		t.Run(string(bug), func(t *testing.T) {
			t.Parallel()
			within := uint64(2000)
			if slices.Contains(ofDelegation, bug) {
				within = 500
			}
			if found(t, bug, foundAt[bug]) {
				return
			}
			if testing.Short() {
				within = few
			}
			for n := uint64(1); n <= within; n++ {
				if found(t, bug, n) {
					if n > few {
						t.Logf("to find it at once, write seed %d into foundAt", n)
					}
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

// found plays a seed, if there is one, and reports whether it finds the bug.
func found(t *testing.T, bug sim.Bug, seed uint64) bool {
	t.Helper()
	if seed == 0 {
		return false
	}
	r := sim.Run(t, seed, sim.Options{Bug: bug})
	if len(r.Violations) > 0 {
		t.Logf("found at seed %d: %s", seed, r.Violations[0])
	}
	return len(r.Violations) > 0
}
