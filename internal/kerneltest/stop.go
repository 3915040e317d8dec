package kerneltest

import (
	"fmt"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/kernel/turn"
	"github.com/earshot-dev/earshot/utp"
)

// condition is what the deepest turn of a chain is doing when one of its turns is stopped.
type condition string

const (
	queued    condition = "queued"
	running   condition = "running"
	asked     condition = "asked"
	suspended condition = "suspended"
	started   condition = "started" // its call is under way at the service
)

// stopCases are the stops of each turn of a chain, in each condition of the deepest.
func stopCases() (all []exercise) {
	const deepest = 3 // parent, child and grandchild
	for _, c := range []condition{queued, running, asked, suspended, started} {
		all = append(all, exercise{"a stop anywhere while the deepest turn is " + string(c), func(s *scene) {
			for deep := 2; deep <= deepest; deep++ {
				for stopped := range deep {
					s.t.Logf("of %d turns, the one %d deep is stopped", deep, stopped)
					stopInChain(s, deep, c, stopped)
				}
			}
		}})
	}
	return all
}

// chain is a turn that waits for another one, and so on; a queued one has no seat yet.
type chain struct {
	*scene

	ids   []string
	seats []*seat
	under api.OwnerRequest // the call that a service has started
}

func newChain(s *scene, deep int, c condition) *chain {
	s.t.Helper()
	ch := &chain{scene: s, seats: []*seat{s.leads()}}
	ch.ids = []string{ch.seats[0].claim.Turn}
	for n := 1; n < deep; n++ {
		above := ch.seats[n-1]
		above.calls(one("ask_expert", `{"expert_profile":"clerk","question":"and you?"}`))
		ch.ids = append(ch.ids, above.call(0).Batch.Children[0].Turn)
		if n < deep-1 || c != queued {
			ch.seats = append(ch.seats, s.claims(clerk, fmt.Sprint("wrk_", n)))
		}
	}
	deepest := ch.seats[len(ch.seats)-1]
	switch c {
	case asked:
		deepest.calls(one(burn, `{}`))
	case suspended:
		deepest.calls(one(look, `{}`))
	case started:
		deepest.calls(one(look, `{}`))
		ch.under = s.mustStart(deepest.call(0).ID)
	case queued, running:
	}
	return ch
}

// stopInChain: a stop ends the turn and all below it; those above it go on, with the result that it was stopped.
func stopInChain(s *scene, deep int, c condition, stopped int) {
	ch := newChain(s, deep, c)
	var waits string // the call of the deepest, if it is at a service
	if c == suspended {
		waits = ch.seats[deep-1].call(0).ID
	}
	s.stops(ch.ids[stopped])
	if c == started { // the service sees it, and ends
		s.mustFinish(ch.under)
	}
	for n, id := range ch.ids {
		st := s.turn(id)
		if n < stopped {
			if st.Status == turn.Ended {
				s.t.Errorf("the turn %d deep, above the one that was stopped, has ended: %+v", n, st.End)
			}
			continue
		}
		if st.Status != turn.Ended || st.End.Status != utp.StatusCanceled || st.Stop == nil || st.Stop.By != person {
			s.t.Errorf("the turn %d deep is %s, %+v, stopped %+v", n, st.Status, st.End, st.Stop)
		}
	}
	if open := s.questions(); len(open) != 0 {
		s.t.Errorf("still asked: %+v", open)
	}
	if waits != "" {
		if _, err := s.starts(waits); err == nil {
			s.t.Error("the call of a stopped turn was started")
		}
	}
	for n := stopped - 1; n >= 0; n-- {
		want := utp.StatusSuccess
		if n == stopped-1 {
			want = utp.StatusCanceled
		}
		if r := ch.seats[n].result(); r.Status != want {
			s.t.Errorf("the turn %d deep has the result %+v; want %s", n, r, want)
		}
		ch.seats[n].mustEnd(utp.StatusSuccess)
	}
	s.noneOpen()
}
