package turn_test

import (
	"testing"
	"time"

	"github.com/earshot-dev/earshot/internal/kernel/turn"
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

// TestLeft: what is left of a time is told by the stricter clock, and nothing of what has passed.
func TestLeft(t *testing.T) {
	t.Parallel()
	wall := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	by := turn.Moment{Wall: wall.Add(time.Minute), Mono: time.Hour + time.Minute, Boot: "a@m"}
	for name, tt := range map[string]struct {
		now  turn.Moment
		want time.Duration
	}{
		"both agree":                {turn.Moment{Wall: wall, Mono: time.Hour, Boot: "a@m"}, time.Minute},
		"set forward":               {turn.Moment{Wall: wall.Add(50 * time.Second), Mono: time.Hour, Boot: "a@m"}, 10 * time.Second},
		"set back":                  {turn.Moment{Wall: wall.Add(-time.Hour), Mono: time.Hour + 20*time.Second, Boot: "a@m"}, 40 * time.Second},
		"over by the one":           {turn.Moment{Wall: wall.Add(time.Minute), Mono: time.Hour, Boot: "a@m"}, 0},
		"over by the other":         {turn.Moment{Wall: wall, Mono: 2 * time.Hour, Boot: "a@m"}, 0},
		"rebooted":                  {turn.Moment{Wall: wall, Mono: time.Second, Boot: "b@m"}, 0},
		"another machine":           {turn.Moment{Wall: wall.Add(20 * time.Second), Mono: time.Second, Boot: "c@other"}, 40 * time.Second},
		"another machine, and over": {turn.Moment{Wall: wall.Add(time.Hour), Mono: time.Second, Boot: "c@other"}, 0},
	} {
		if got := by.Left(tt.now); got != tt.want {
			t.Errorf("%s: %v is left; want %v", name, got, tt.want)
		}
	}
}
