package hub_test

import (
	"fmt"
	"testing"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/aaep/pacing"
	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/hub"
	"github.com/earshot-dev/earshot/internal/hub/access"
	"github.com/earshot-dev/earshot/utp"
)

// shown lists who was said to have been shown what, and forgets it.
func (s *stage) shown() []string {
	s.book.mu.Lock()
	defer s.book.mu.Unlock()
	var all []string
	for _, r := range s.book.shown {
		all = append(all, fmt.Sprintf("%s %s@%s", r.Token[len(r.Token)-1:], r.By, r.Surface))
	}
	s.book.shown = nil
	return all
}

// waits makes the questions of the book ones that nobody was shown.
func (s *stage) waits() {
	s.book.mu.Lock()
	defer s.book.mu.Unlock()
	for i := range s.book.open {
		s.book.open[i].Unseen = true
	}
}

// TestDeliveredIsShown: a question that is handed to somebody who can answer it is noted as
// shown, once, however many hear it; handed to anybody else it is not.
func TestDeliveredIsShown(t *testing.T) {
	onStage(t, func(s *stage) {
		s.book.begin("sess_a", "ann")
		var ears []*ear
		for _, who := range []access.Principal{
			person("ann", access.Listener), person("bob", access.Approver), person("ann", access.Operator), person("aud", access.Auditor),
		} {
			ears = append(ears, s.listen(s.subscribe(who), ""))
		}
		defer func() {
			for _, e := range ears {
				e.leave()
			}
		}()
		mute := s.subscribe(person("ann", access.Approver))
		no := false
		if _, _, err := mute.Renegotiate(s.t.Context(), aaep.SubscriptionRenegotiate{
			SubscriptionID: mute.ID(), Capabilities: aaep.Capabilities{SupportsConfirmationReply: &no, SupportsClarificationReply: &no},
		}); err != nil {
			t.Fatal(err)
		}
		quiet := s.listen(mute, "")
		defer quiet.leave()
		s.book.ask("sess_a", 1)
		s.waits()
		quiet.all()
		s.want("shown to who cannot answer", s.shown(), nil)

		first := s.listen(s.subscribe(person("ann", access.Approver)), "")
		defer first.leave()
		s.want("shown to a late joiner", s.shown(), []string{"1 ann@page"})
		second := s.listen(s.subscribe(access.Principal{Name: "carl", Roles: []access.Role{access.Approver}, Owners: []string{"ann"}, Surface: "braille"}), "")
		defer second.leave()
		s.book.ask("sess_a", 2)
		first.all()
		if got := s.shown(); len(got) != 1 || got[0] != "2 ann@page" && got[0] != "2 carl@braille" {
			t.Errorf("the kernel was told of %v; want question 2, once", got)
		}
	})
}

// TestAbleLater: a subscription that learns to answer has then been shown what is open.
func TestAbleLater(t *testing.T) {
	onStage(t, func(s *stage) {
		s.book.begin("sess_a", "ann")
		sub := s.subscribe(person("ann", access.Approver))
		agree := func(can bool) {
			_, rejected, err := sub.Renegotiate(s.t.Context(), aaep.SubscriptionRenegotiate{
				SubscriptionID: sub.ID(), Capabilities: aaep.Capabilities{SupportsConfirmationReply: &can},
			})
			if rejected != nil || err != nil {
				t.Fatal(rejected, err)
			}
		}
		agree(false)
		e := s.listen(sub, "")
		defer e.leave()
		s.book.ask("sess_a", 3)
		s.waits()
		e.all()
		s.want("it cannot answer", s.shown(), nil)
		agree(true)
		e.all()
		s.want("it can", s.shown(), []string{"3 ann@page"})
	})
}

// TestListedIsShown: anyone who lists questions that they can answer has been shown them.
func TestListedIsShown(t *testing.T) {
	onStage(t, func(s *stage) {
		s.book.begin("sess_a", "ann")
		s.book.begin("sess_b", "bob")
		s.book.ask("sess_a", 1)
		s.book.ask("sess_b", 2)
		s.book.ask("sess_a", 3)
		s.waits()
		s.book.mu.Lock()
		s.book.open[2].Parked = true
		s.book.mu.Unlock()
		read := func(who access.Principal, peek bool) (seen []int) {
			list, err := s.hub.As(who).Questions(s.t.Context(), hub.QuestionOptions{Peek: peek})
			if err != nil {
				t.Fatal(err)
			}
			for _, q := range list.Questions {
				if !q.Unseen {
					seen = append(seen, q.Number)
				}
			}
			return seen
		}
		list := func(who access.Principal) []int { return read(who, false) }
		read(person("ann", access.Approver), true)
		s.want("only looked at", s.shown(), nil)
		for _, who := range []access.Principal{person("ann", access.Listener), person("op", access.Operator), person("aud", access.Auditor)} {
			list(who)
			s.want("listed by a "+string(who.Roles[0]), s.shown(), nil)
		}
		if seen := list(person("ann", access.Approver)); len(seen) != 1 || seen[0] != 1 {
			t.Errorf("the list says that %v were seen; want the first", seen)
		}
		s.want("listed by an approver", s.shown(), []string{"1 ann@page"})
		list(person("ann", access.Approver))
		s.want("listed once more", s.shown(), nil)
	})
}

// TestShownInVain: a word that the kernel refuses is said again with the next list.
func TestShownInVain(t *testing.T) {
	onStage(t, func(s *stage) {
		s.book.begin("sess_a", "ann")
		s.book.ask("sess_a", 1)
		s.waits()
		s.book.answer = &api.Fault{Code: utp.CodeParked}
		for range 2 {
			s.waits()
			if _, err := s.hub.As(person("ann", access.Approver)).Questions(s.t.Context(), hub.QuestionOptions{}); err != nil {
				t.Error(err)
			}
			s.want("listed", s.shown(), []string{"1 ann@page"})
		}
	})
}

// TestShownOnceByEachProcess: the memory of a hub is its own; what it forgets may be said again.
func TestShownOnceByEachProcess(t *testing.T) {
	onStage(t, func(s *stage) {
		s.book.begin("sess_a", "ann")
		s.book.ask("sess_a", 1)
		for range 2 {
			s.waits()
			other := hub.Open(hub.Options{Conn: s.book, Rights: s.badges, Offer: pacing.Offer{Producer: aaep.Producer{AgentID: "earshot"}}})
			for range 2 {
				s.waits()
				if _, err := other.As(person("ann", access.Approver)).Questions(s.t.Context(), hub.QuestionOptions{}); err != nil {
					t.Error(err)
				}
			}
			s.want("listed twice", s.shown(), []string{"1 ann@page"})
		}
	})
}

// TestPrefer: how long questions stay open is each person's own wish, and only an approver's.
func TestPrefer(t *testing.T) {
	onStage(t, func(s *stage) {
		ann, day := s.hub.As(person("ann", access.Approver)), 86_400
		if a, err := ann.Prefer(s.t.Context(), api.PreferRequest{Person: "bob", Preferences: api.Preferences{AnswerSeconds: &day}}); err != nil || *a.AnswerSeconds != day || a.Person != "ann" {
			t.Errorf("%+v, %v", a, err)
		}
		if a, err := ann.Prefer(s.t.Context(), api.PreferRequest{}); err != nil || *a.AnswerSeconds != day {
			t.Errorf("%+v, %v", a, err)
		}
		for name, q := range map[string]api.Preferences{"the time to answer": {AnswerSeconds: &day}, "the time to take a yes back": {UndoSeconds: new(20)}} {
			if _, err := s.hub.As(person("ann", access.Listener)).Prefer(s.t.Context(), api.PreferRequest{Preferences: q}); err == nil {
				t.Error("a listener has set " + name)
			}
		}
		terse := "terse"
		heard, err := s.hub.As(person("ann", access.Listener)).Prefer(s.t.Context(), api.PreferRequest{Preferences: api.Preferences{Verbosity: &terse}})
		if err != nil || api.Chosen(heard.Verbosity) != terse || *heard.AnswerSeconds != day {
			s.t.Errorf("a listener sets how things are told: %+v, %v", heard, err)
		}
		if _, err := s.hub.As(person("ann", access.Agent)).Prefer(s.t.Context(), api.PreferRequest{}); err == nil {
			t.Error("an agent has asked for it")
		}
	})
}

// noticed lists of which yeses the kernel was told that their surface heard of them, and forgets it.
func (s *stage) noticed() []string {
	s.book.mu.Lock()
	defer s.book.mu.Unlock()
	var all []string
	for _, r := range s.book.noticed {
		all = append(all, fmt.Sprintf("%d %s@%s %s", r.Question, r.By, r.Surface, r.Credential))
		if want := fmt.Sprintf("rpl_%032d", r.Question); r.Token != want {
			s.t.Errorf("the yes to question %d is named by the token %q; want %q", r.Question, r.Token, want)
		}
	}
	s.book.noticed = nil
	return all
}

// TestNoticed: that a yes was told of is noted when its event has been handed to the surface that gave
// it, and to no other one.
func TestNoticed(t *testing.T) {
	onStage(t, func(s *stage) {
		s.book.begin("sess_a", "ann")
		var ears []*ear
		for _, who := range []access.Principal{
			person("ann", access.Approver), {Name: "ann", Roles: []access.Role{access.Approver}, Surface: "phone", Credential: "login:1"}, person("bob", access.Approver, access.Operator),
		} {
			ears = append(ears, s.listen(s.subscribe(who), ""))
		}
		defer func() {
			for _, e := range ears {
				e.leave()
			}
		}()
		tell := func(number int, how, surface string, want ...string) {
			s.book.answered("sess_a", number, how, "ann", surface)
			for _, e := range ears {
				e.all()
			}
			s.want(how+" on "+surface, s.noticed(), want)
		}
		tell(1, "accepted", "braille")
		tell(2, "accepted", "page", "2 ann@page ")
		tell(3, "accepted", "phone", "3 ann@phone login:1")
		tell(4, "rejected", "page")
	})
}
