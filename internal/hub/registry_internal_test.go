package hub

import (
	"slices"
	"strconv"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/earshot-dev/earshot/internal/hub/access"
)

// TestSlots: whatever comes, is streamed, left and ended in whatever order, as many subscriptions occupy a slot as a walk over all of them
// finds, in all and of each subscriber, and beyond the limit those that have waited longest are named. Nothing walks over them but this test: when a
// hub begins again, thousands come at once.
func TestSlots(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := newRegistry(Options{Subscriptions: 4, SubscriptionsEach: 2, Now: time.Now})
		var all, waiting []*Subscription
		gone := func(s *Subscription) func(*Subscription) bool {
			return func(other *Subscription) bool { return other == s }
		}
		some := func() *Subscription { return rapid.SampledFrom(all).Draw(t, "which") }
		for n := range rapid.IntRange(1, 60).Draw(t, "steps") {
			what := rapid.SampledFrom([]string{"come", "come", "stream", "leave", "leave", "end"}).Draw(t, "what")
			switch {
			case what == "come" || len(all) == 0:
				s := &Subscription{id: strconv.Itoa(n), who: access.Principal{Name: rapid.SampledFrom([]string{"ann", "ben", "eve"}).Draw(t, "who")}}
				occupied, mine := 0, 0
				for _, other := range all {
					if !slices.Contains(waiting, other) {
						if occupied++; other.who.Name == s.who.Name {
							mine++
						}
					}
				}
				added, err := r.add(s)
				if want := occupied < 4 && mine < 2; err != nil || added != want {
					t.Fatalf("added %v, %v with %d slots taken, %d of them by %s", added, err, occupied, mine, s.who.Name)
				}
				if added {
					all = append(all, s)
				}
			case what == "stream":
				s := some()
				r.streams(s)
				waiting = slices.DeleteFunc(waiting, gone(s))
			case what == "leave":
				s := some()
				if !slices.Contains(waiting, s) {
					waiting = append(waiting, s)
				}
				crowded := r.retain(s)
				if want := waiting[:max(0, len(waiting)-4)]; !slices.Equal(crowded, want) {
					t.Fatalf("named %d as waiting beyond the limit, expected %d", len(crowded), len(want))
				}
				for _, s := range crowded {
					r.remove(s)
					all, waiting = slices.DeleteFunc(all, gone(s)), slices.DeleteFunc(waiting, gone(s))
				}
			default:
				s := some()
				r.remove(s)
				r.streams(s) // a stream that ends late changes nothing any more
				r.retain(s)
				all, waiting = slices.DeleteFunc(all, gone(s)), slices.DeleteFunc(waiting, gone(s))
			}
			if r.occupied != len(all)-len(waiting) || r.retained.Len() != len(waiting) || len(r.open) != len(all) {
				t.Fatalf("%d slots and %d retained of %d, expected %d and %d of %d", r.occupied, r.retained.Len(), len(r.open), len(all)-len(waiting), len(waiting), len(all))
			}
		}
	})
}
