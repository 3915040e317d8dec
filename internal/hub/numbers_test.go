package hub_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/internal/hub"
	"github.com/earshot-dev/earshot/internal/hub/access"
)

// TestNumbers: who asks for numbers gets 0 with the beginning of a session and one more with each event that follows, whatever its terms leave out,
// also on a stream that resumes after an event, and as somebody who comes late; none of a session whose beginning it was not sent, and none without
// asking (SEQ-40 to SEQ-42, C-42).
func TestNumbers(t *testing.T) {
	onStage(t, func(s *stage) {
		early := s.listen(s.subscribeNumbered(nil), "")
		quiet := s.subscribeNumbered(&aaep.EventFilters{Exclude: []string{"aaep:agent.state.*"}})
		filtered := s.listen(quiet, "")
		middle := s.listen(s.subscribeNumbered(&aaep.EventFilters{Exclude: []string{"aaep:agent.session.*"}}), "")
		without := s.listen(s.subscribe(person("ann", access.Listener)), "")
		s.book.begin("sess_a", "ann")
		s.book.begin("sess_b", "ann")
		s.book.move("sess_a", 5)
		s.book.ask("sess_a", 7)
		s.book.move("sess_b", 2)
		s.numbers("early", early, "sess_a", 0, 1, 2, 3, 4, 5, 6)
		s.numbers("early", early, "sess_b", 0, 1, 2)
		s.numbers("filtered", filtered, "sess_a", 0, 1)
		s.numbers("without the beginning", middle, "sess_a", -1, -1, -1, -1, -1, -1)
		s.numbers("without asking", without, "sess_b", -1, -1, -1)

		late := s.subscribeNumbered(nil)
		e := s.listen(late, "")
		s.numbers("late", e, "sess_a", 0, 1, 2) // the beginning, the state and the question
		s.book.move("sess_a", 2)
		s.numbers("late", e, "sess_a", 0, 1, 2, 3, 4)
		heard := e.all()
		e.leave()
		again := s.listen(late, heard[len(heard)-2].EventID)
		s.book.move("sess_a", 1)
		s.numbers("gone on", again, "sess_a", 4, 5)
		again.leave()
		begun := s.listen(late, "")
		s.numbers("begun again", begun, "sess_a", 0, 1, 2)
		for _, e := range []*ear{early, filtered, middle, without, begun} {
			e.leave()
		}
	})
}

func (s *stage) subscribeNumbered(filters *aaep.EventFilters) *hub.Subscription {
	s.t.Helper()
	sub, rejected, err := s.hub.Subscribe(s.t.Context(), person("ann", access.Listener), aaep.SubscriptionRequest{
		AAEPVersion: aaep.Version, SubscriberID: "test", Capabilities: aaep.Capabilities{
			EventFilters: filters, Extensions: map[string]jsontext.Value{"earshot": jsontext.Value(`{"observe_questions":true,"numbers":true}`)},
		},
	})
	if rejected != nil || err != nil {
		s.t.Fatalf("not subscribed: %+v, %v", rejected, err)
	}
	if got := sub.Accepted().HonoredCapabilities.Extensions["earshot"].String(); got != `{"observe_questions":true,"numbers":true}` {
		s.t.Errorf("honoured %s", got)
	}
	return sub
}

// numbers compares the numbers of what came of a session; -1 is none.
func (s *stage) numbers(who string, e *ear, session string, want ...int64) {
	s.t.Helper()
	var got []int64
	for _, d := range e.all() {
		event, err := aaep.DecodeEvent(d.Raw)
		if err != nil {
			s.t.Errorf("%s: %v in %s", who, err, d.Raw)
		}
		if d.Session != session {
			continue
		}
		if n := int64(-1); event.Sequence == nil {
			got = append(got, n)
		} else {
			got = append(got, *event.Sequence)
		}
	}
	if !slices.Equal(got, want) {
		s.t.Errorf("%s, %s: numbers %s, expected %s", who, session, fmt.Sprint(got), fmt.Sprint(want))
	}
}

// TestNumbersOff: who switches numbers off has none any more of the sessions under way, also after they are switched on again and after a
// resumption: what was not counted would be missing in the count. A session that begins afterwards is counted.
func TestNumbersOff(t *testing.T) {
	onStage(t, func(s *stage) {
		sub := s.subscribeNumbered(nil)
		e := s.listen(sub, "")
		s.book.begin("sess_a", "ann")
		s.book.move("sess_a", 2)
		s.numbers("counted", e, "sess_a", 0, 1, 2)
		s.numbering(sub, false)
		s.book.move("sess_a", 3)
		s.numbers("switched off", e, "sess_a", 0, 1, 2, -1, -1, -1)
		s.numbering(sub, true)
		s.book.move("sess_a", 2)
		s.book.begin("sess_b", "ann")
		s.book.move("sess_b", 1)
		s.numbers("switched on", e, "sess_a", 0, 1, 2, -1, -1, -1, -1, -1)
		s.numbers("switched on", e, "sess_b", 0, 1)
		heard := e.all()
		for _, row := range []struct {
			name, after string
			a, b        []int64
		}{
			{"behind a counted one", heard[1].EventID, []int64{-1, -1, -1, -1, -1, -1}, []int64{0, 1}},
			{"behind the last", heard[len(heard)-1].EventID, nil, nil},
		} {
			e.leave()
			e = s.listen(sub, row.after)
			s.numbers(row.name, e, "sess_a", row.a...)
			s.numbers(row.name, e, "sess_b", row.b...)
		}
		e.leave()
	})
}

// numbering renegotiates whether a subscription is numbered.
func (s *stage) numbering(sub *hub.Subscription, on bool) {
	s.t.Helper()
	_, rejected, err := sub.Renegotiate(s.t.Context(), aaep.SubscriptionRenegotiate{SubscriptionID: sub.ID(), Capabilities: aaep.Capabilities{
		Extensions: map[string]jsontext.Value{"earshot": jsontext.Value(fmt.Sprintf(`{"observe_questions":true,"numbers":%t}`, on))},
	}})
	if rejected != nil || err != nil {
		s.t.Fatalf("not renegotiated: %+v, %v", rejected, err)
	}
}
