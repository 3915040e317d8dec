// The race detector makes a run ten times as slow, and says nothing of what is found; TestSeeds plays
// the same code under it.

//go:build !race

package sim_test

import (
	"testing"

	"github.com/earshot-dev/earshot/kernel/sim"
)

// TestBugs: what the simulation is there to find, it finds.
func TestBugs(t *testing.T) {
	t.Parallel()
	for _, bug := range sim.Bugs() {
		t.Run(string(bug), func(t *testing.T) {
			t.Parallel()
			for n := uint64(1); n <= 2000; n++ {
				if r := sim.Run(t, n, sim.Options{Bug: bug}); len(r.Violations) > 0 {
					t.Logf("found at seed %d: %s", n, r.Violations[0])
					return
				}
			}
			t.Error("not found within 2000 seeds")
		})
	}
}
