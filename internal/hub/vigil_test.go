package hub_test

import (
	"strings"
	"testing"
	"time"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/internal/hub"
	"github.com/earshot-dev/earshot/internal/hub/access"
)

// decided lists the questions whose default was asked for within 100 ms of now, and forgets them.
func (s *stage) decided() []string {
	began := time.Now()
	<-time.After(100 * time.Millisecond)
	s.book.mu.Lock()
	defer s.book.mu.Unlock()
	var all []string
	for _, one := range s.book.absents {
		number, at, _ := strings.Cut(one, " ")
		if at != began.Format(time.StampMilli) {
			s.t.Errorf("question %s was decided at %s, expected %s", number, at, began.Format(time.StampMilli))
		}
		all = append(all, number)
	}
	s.book.absents = nil
	return all
}

// able changes whether a subscriber answers.
func (s *stage) able(sub *hub.Subscription, confirms bool) {
	s.t.Helper()
	_, rejected, err := sub.Renegotiate(s.t.Context(), aaep.SubscriptionRenegotiate{
		SubscriptionID: sub.ID(), Capabilities: aaep.Capabilities{SupportsConfirmationReply: &confirms},
	})
	if rejected != nil || err != nil {
		s.t.Fatal(rejected, err)
	}
}

// TestNobodyDecides: where policy decides, a question gets its default as soon as nobody who is connected can answer it: when it
// is asked of nobody, of those who cannot answer, and when the last who can has gone, in whichever way
// (CONF-82, CONF-83, C-66).
func TestNobodyDecides(t *testing.T) {
	t.Parallel()
	ann := person("ann", access.Approver)
	for name, gone := range map[string]func(s *stage, sub *hub.Subscription, e *ear){
		"nobody was there":        func(_ *stage, _ *hub.Subscription, e *ear) { e.leave() },
		"the connection was lost": func(_ *stage, _ *hub.Subscription, e *ear) { e.leave() },
		"the subscription closed": func(_ *stage, sub *hub.Subscription, _ *ear) { sub.Close() },
		"it answers no more":      func(s *stage, sub *hub.Subscription, _ *ear) { s.able(sub, false) },
		"rights were taken away":  func(s *stage, _ *hub.Subscription, _ *ear) { s.badges.revoke("ann") },
		"only a listener now":     func(s *stage, _ *hub.Subscription, _ *ear) { s.badges.promote("ann", access.Listener) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			onStageOf(t, true, func(s *stage) {
				s.book.begin("sess_a", "ann")
				sub := s.subscribe(ann)
				e := s.listen(sub, "")
				defer e.leave()
				defer s.listen(s.subscribe(person("ann", access.Listener)), "").leave()
				defer s.listen(s.subscribe(person("bob", access.Approver)), "").leave()
				defer s.listen(s.subscribe(person("aud", access.Auditor)), "").leave()
				if name == "nobody was there" {
					gone(s, sub, e)
				}
				s.book.ask("sess_a", 1)
				s.book.ask("sess_a", 2)
				s.book.ask("sess_a", 3)
				if name != "nobody was there" {
					s.want("while ann listens", s.decided(), nil)
					<-time.After(time.Hour)
					s.want("an hour later", s.decided(), nil)
					gone(s, sub, e)
				}
				s.want("decided", s.decided(), []string{"1", "2", "3"})
			})
		})
	}
}

// TestSomebodyIsLeft: as long as one of those who can answer is connected, nothing is decided (CONF-82); a stream in place of another
// is no loss.
func TestSomebodyIsLeft(t *testing.T) {
	t.Parallel()
	onStageOf(t, true, func(s *stage) {
		s.book.begin("sess_a", "ann")
		sub := s.subscribe(person("ann", access.Approver))
		first, other := s.listen(sub, ""), s.listen(s.subscribe(person("ann", access.Approver)), "")
		s.book.ask("sess_a", 1)
		second := s.listen(sub, "")
		first.leave()
		s.want("after another stream", s.decided(), nil)
		other.leave()
		s.want("after the first of two", s.decided(), nil)
		second.leave()
		s.want("after the last", s.decided(), []string{"1"})
	})
}

// TestDecidedAfterAnOutage: what the kernel could not be told of is decided once it answers; a question of a turn that is not
// under way is left.
func TestDecidedAfterAnOutage(t *testing.T) {
	t.Parallel()
	onStageOf(t, true, func(s *stage) {
		s.book.begin("sess_a", "ann")
		s.book.mu.Lock()
		s.book.away = true
		s.book.mu.Unlock()
		s.book.ask("sess_a", 1)
		s.book.ask("sess_a", 2)
		<-time.After(time.Minute)
		s.book.mu.Lock()
		s.book.away, s.book.open[1].Parked = false, true
		s.book.mu.Unlock()
		<-time.After(time.Minute)
		s.book.mu.Lock()
		defer s.book.mu.Unlock()
		if len(s.book.absents) != 1 || s.book.absents[0][0] != '1' {
			t.Errorf("decided: %v", s.book.absents)
		}
	})
}

// TestNobodyWaits: by default a question waits, whoever comes and goes.
func TestNobodyWaits(t *testing.T) {
	onStage(t, func(s *stage) {
		s.book.begin("sess_a", "ann")
		e := s.listen(s.subscribe(person("ann", access.Approver)), "")
		s.book.ask("sess_a", 1)
		e.leave()
		s.book.ask("sess_a", 2)
		<-time.After(time.Hour)
		s.want("decided", s.decided(), nil)
	})
}
