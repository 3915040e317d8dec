package active_test

import (
	"slices"
	"testing"

	"github.com/earshot-dev/earshot/internal/kernel/active"
)

func has(t *testing.T, turns *active.Turns, turn, session string, want bool) {
	t.Helper()
	if turns.Has(turn) != want || turns.HasSession(session) != want {
		t.Errorf("of %s and %s the kernel has %v and %v, want %v", turn, session, turns.Has(turn), turns.HasSession(session), want)
	}
}

// TestEvery: a kernel works on each turn, unless it waits to be resumed.
func TestEvery(t *testing.T) {
	t.Parallel()
	turns := active.New(false)
	turns.Park("a", "sess_a")
	has(t, turns, "a", "sess_a", false)
	has(t, turns, "b", "sess_b", true)
	turns.Begin("a", "sess_a")
	has(t, turns, "a", "sess_a", true)
	turns.Park("a", "sess_a")
	turns.End("a")
	has(t, turns, "a", "sess_a", true) // nothing is left of it to work on
	if own, only := turns.Owned(); only || len(own) != 0 {
		t.Errorf("its own are %v, %v", own, only)
	}
}

// TestOwn: a kernel that works on its own turns leaves all others alone.
func TestOwn(t *testing.T) {
	t.Parallel()
	turns := active.New(true)
	has(t, turns, "a", "sess_a", false)
	turns.Begin("b", "sess_b")
	turns.Begin("a", "sess_a")
	has(t, turns, "a", "sess_a", true)
	has(t, turns, "c", "sess_c", false)
	if own, only := turns.Owned(); !only || !slices.Equal(own, []string{"a", "b"}) {
		t.Errorf("its own are %v, %v", own, only)
	}
	turns.End("a")
	has(t, turns, "a", "sess_a", false)
	has(t, turns, "b", "sess_b", true)
}
