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
			set := turn.Timestamp{Wall: noon, SinceBoot: time.Hour, Boot: tt.boot}
			deadline := set.Add(time.Minute)
			now := turn.Timestamp{Wall: deadline.Wall.Add(-tt.left), SinceBoot: time.Hour + tt.mono, Boot: tt.here}
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
	by := turn.Timestamp{Wall: wall.Add(time.Minute), SinceBoot: time.Hour + time.Minute, Boot: "a@m"}
	for name, tt := range map[string]struct {
		now  turn.Timestamp
		want time.Duration
	}{
		"both agree":                {turn.Timestamp{Wall: wall, SinceBoot: time.Hour, Boot: "a@m"}, time.Minute},
		"set forward":               {turn.Timestamp{Wall: wall.Add(50 * time.Second), SinceBoot: time.Hour, Boot: "a@m"}, 10 * time.Second},
		"set back":                  {turn.Timestamp{Wall: wall.Add(-time.Hour), SinceBoot: time.Hour + 20*time.Second, Boot: "a@m"}, 40 * time.Second},
		"over by the one":           {turn.Timestamp{Wall: wall.Add(time.Minute), SinceBoot: time.Hour, Boot: "a@m"}, 0},
		"over by the other":         {turn.Timestamp{Wall: wall, SinceBoot: 2 * time.Hour, Boot: "a@m"}, 0},
		"rebooted":                  {turn.Timestamp{Wall: wall, SinceBoot: time.Second, Boot: "b@m"}, 0},
		"another machine":           {turn.Timestamp{Wall: wall.Add(20 * time.Second), SinceBoot: time.Second, Boot: "c@other"}, 40 * time.Second},
		"another machine, and over": {turn.Timestamp{Wall: wall.Add(time.Hour), SinceBoot: time.Second, Boot: "c@other"}, 0},
	} {
		if got := by.Remaining(tt.now); got != tt.want {
			t.Errorf("%s: %v is left; want %v", name, got, tt.want)
		}
	}
}

// TestEarlier: the clock by which a deadline is reached also says which of two comes first, and how long it takes.
func TestEarlier(t *testing.T) {
	t.Parallel()
	set := turn.Timestamp{Wall: time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC), SinceBoot: time.Hour, Boot: "a@m"}
	late := set.Add(10 * time.Minute)
	now := turn.Timestamp{Wall: set.Wall.Add(-time.Hour), SinceBoot: set.SinceBoot + time.Minute, Boot: "a@m"} // the wall was set back
	soon := now.Add(5 * time.Minute)
	soon.Wall = late.Wall.Add(time.Hour)
	if got := late.Earlier(soon, now); got != soon {
		t.Errorf("%+v comes first; want %+v", got, soon)
	}
	if got := (turn.Timestamp{}).Earlier(soon, now); got != soon {
		t.Errorf("%+v comes first; want the one that is set", got)
	}
	if got := late.Left(now); got != 9*time.Minute {
		t.Errorf("%v is left; want 9 minutes", got)
	}
	if got := set.Left(now); got != 0 {
		t.Errorf("%v is left of what is over", got)
	}
}
