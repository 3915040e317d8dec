package turn_test

import (
	"testing"
	"time"

	"github.com/earshot-dev/earshot/kernel/turn"
)

// TestMomentOfAnotherMachine: a deadline that was set on another machine is judged by the
// wall clock; one of this machine from before a reboot counts as passed, and the same boot is
// the same clock, whatever the machine calls itself.
func TestMomentOfAnotherMachine(t *testing.T) {
	t.Parallel()
	noon := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	for name, tt := range map[string]struct {
		boot, here string
		left       time.Duration // on the wall clock
		mono       time.Duration // since the deadline was set, of a minute
		passed     bool
	}{
		"another machine":                     {"b1@m1", "b2@m2", time.Second, 9 * time.Hour, false},
		"another machine, past":               {"b1@m1", "b2@m2", 0, 0, true},
		"a reboot":                            {"b1@m1", "b2@m1", time.Second, 0, true},
		"a reboot of a machine without name":  {"b1", "b2@m2", time.Second, 0, true},
		"a reboot where no machine has one":   {"b1", "b2", time.Second, 0, true},
		"the same boot":                       {"b1@m1", "b1@m1", time.Second, time.Second, false},
		"the same boot, past on its clock":    {"b1@m1", "b1@m1", time.Second, time.Minute, true},
		"the same boot under another name":    {"b1@m1", "b1@m2", time.Second, time.Second, false},
		"the same boot, past on the wall one": {"b1@m1", "b1@m1", 0, time.Second, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			set := turn.Moment{Wall: noon, Mono: time.Hour, Boot: tt.boot}
			deadline := set.Add(time.Minute)
			now := turn.Moment{Wall: deadline.Wall.Add(-tt.left), Mono: time.Hour + tt.mono, Boot: tt.here}
			if got := deadline.Passed(now); got != tt.passed {
				t.Errorf("passed: %v; want %v", got, tt.passed)
			}
			state := turn.State{Status: turn.Suspended, Calls: []turn.Call{{ID: "tc_1", State: turn.Started, Lease: deadline}}}
			due, _ := state.Due(now)
			if is := !due.After(now.Wall); is != tt.passed {
				t.Errorf("due: %v; want it as passed: %v", due.Sub(now.Wall), tt.passed)
			}
		})
	}
}
