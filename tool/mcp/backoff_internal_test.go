package mcp

import (
	"slices"
	"testing"
	"time"
)

// TestBackoff: a server that ends again and again is started ever more seldom, at least once a minute, and soon again after one that has
// run for a while.
func TestBackoff(t *testing.T) {
	t.Parallel()
	b := backoff{first: time.Second}
	var got []time.Duration
	for range 8 {
		got = append(got, b.after(time.Millisecond)/time.Second)
	}
	if want := []time.Duration{1, 2, 4, 8, 16, 32, 60, 60}; !slices.Equal(got, want) {
		t.Errorf("the pauses are %d s, expected %d s", got, want)
	}
	if got := b.after(stableTime + time.Second); got != time.Second {
		t.Errorf("after one that has run for a while: %s", got)
	}
	if got := b.after(0); got != 2*time.Second {
		t.Errorf("then: %s", got)
	}
	b.reset()
	if got := b.after(0); got != time.Second {
		t.Errorf("after a new login: %s", got)
	}
}
