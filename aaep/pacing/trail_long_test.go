package pacing_test

import (
	"fmt"
	"maps"
	"testing"

	"github.com/earshot-dev/earshot/aaep/pacing"
)

// TestLongTrail: a trail remembers the last 1,024 deliveries, however many there were, and goes on from each of them; a session that has
// ended is forgotten with its last one.
func TestLongTrail(t *testing.T) {
	t.Parallel()
	for _, told := range []int64{1, 1023, 1024, 1025, 1500, 2048, 3000} {
		var trail pacing.Trail
		note := func(session string, n int64) {
			trail.Note(pacing.Delivery{Session: session, EventID: fmt.Sprint(session, n), First: n, Last: n})
			trail.Reach(session, n)
		}
		trail.Reach("sess_old", 0)
		trail.Reach("sess_a", 0)
		note("sess_old", 1)
		trail.Ended("sess_old")
		for n := range told {
			note("sess_a", n+1)
		}
		if told >= 1024 {
			if _, known := trail.After("sess_old1"); known {
				t.Errorf("of %d deliveries the first is known", told+1)
			}
		}
		if _, known := trail.After(fmt.Sprint("sess_a", told-1024)); known {
			t.Errorf("of %d deliveries the one before the last 1,024 is known", told+1)
		}
		oldest := max(1, told-1023)
		for _, from := range []int64{told, (oldest + told) / 2, oldest} { // each forgets what came later
			at, known := trail.After(fmt.Sprint("sess_a", from))
			want := map[string]int64{"sess_a": from}
			if !known || !maps.Equal(at, want) {
				t.Errorf("of %d deliveries, after number %d: %v, %v", told+1, from, at, known)
			}
			for n := from; n < told; n++ {
				note("sess_a", n+1)
			}
		}
	}
}
