package hub_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/internal/hub"
	"github.com/earshot-dev/earshot/internal/hub/access"
)

// TestProportional: an event is looked at by the streams that hear it, and by no other: not by those of people who may not
// hear its owner, not by those that are narrowed to other sessions, and not by those whose terms leave it out. What a
// stream looks at begins with its rights, so that these are counted.
func TestProportional(t *testing.T) {
	onStage(t, func(s *stage) {
		s.book.begin("sess_ann", "ann")
		s.book.begin("sess_bob", "bob")
		others := []string{"bob", "narrowed", "filtered"}
		ears := map[string]*ear{
			"ann":      s.listen(s.subscribe(person("ann", access.Listener)), ""),
			"everyone": s.listen(s.subscribe(person("everyone", access.Auditor)), ""),
			"bob":      s.listen(s.subscribe(person("bob", access.Listener)), ""),
			"narrowed": s.listen(s.subscribe(person("narrowed", access.Auditor), "sess_bob"), ""),
			"filtered": s.listen(s.subscribeTo(person("filtered", access.Auditor), &aaep.EventFilters{Exclude: []string{"aaep:agent.state.changed"}}), ""),
		}
		for range 50 { // streams of people whom it does not concern
			others = append(others, fmt.Sprintf("stranger%d", len(others)))
			s.listen(s.subscribe(person(others[len(others)-1], access.Listener)), "")
		}
		for name := range ears {
			s.badges.looks(name)
		}
		for _, name := range others {
			s.badges.looks(name)
		}
		s.book.move("sess_ann", 20)
		for _, name := range []string{"ann", "everyone"} {
			live, _ := ears[name].told()
			s.want(name, live, numbered("sess_ann", 2, 21))
			if n := s.badges.looks(name); n == 0 {
				t.Errorf("%s heard 20 events and did not look at its rights", name)
			}
		}
		for _, name := range others {
			if n := s.badges.looks(name); n != 0 {
				t.Errorf("%s does not hear the events and looked %d times", name, n)
			}
		}
		s.book.end("sess_ann")
		for _, d := range ears["filtered"].all()[2:] { // behind the two that were told where they are
			if e, err := aaep.DecodeEvent(d.Raw); err != nil || !e.IsTerminal() {
				t.Errorf("the filter lets %s/%d through: %v", d.Session, d.First, err)
			}
		}
		if n := s.badges.looks("filtered"); n == 0 {
			t.Error("the end was not looked at")
		}
	})
}

// TestFilteredStaysOut: what the terms have left out does not come back with other terms, whether the stream was woken for
// it or not.
func TestFilteredStaysOut(t *testing.T) {
	for _, before := range []int{1, 31, 70, 200} {
		t.Run(fmt.Sprint(before), func(t *testing.T) {
			onStage(t, func(s *stage) {
				s.book.begin("sess_a", "ann")
				sub := s.subscribeTo(person("ann", access.Listener), &aaep.EventFilters{Exclude: []string{"aaep:agent.state.changed"}})
				e := s.listen(sub, "")
				s.book.move("sess_a", before)
				e.all()
				if _, rejected, err := sub.Renegotiate(s.t.Context(), aaep.SubscriptionRenegotiate{
					SubscriptionID: sub.ID(), Capabilities: aaep.Capabilities{EventFilters: &aaep.EventFilters{Include: []string{"aaep:agent.*"}}},
				}); rejected != nil || err != nil {
					t.Fatal(rejected, err)
				}
				live, _ := e.told()
				s.want("what was left out", live, nil)
				s.book.move("sess_a", 3)
				live, _ = e.told()
				s.want("what comes", live, numbered("sess_a", int64(before)+2, int64(before)+4))
				e.leave()
			})
		})
	}
}

// TestRightsChange: who may hear more from now on hears it, without another stream.
func TestRightsChange(t *testing.T) {
	onStage(t, func(s *stage) {
		s.book.begin("sess_b", "bob")
		ann := s.listen(s.subscribe(person("ann", access.Listener)), "")
		s.badges.promote("ann", access.Auditor)
		s.book.move("sess_b", 2)
		if live, _ := ann.told(); len(live) == 0 || live[len(live)-1] != "sess_b/3" {
			t.Errorf("heard %v", live)
		}
	})
}

// TestTogether: what is due at the same time can be written together, and nothing waits behind a critical event or at the
// end.
func TestTogether(t *testing.T) {
	onStage(t, func(s *stage) {
		s.book.begin("sess_a", "ann")
		s.book.begin("sess_b", "ann")
		hold := make(chan struct{})
		e := s.hear(s.subscribe(person("ann", access.Approver)), "", hold)
		for range 2 { // where the two are
			hold <- struct{}{}
			e.all()
		}
		s.book.move("sess_a", 1)
		e.all() // it stands here, and more comes
		s.book.move("sess_a", 2)
		s.book.ask("sess_a", 1)
		s.book.move("sess_b", 2)
		synctest.Wait() // all of it has come
		close(hold)
		var more []bool
		for _, d := range e.all()[2:] {
			more = append(more, d.More)
			if critical := d.Critical; critical && d.More {
				t.Errorf("%s/%d is critical and waits", d.Session, d.First)
			}
		}
		if got, want := fmt.Sprint(more), "[false true true false true false]"; got != want {
			t.Errorf("more: %s, want %s", got, want)
		}
		e.leave()
	})
}

// TestForgotten: a session that has ended long ago is let go of without asking the ledger, by everybody who has heard all
// of it.
func TestForgotten(t *testing.T) {
	onStage(t, func(s *stage) {
		for range 5 {
			s.listen(s.subscribe(person("ann", access.Listener)), "")
		}
		s.book.begin("sess_a", "ann")
		s.book.move("sess_a", 3)
		s.book.end("sess_a")
		asked := s.book.count("sessions")
		<-time.After(10 * time.Minute)
		if n := s.book.count("sessions") - asked; n != 0 {
			t.Errorf("the ledger was asked %d times for the session", n)
		}
	})
}

// subscribeTo subscribes with filters.
func (s *stage) subscribeTo(who access.Principal, f *aaep.EventFilters) *hub.Subscription {
	s.t.Helper()
	synctest.Wait()
	sub, rejected, err := s.hub.Subscribe(s.t.Context(), who, aaep.SubscriptionRequest{
		AAEPVersion: aaep.Version, SubscriberID: "test",
		Capabilities: aaep.Capabilities{EventFilters: f, Extensions: map[string]jsontext.Value{"earshot": jsontext.Value(`{"observe_questions":true}`)}},
	})
	if rejected != nil || err != nil {
		s.t.Fatalf("not subscribed: %+v, %v", rejected, err)
	}
	return sub
}
