package turn_test

import (
	"testing"
	"time"

	"github.com/earshot-dev/earshot/internal/kernel/turn"
)

func terms(d turn.Decision, start, undo time.Duration) turn.Terms {
	return turn.Terms{Decision: d, Limits: turn.Limits{StartWithin: start, Undo: undo}}
}

// TestStricter: what an operator has changed counts at once for calls that were judged before
// only where it lets less happen, and sooner no more.
func TestStricter(t *testing.T) {
	t.Parallel()
	plain := func(d turn.Decision) turn.Terms { return terms(d, 0, 0) }
	answer := func(d time.Duration) turn.Terms {
		return turn.Terms{Decision: turn.Ask, Limits: turn.Limits{Answer: d, Result: d}}
	}
	for _, tt := range []struct {
		name     string
		now, was turn.Terms
		want     bool
	}{
		{"the same", plain(turn.Ask), plain(turn.Ask), false},
		{"allow, now asked", plain(turn.Ask), plain(turn.Allow), true},
		{"allow, now denied", plain(turn.Deny), plain(turn.Allow), true},
		{"asked, now denied", plain(turn.Deny), plain(turn.Ask), true},
		{"asked, now allowed", plain(turn.Allow), plain(turn.Ask), false},
		{"denied, now asked", plain(turn.Ask), plain(turn.Deny), false},
		{"denied still", terms(turn.Deny, time.Second, time.Minute), plain(turn.Deny), false},
		{"a word that is none counts as ask", plain("perhaps"), plain(turn.Allow), true},
		{"a word that is none is not deny", plain("perhaps"), plain(turn.Ask), false},

		{"sooner too late", terms(turn.Ask, 10*time.Second, 0), terms(turn.Ask, 30*time.Second, 0), true},
		{"later too late", terms(turn.Ask, 30*time.Second, 0), terms(turn.Ask, 10*time.Second, 0), false},
		{"shorter than the default", terms(turn.Ask, 59*time.Second, 0), plain(turn.Ask), true},
		{"the default, named", terms(turn.Ask, turn.DefaultStartWithin, turn.MinUndo), plain(turn.Ask), false},
		{"the default, no longer named", plain(turn.Ask), terms(turn.Ask, turn.DefaultStartWithin, turn.MinUndo), false},
		{"longer than the most is the most", terms(turn.Ask, turn.MaxStartWithin, 0), terms(turn.Ask, time.Hour, 0), false},
		{"allowed, and sooner too late", terms(turn.Allow, 10*time.Second, 0), plain(turn.Allow), true},

		{"longer to take it back", terms(turn.Ask, 0, 20*time.Second), terms(turn.Ask, 0, 10*time.Second), true},
		{"shorter to take it back", terms(turn.Ask, 0, 10*time.Second), terms(turn.Ask, 0, 20*time.Second), false},
		{"one stricter, one looser", terms(turn.Ask, 10*time.Second, 5*time.Second), terms(turn.Ask, 30*time.Second, 15*time.Second), true},
		{"allowed now, in less time", terms(turn.Allow, 10*time.Second, 0), terms(turn.Ask, 30*time.Second, 0), false},

		{"less time to answer is no stricter", answer(time.Minute), answer(time.Hour), false},
		{"nor is more", answer(time.Hour), answer(time.Minute), false},
	} {
		if got := tt.now.StricterThan(tt.was); got != tt.want {
			t.Errorf("%s: %v; want %v", tt.name, got, tt.want)
		}
	}
}

// TestTightened: of two sets of times the stricter of each, so that neither is stricter than
// what comes of them.
func TestTightened(t *testing.T) {
	t.Parallel()
	times := []time.Duration{0, time.Second, 10 * time.Second, time.Minute, 5 * time.Minute, time.Hour}
	var all []turn.Terms
	for _, start := range times {
		for _, undo := range times {
			all = append(all, terms(turn.Ask, start, undo))
		}
	}
	for _, a := range all {
		for _, b := range all {
			both := turn.Terms{Decision: turn.Ask, Limits: a.Limits.Tightened(b.Limits)}
			if a.StricterThan(both) || b.StricterThan(both) {
				t.Errorf("%+v and %+v make %+v", a.Limits, b.Limits, both.Limits)
			}
			if !both.StricterThan(a) && !both.StricterThan(b) && (a.StricterThan(b) || b.StricterThan(a)) {
				t.Errorf("%+v and %+v make %+v, which is neither's stricter", a.Limits, b.Limits, both.Limits)
			}
		}
	}
	kept := turn.Limits{Answer: time.Hour, ReconcileWithin: time.Minute, Result: time.Hour, Reconciles: true}
	if got := kept.Tightened(turn.Limits{Answer: time.Second, Result: time.Second}); got.Answer != kept.Answer || got.ReconcileWithin != kept.ReconcileWithin || got.Result != kept.Result || !got.Reconciles {
		t.Errorf("what somebody was told, and what is the tool's own, became %+v", got)
	}
}
