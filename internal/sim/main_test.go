package sim_test

import (
	"os"
	"runtime/debug"
	"testing"
)

// TestMain: a run leaves megabytes behind and no more; collecting them less often makes it a
// third faster.
func TestMain(m *testing.M) {
	if os.Getenv("GOGC") == "" {
		const percent = 400
		debug.SetGCPercent(percent)
	}
	debug.SetTraceback("all") // a panic names the seed: it is an argument of Run
	os.Exit(m.Run())
}
