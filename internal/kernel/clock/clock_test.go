package clock_test

import (
	"testing"
	"time"

	"github.com/earshot-dev/earshot/internal/kernel/clock"
)

// TestSystem: two clocks of one machine agree, the time since the boot grows, and the time of
// day is the one that was given.
func TestSystem(t *testing.T) {
	t.Parallel()
	day := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	one, other := clock.System(func() time.Time { return day }), clock.System(time.Now)
	if got := one.Now(); !got.Equal(day) {
		t.Errorf("the time of day is %s", got)
	}
	if one.Boot == "" || one.Boot != other.Boot {
		t.Errorf("the boots are %q and %q", one.Boot, other.Boot)
	}
	first, second := one.SinceBoot(), other.SinceBoot()
	if first <= 0 || second < first || second-first > time.Minute {
		t.Errorf("since the boot: %s, then %s", first, second)
	}
}
