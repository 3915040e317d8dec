package hub_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/hub/access"
)

// newest is the point behind which a stream of somebody misses nothing.
func (s *stage) newest(who access.Principal) string {
	s.t.Helper()
	synctest.Wait()
	point, err := s.hub.As(who).Newest(s.t.Context())
	if err != nil {
		s.t.Fatal(err)
	}
	return point
}

// TestNewestIsOnesOwn: anyone who hears some sessions only is told nothing of when others' go on:
// not by the point to go on behind, whatever happens there, and not by the event that it is.
func TestNewestIsOnesOwn(t *testing.T) {
	onStage(t, func(s *stage) {
		s.halt()
		s.book.begin("sess_a", "ann")
		s.book.begin("sess_b", "bob")
		s.start()
		ann, eve := person("ann", access.Listener), person("eve", access.Auditor)
		deputy := access.Principal{Name: "cat", Roles: []access.Role{access.Listener}, Owners: []string{"ann", "dan"}}
		began := s.newest(ann)
		if began == eventID("sess_b", 1) || !strings.HasPrefix(began, "evt_") {
			t.Errorf("before anything has come for her: %q", began)
		}
		if all := s.newest(eve); all != eventID("sess_b", 1) {
			t.Errorf("for who hears all: %q", all)
		}
		s.book.move("sess_b", 3)
		if now := s.newest(ann); now != began {
			t.Errorf("after others' events: %q, before %q", now, began)
		}
		s.book.move("sess_a", 1)
		s.book.move("sess_b", 3)
		for _, who := range []access.Principal{ann, deputy} {
			if now := s.newest(who); now != eventID("sess_a", 2) {
				t.Errorf("%s after one of ann's own: %q", who.Name, now)
			}
		}
		s.book.begin("sess_d", "dan")
		if now := s.newest(deputy); now != eventID("sess_d", 1) {
			t.Errorf("cat after dan's: %q", now)
		}
		if now := s.newest(ann); now != eventID("sess_a", 2) {
			t.Errorf("ann after dan's: %q", now)
		}
		s.book.setWeather(func(func()) {}) // lost by the bus, found by a look
		s.book.move("sess_a", 1)
		<-time.After(2100 * time.Millisecond) // a poll
		synctest.Wait()
		if now := s.newest(ann); now != eventID("sess_a", 3) {
			t.Errorf("after a lost broadcast: %q", now)
		}
	})
}

// TestPollBesideBroadcasts: what a poll finds has often been broadcast as well, and waits to be taken in. It is: otherwise each stream would
// read the ledger for it.
func TestPollBesideBroadcasts(t *testing.T) {
	onStage(t, func(s *stage) {
		waiting := make(chan func(), 10)
		s.book.setWeather(func(deliver func()) { waiting <- deliver })
		s.book.begin("sess_a", "ann")
		s.book.mu.Lock()
		s.book.asking = func(op string) {
			if op == api.OpSince {
				for range len(waiting) {
					(<-waiting)()
				}
			}
		}
		s.book.mu.Unlock()
		e := s.listen(s.subscribe(person("ann", access.Listener)), "")
		<-time.After(2100 * time.Millisecond) // a poll
		synctest.Wait()
		read := s.book.count(api.OpEvents)
		s.book.move("sess_a", 5)
		<-time.After(2100 * time.Millisecond)
		live, _ := e.told()
		s.want("the listener", live, numbered("sess_a", 1, 6))
		if again := s.book.count(api.OpEvents); again != read {
			t.Errorf("%d pages were read of the ledger for 5 events that had been broadcast", again-read)
		}
	})
}

// TestResumeAtTheBeginning: the moment at which the hub began is a point to go on behind:
// what has come since is heard, once, and nothing before it. To another hub it is nothing.
func TestResumeAtTheBeginning(t *testing.T) {
	onStage(t, func(s *stage) {
		s.halt()
		s.book.begin("sess_a", "ann")
		s.book.begin("sess_b", "bob")
		s.start()
		ann := person("ann", access.Listener)
		began := s.newest(ann)
		s.book.move("sess_b", 3)
		s.book.move("sess_a", 2)
		e := s.listen(s.subscribe(ann), began)
		live, again := e.told()
		s.want("what has come since", live, numbered("sess_a", 2, 3))
		s.want("again", again, nil)
		s.book.move("sess_a", 1)
		live, _ = e.told()
		s.want("and goes on", live, numbered("sess_a", 2, 4))
		e.leave()
		s.halt()
		s.start()
		e = s.listen(s.subscribe(ann), began)
		live, again = e.told()
		s.want("another hub", live, nil)
		s.want("begins again", again, []string{"sess_a/1", "sess_a/1"})
		e.leave()
	})
}

// TestResumeBehindAnothers: an event that one may not hear is not a point to resume from, and
// its stream begins as behind an event that there is not.
func TestResumeBehindAnothers(t *testing.T) {
	onStage(t, func(s *stage) {
		s.book.begin("sess_a", "ann")
		s.book.begin("sess_b", "bob")
		s.book.move("sess_a", 2)
		s.book.move("sess_b", 2)
		ann := person("ann", access.Listener)
		var signal [2][]string
		for i, id := range []string{eventID("sess_b", 1), "evt_x"} {
			e := s.listen(s.subscribe(ann), id)
			live, again := e.told()
			s.want("behind "+id, live, nil)
			signal[i] = again
			e.leave()
		}
		s.want("behind another's", signal[0], signal[1])
		e := s.listen(s.subscribe(ann), eventID("sess_a", 2))
		live, _ := e.told()
		s.want("behind her own", live, numbered("sess_a", 3, 3))
		e.leave()
	})
}
