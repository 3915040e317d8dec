package hub_test

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/hub"
	"github.com/earshot-dev/earshot/internal/hub/access"
	"github.com/earshot-dev/earshot/internal/testkit"
)

// TestNewSessionIsHeard: a session that begins while somebody listens is heard from its
// first event, at once when it is broadcast, and within a poll when nothing is.
func TestNewSessionIsHeard(t *testing.T) {
	for name, weather := range map[string]func(func()){"broadcast": nil, "lost": func(func()) {}} {
		t.Run(name, func(t *testing.T) {
			onStage(t, func(s *stage) {
				e := s.listen(s.subscribe(person("ann", access.Listener)), "")
				s.book.setWeather(weather)
				s.book.begin("sess_a", "ann")
				s.book.move("sess_a", 20)
				s.book.end("sess_a") // it has begun and ended within a poll
				if weather != nil {
					<-time.After(2100 * time.Millisecond)
				}
				live, again := e.told()
				s.want("heard", live, numbered("sess_a", 1, 22))
				s.want("sent again", again, nil)
				if weather == nil && s.book.count(api.OpEvents) != 0 {
					t.Error("it reads the ledger for what was broadcast")
				}
				e.leave()
			})
		})
	}
}

// TestLateJoiner: of what is under way one hears the beginning again, the state and the
// open question, then what comes (C-91); of what is over, nothing; and nothing of it is
// a point to resume from.
func TestLateJoiner(t *testing.T) {
	onStage(t, func(s *stage) {
		for i := range 5 {
			past := fmt.Sprintf("sess_p%d", i)
			s.book.begin(past, "ann")
			s.book.end(past)
		}
		s.book.begin("sess_a", "ann")
		s.book.move("sess_a", 120)
		s.book.ask("sess_a", 7)
		s.book.begin("sess_b", "bob")
		e := s.listen(s.subscribe(person("ann", access.Listener)), "")
		live, again := e.told()
		s.want("live", live, nil)
		s.want("again", again, []string{"sess_a/1", "sess_a/1", "sess_a/122"})
		got := e.all()
		types := []string{aaep.TypeSessionStarted, aaep.TypeStateChanged, aaep.TypeAwaitingConfirmation}
		for i, d := range got[:min(len(got), len(types))] {
			event, err := aaep.DecodeEvent(d.Raw)
			if err != nil || event.Type() != types[i] || event.SessionID != "sess_a" {
				t.Errorf("delivery %d is %s of %s: %v", i, event.Type(), event.SessionID, err)
			}
			if changed, is := event.Payload.(aaep.StateChanged); is && (changed.FromState != changed.ToState || changed.SummaryNormal == "" || event.Extensions["earshot"].String() != `{"resync":true}`) {
				t.Errorf("the state: %s", d.Raw)
			}
		}
		s.book.move("sess_a", 3)
		live, _ = e.told()
		s.want("live", live, numbered("sess_a", 123, 125))
		for session, n := range s.book.read {
			if session != "sess_a" {
				t.Errorf("%s was read %d times", session, n)
			}
		}
		e.leave()
	})
}

// TestPastIsNotRead: thousands of past sessions cost a subscriber nothing.
func TestPastIsNotRead(t *testing.T) {
	onStage(t, func(s *stage) {
		s.halt()
		for i := range 3000 {
			past := fmt.Sprintf("sess_p%d", i)
			s.book.begin(past, "ann")
			s.book.end(past)
		}
		s.start()
		before := s.book.count(api.OpSessions) + s.book.count(api.OpEvents)
		e := s.listen(s.subscribe(person("ann", access.Listener)), "")
		if n := s.book.count(api.OpSessions) + s.book.count(api.OpEvents) - before; n != 0 || len(e.all()) != 0 {
			t.Errorf("%d requests, %d deliveries", n, len(e.all()))
		}
		e.leave()
	})
}

// TestLongSubscription: a subscription that has heard hundreds of sessions end remembers those
// only that it may have to go back to: coming back costs as many requests as with a few, and
// nothing is lost or comes twice, also of a session that ended while nobody streamed.
func TestLongSubscription(t *testing.T) {
	for _, n := range []int{20, 1500 / testkit.Slowdown} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			onStage(t, func(s *stage) {
				sub := s.subscribe(person("ann", access.Listener))
				e := s.listen(sub, "")
				want := 0
				for i := range n {
					session := fmt.Sprintf("sess_s%d", i)
					s.book.begin(session, "ann")
					s.book.end(session)
					want += 2
					<-time.After(time.Second)
					synctest.Wait()
				}
				<-time.After(5 * time.Minute) // the feed forgets them
				live, _ := e.told()
				if len(live) != want {
					t.Errorf("%d events were heard of %d", len(live), want)
				}
				all := e.all()
				e.leave()
				s.book.begin("sess_b", "ann")
				s.book.end("sess_b")
				before := s.book.count(api.OpSessions) + s.book.count(api.OpEvents)
				e = s.listen(sub, all[len(all)-1].EventID)
				live, again := e.told()
				s.want("behind the last", live, numbered("sess_b", 1, 2))
				s.want("again", again, nil)
				cost := s.book.count(api.OpSessions) + s.book.count(api.OpEvents) - before
				e.leave()
				e = s.listen(sub, all[len(all)-3].EventID) // the two after it are of a session that is forgotten
				live, again = e.told()
				last := fmt.Sprintf("sess_s%d", n-1)
				s.want("behind an earlier one", append(again, live...), append(numbered("sess_b", 1, 2), numbered(last, 1, 2)...))
				e.leave()
				if cost > 25 {
					t.Errorf("coming back costs %d requests", cost)
				}
			})
		})
	}
}

// TestIdle: while nothing happens the hub looks less and less often; what the bus then loses
// is found with the next look, after which it looks as often as ever.
func TestIdle(t *testing.T) {
	onStage(t, func(s *stage) {
		s.halt()
		s.idle = 16 * time.Second
		s.start()
		looks := func(d time.Duration) int {
			before := s.book.count(api.OpSince)
			<-time.After(d)
			synctest.Wait()
			return s.book.count(api.OpSince) - before
		}
		looks(14*time.Second + time.Millisecond) // after 2, 4 and 8 s
		if n := looks(160 * time.Second); n != 10 {
			t.Errorf("%d looks in 160 s of quiet; want 10", n)
		}
		e := s.listen(s.subscribe(person("ann", access.Listener)), "")
		s.book.setWeather(func(func()) {}) // everything is lost
		s.book.begin("sess_a", "ann")
		looks(16 * time.Second)
		live, _ := e.told()
		s.want("after one look", live, []string{"sess_a/1"})
		s.book.move("sess_a", 1)
		looks(2*time.Second + time.Millisecond)
		live, _ = e.told()
		s.want("after a poll", live, numbered("sess_a", 1, 2))
		looks(time.Minute)
		s.book.setWeather(nil)
		s.book.move("sess_a", 1)
		live, _ = e.told()
		s.want("at once", live, numbered("sess_a", 1, 3))
		if n := looks(2*time.Second + time.Millisecond); n != 1 {
			t.Errorf("%d looks in the 2 s after something was heard", n)
		}
		e.leave()
	})
}

// TestRights: whom one hears, by role.
func TestRights(t *testing.T) {
	onStage(t, func(s *stage) {
		ears := map[string]*ear{
			"ann":   s.listen(s.subscribe(person("ann", access.Listener)), ""),
			"bob":   s.listen(s.subscribe(person("bob", access.Approver)), ""),
			"eve":   s.listen(s.subscribe(person("eve", access.Auditor)), ""),
			"otto":  s.listen(s.subscribe(person("otto", access.Operator)), ""),
			"carol": s.listen(s.subscribe(access.Principal{Name: "carol", Roles: []access.Role{access.Listener}, Owners: []string{"bob"}}), ""),
		}
		s.book.begin("sess_a", "ann")
		s.book.begin("sess_b", "bob")
		for name, want := range map[string][]string{
			"ann": {"sess_a/1"}, "bob": {"sess_b/1"}, "eve": {"sess_a/1", "sess_b/1"}, "otto": {"sess_a/1", "sess_b/1"}, "carol": {"sess_b/1"},
		} {
			live, again := ears[name].told()
			s.want(name, live, want)
			s.want(name+" again", again, nil)
		}
		for _, who := range []access.Principal{
			person("x"), person("agent", access.Agent), person("files", access.Tool),
			{Name: "p", Roles: []access.Role{access.Operator}, Projects: []string{"other"}},
		} {
			sub, rejected, err := s.hub.Subscribe(s.t.Context(), who, aaep.SubscriptionRequest{AAEPVersion: aaep.Version, SubscriberID: "x"})
			if sub != nil || err != nil || rejected == nil || rejected.ReasonCode != aaep.ReasonAuthorizationDenied {
				t.Errorf("%+v: %v, %+v, %v", who, sub, rejected, err)
			}
		}
		for _, e := range ears {
			e.leave()
		}
	})
}

// TestRevoked: a stream ends when its principal's rights do, at once, idle or not, and
// the subscription with it; the others go on.
func TestRevoked(t *testing.T) {
	onStage(t, func(s *stage) {
		ann := s.subscribe(person("ann", access.Listener))
		e, other := s.listen(ann, ""), s.listen(s.subscribe(person("eve", access.Auditor)), "")
		began := time.Now()
		s.badges.revoke("ann")
		if err := e.ended(); !errors.Is(err, hub.ErrRevoked) || time.Since(began) != 0 {
			t.Errorf("it ends with %v after %s", err, time.Since(began))
		}
		if err := s.listen(ann, "").ended(); !errors.Is(err, hub.ErrRevoked) {
			t.Errorf("it streams again: %v", err)
		}
		if err := ann.Reply(s.t.Context(), []byte(`{"type":"subscription.close","subscription_id":"`+ann.ID()+`"}`)); !errors.Is(err, hub.ErrRevoked) {
			t.Errorf("it replies: %v", err)
		}
		if _, rejected, _ := s.hub.Subscribe(s.t.Context(), person("ann", access.Listener), aaep.SubscriptionRequest{AAEPVersion: aaep.Version, SubscriberID: "x"}); rejected == nil || rejected.ReasonCode != aaep.ReasonAuthenticationRequired {
			t.Errorf("it subscribes again: %+v", rejected)
		}
		s.book.begin("sess_a", "ann")
		live, _ := other.told()
		s.want("the other", live, []string{"sess_a/1"})
		other.leave()
	})
}

// TestResume: with the id of any event that was delivered, a stream of the same
// subscription goes on right behind it; a new subscription does, over a restart of the
// hub, without a gap, and repeats a little of other sessions at most.
func TestResume(t *testing.T) {
	for _, restart := range []bool{false, true} {
		t.Run(fmt.Sprintf("restart=%t", restart), func(t *testing.T) {
			onStage(t, func(s *stage) {
				ann := person("ann", access.Listener)
				sub := s.subscribe(ann)
				e := s.listen(sub, "")
				s.book.begin("sess_a", "ann")
				s.book.begin("sess_b", "ann")
				for range 10 {
					s.book.move("sess_a", 1)
					s.book.move("sess_b", 1)
				}
				first := e.all()
				e.leave()
				point := first[10]
				if restart {
					s.halt()
				}
				s.book.move("sess_a", 5)
				s.book.end("sess_b")
				s.book.begin("sess_c", "ann")
				s.book.begin("sess_d", "bob")
				s.book.end("sess_c") // begun and ended while nobody listened
				if restart {
					s.start()
					sub = s.subscribe(ann)
				}
				e = s.listen(sub, point.EventID)
				s.complete("after "+point.EventID, first[:11], e.all(), "sess_a", "sess_b", "sess_c")
				if !restart && len(e.all()) != 11+5+1+2 {
					t.Errorf("%d deliveries; nothing is to be repeated by the subscription itself", len(e.all()))
				}
				s.book.move("sess_a", 1)
				if got := e.all(); got[len(got)-1].Last != s.book.last("sess_a") {
					t.Errorf("it does not go on: %+v", got[len(got)-1])
				}
				e.leave()
			})
		})
	}
}

// complete checks that the two parts of a stream together hold every event of the
// sessions, in order, and nothing else.
func (s *stage) complete(what string, before, after []hub.Delivery, sessions ...string) {
	s.t.Helper()
	heard := map[string]int64{}
	for _, d := range slices.Concat(before, after) {
		if d.First > heard[d.Session]+1 {
			s.t.Errorf("%s: %s/%d comes after %d", what, d.Session, d.First, heard[d.Session])
		}
		heard[d.Session] = max(heard[d.Session], d.Last)
	}
	for _, session := range sessions {
		if heard[session] != s.book.last(session) {
			s.t.Errorf("%s: heard %s up to %d of %d", what, session, heard[session], s.book.last(session))
		}
		delete(heard, session)
	}
	for session := range maps.Keys(heard) {
		s.t.Errorf("%s: heard %s, which it should not", what, session)
	}
}

// TestResumeNowhere: an id that nobody knows begins again (TR-SSE-10).
func TestResumeNowhere(t *testing.T) {
	onStage(t, func(s *stage) {
		s.book.begin("sess_a", "ann")
		s.book.move("sess_a", 3)
		e := s.listen(s.subscribe(person("ann", access.Listener)), "evt_nobody")
		live, again := e.told()
		s.want("live", live, nil)
		s.want("again", again, []string{"sess_a/1", "sess_a/1"})
		e.leave()
	})
}

// TestNamed: a subscription that names its sessions hears them from the first event on,
// also those that have ended or are yet to begin, and no other.
func TestNamed(t *testing.T) {
	onStage(t, func(s *stage) {
		s.book.begin("sess_old", "ann")
		s.book.move("sess_old", 9)
		s.book.end("sess_old")
		s.book.begin("sess_a", "ann")
		s.book.move("sess_a", 90)
		<-time.After(10 * time.Minute) // the feed has forgotten the old one
		e := s.listen(s.subscribe(person("ann", access.Listener), "sess_old", "sess_a", "sess_new", "sess_bob"), "")
		s.book.begin("sess_new", "ann")
		s.book.begin("sess_bob", "bob")
		s.book.begin("sess_other", "ann")
		s.complete("named", nil, e.all(), "sess_old", "sess_a", "sess_new")
		e.leave()
	})
}

// TestSlowReader: one that stands still holds nobody up, and hears everything once it
// goes on; little is kept for it.
func TestSlowReader(t *testing.T) {
	onStage(t, func(s *stage) {
		hold := make(chan struct{})
		slow := s.hear(s.subscribe(person("ann", access.Listener)), "", hold)
		quick := s.listen(s.subscribe(person("eve", access.Auditor)), "")
		began := time.Now()
		s.book.begin("sess_a", "ann")
		s.book.move("sess_a", 500)
		s.book.end("sess_a")
		live, _ := quick.told()
		s.want("quick", live, numbered("sess_a", 1, 502))
		if time.Since(began) != 0 {
			t.Error("it was held up")
		}
		<-time.After(10 * time.Minute)
		close(hold)
		s.complete("slow", nil, slow.all(), "sess_a")
		quick.leave()
		slow.leave()
	})
}

// TestOvertaken: a critical event overtakes what waits for the budget, at once (BP-05),
// and is not a point to resume from while older events wait: who comes again, to another
// hub, with the point that was given hears all of them.
func TestOvertaken(t *testing.T) {
	onStage(t, func(s *stage) {
		ann := person("ann", access.Listener)
		e := s.listen(s.subscribeAt(2, ann), "")
		s.book.begin("sess_a", "ann")
		s.book.begin("sess_b", "ann")
		s.book.move("sess_a", 100)
		<-time.After(20 * time.Second)
		s.book.ask("sess_b", 7)
		got := e.all()
		last := got[len(got)-1]
		if last.Session != "sess_b" || last.First != 2 || last.Resumable {
			t.Errorf("the question came as %s/%d, resumable: %t", last.Session, last.First, last.Resumable)
		}
		e.leave()
		point := ""
		for _, d := range got {
			if d.Resumable {
				point = d.EventID
			}
		}
		s.halt()
		s.start()
		e = s.listen(s.subscribeAt(2, ann), point)
		<-time.After(time.Minute)
		s.complete("after "+point, got, e.all(), "sess_a", "sess_b")
		s.book.ask("sess_b", 8)
		if got := e.all(); !got[len(got)-1].Resumable || got[len(got)-1].Session != "sess_b" {
			t.Errorf("once nothing waits, a question is a point to resume from")
		}
		e.leave()
	})
}

// TestResumeJoined: a listener that is too slow for the stream hears what waited as one, and resumes behind it, also in another
// hub: nothing is missing, and nothing comes twice.
func TestResumeJoined(t *testing.T) {
	for _, how := range []string{"the same subscription", "another hub"} {
		t.Run(how, func(t *testing.T) {
			onStage(t, func(s *stage) {
				write := func(from, to int) {
					for i := from; i < to; i++ {
						s.book.tell("sess_a", aaep.OutputStreaming{Chunk: "a", Position: int64(i)})
					}
				}
				ann := person("ann", access.Listener)
				sub := s.subscribeAt(1, ann)
				e := s.listen(sub, "")
				s.book.begin("sess_a", "ann")
				write(0, 100)
				<-time.After(2500 * time.Millisecond)
				got := e.all()
				last := got[len(got)-1]
				if last.First != 2 || last.Last != 101 || !last.Resumable {
					t.Errorf("%d came, the last for %d to %d, resumable: %t", len(got), last.First, last.Last, last.Resumable)
				}
				e.leave()
				write(100, 107)
				if how == "another hub" {
					s.halt()
					s.start()
					sub = s.subscribeAt(1, ann)
				}
				e = s.listen(sub, last.EventID)
				<-time.After(time.Minute)
				s.complete(how, got, e.all(), "sess_a")
				if next := e.all()[0]; next.First != last.Last+1 {
					t.Errorf("it goes on with %d behind %d", next.First, last.Last)
				}
				e.leave()
			})
		})
	}
}

// TestResolutionIsAtOnce: how a question ended, and with it the time to take a yes back, reaches every listener in the instant it is
// known, whatever rate they asked for and whatever waits for that rate.
func TestResolutionIsAtOnce(t *testing.T) {
	for rate := 1; rate <= 3; rate++ {
		t.Run(fmt.Sprintf("%d a second", rate), func(t *testing.T) {
			onStage(t, func(s *stage) {
				ann := person("ann", access.Listener)
				e := s.listen(s.subscribeAt(rate, ann), "")
				s.book.begin("sess_a", "ann")
				s.book.move("sess_a", 50)
				s.book.ask("sess_a", 7)
				s.book.move("sess_a", 50)
				asked := time.Now()
				s.book.answered("sess_a", 7, "accepted", "ann", "page")
				last := slices.MaxFunc(e.all(), func(a, b hub.Delivery) int { return cmp.Compare(a.Last, b.Last) })
				if !strings.Contains(string(last.Raw), `"resolution":"accepted"`) || !time.Now().Equal(asked) {
					t.Errorf("after %v the newest that was heard is %s", time.Since(asked), last.Raw)
				}
				e.leave()
			})
		})
	}
}

// TestOneStream: the newest stream counts, also while the older one stands still.
func TestOneStream(t *testing.T) {
	onStage(t, func(s *stage) {
		sub := s.subscribe(person("ann", access.Listener))
		hold := make(chan struct{})
		first := s.hear(sub, "", hold)
		s.book.begin("sess_a", "ann")
		synctest.Wait()
		second := s.listen(sub, "")
		s.book.move("sess_a", 2)
		live, _ := second.told()
		s.want("the second", live, numbered("sess_a", 2, 3))
		close(hold)
		if err := first.ended(); !errors.Is(err, hub.ErrSuperseded) {
			t.Errorf("the first ends with %v", err)
		}
		second.leave()
	})
}

// TestReleased: a subscription outlives its streams by the grace, and its close ends
// them; when the hub stops, all end.
func TestReleased(t *testing.T) {
	onStage(t, func(s *stage) {
		ann := person("ann", access.Listener)
		sub, never, closed := s.subscribe(ann), s.subscribe(ann), s.subscribe(ann)
		e, c := s.listen(sub, ""), s.listen(closed, "")
		closed.Close()
		if err := c.ended(); !errors.Is(err, hub.ErrClosed) {
			t.Errorf("the closed one ends with %v", err)
		}
		<-time.After(10 * time.Minute)
		if _, err := s.hub.Subscription(ann, sub.ID()); err != nil {
			t.Errorf("it is gone while it streams: %v", err)
		}
		if _, err := s.hub.Subscription(ann, never.ID()); !errors.Is(err, hub.ErrClosed) {
			t.Errorf("one that nobody streamed: %v", err)
		}
		if _, err := s.hub.Subscription(person("bob", access.Operator), sub.ID()); !errors.Is(err, hub.ErrClosed) {
			t.Errorf("another's: %v", err)
		}
		e.leave()
		<-time.After(59 * time.Second)
		e = s.listen(sub, "")
		if err := e.ended(); err == nil || err.Error() != "it goes on" {
			t.Errorf("within the grace: %v", err)
		}
		e.leave()
		<-time.After(80 * time.Second)
		if err := s.listen(sub, "").ended(); !errors.Is(err, hub.ErrClosed) {
			t.Errorf("after the grace: %v", err)
		}
		last := s.listen(s.subscribe(ann), "")
		s.halt()
		if err := last.ended(); !errors.Is(err, hub.ErrStopping) {
			t.Errorf("when the hub stops: %v", err)
		}
		if _, _, err := s.hub.Subscribe(s.t.Context(), ann, aaep.SubscriptionRequest{AAEPVersion: aaep.Version, SubscriberID: "x"}); !errors.Is(err, hub.ErrStopping) {
			t.Errorf("afterwards: %v", err)
		}
		s.start()
	})
}

// TestTooMany: HS-47.
func TestTooMany(t *testing.T) {
	onStage(t, func(s *stage) {
		for range 16 {
			s.subscribe(person("ann", access.Listener))
		}
		_, rejected, err := s.hub.Subscribe(s.t.Context(), person("ann", access.Listener), aaep.SubscriptionRequest{AAEPVersion: aaep.Version, SubscriberID: "x"})
		if err != nil || rejected == nil || rejected.ReasonCode != aaep.ReasonRateLimit || rejected.RetryAfterSeconds <= 0 {
			t.Errorf("%+v, %v", rejected, err)
		}
		s.subscribe(person("bob", access.Listener))
	})
}

// TestPlaceIsGivenBack: a subscription whose stream has ended takes no place any more, and its subscriber comes back all
// the same within the grace, behind what they have heard.
func TestPlaceIsGivenBack(t *testing.T) {
	onStage(t, func(s *stage) {
		ann := person("ann", access.Listener)
		s.book.begin("sess_a", "ann")
		first := s.subscribe(ann)
		e := s.listen(first, "")
		s.book.move("sess_a", 1)
		heard := e.all()
		for range 15 {
			s.listen(s.subscribe(ann), "")
		}
		full := func() bool {
			s.t.Helper()
			_, rejected, err := s.hub.Subscribe(s.t.Context(), ann, aaep.SubscriptionRequest{AAEPVersion: aaep.Version, SubscriberID: "x"})
			if err != nil {
				s.t.Error(err)
			}
			return rejected != nil
		}
		if !full() {
			t.Error("there is a place beside 16 that are streamed")
		}
		e.leave()
		if full() {
			t.Error("the stream has ended, and its place is still taken")
		}
		s.book.move("sess_a", 2)
		live, _ := s.listen(first, heard[len(heard)-1].EventID).told()
		s.want("who comes back", live, numbered("sess_a", 3, 4))
		if !full() {
			t.Error("one has come back and takes no place")
		}
		s.halt()
		s.start()
	})
}

// TestKept: of the subscriptions whose subscribers may come back there are as many as there are places: the ones that have
// waited longest go.
func TestKept(t *testing.T) {
	onStage(t, func(s *stage) {
		var subs []*hub.Subscription
		for n := range 65 {
			sub := s.subscribe(person(fmt.Sprintf("ann%d", n), access.Listener))
			s.listen(sub, "").leave()
			<-time.After(time.Millisecond)
			subs = append(subs, sub)
		}
		for n, sub := range subs {
			_, err := s.hub.Subscription(sub.Principal(), sub.ID())
			if gone := errors.Is(err, hub.ErrClosed); gone != (n == 0) {
				t.Errorf("subscription %d: %v", n, err)
			}
		}
	})
}

// TestAnotherLedger: when the ledger has become another one, streams end and begin again.
func TestAnotherLedger(t *testing.T) {
	onStage(t, func(s *stage) {
		s.book.begin("sess_a", "ann")
		sub := s.subscribe(person("ann", access.Listener))
		e := s.listen(sub, "")
		<-time.After(3 * time.Second) // a poll, so that the newest event is known
		s.book.mu.Lock()
		s.book.sessions, s.book.order, s.book.events, s.book.at = map[string]*shelf{}, nil, nil, map[string]cursor{}
		s.book.mu.Unlock()
		<-time.After(3 * time.Second)
		if err := e.ended(); !errors.Is(err, hub.ErrLedgerChanged) {
			t.Errorf("it ends with %v", err)
		}
		e = s.listen(sub, "")
		s.book.begin("sess_b", "ann")
		live, _ := e.told()
		s.want("anew", live, []string{"sess_b/1"})
		e.leave()
	})
}
