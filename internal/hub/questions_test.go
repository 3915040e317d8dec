package hub_test

import (
	"cmp"
	"slices"
	"testing"
	"testing/synctest"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/hub"
	"github.com/earshot-dev/earshot/internal/hub/access"
)

// TestQuestionPages: a page holds as many questions as are wanted, names what it leaves out, and shows those on it to its
// reader and no others.
func TestQuestionPages(t *testing.T) {
	onStage(t, func(s *stage) {
		s.book.begin("sess_a", "ann")
		s.book.begin("sess_b", "bob")
		for n := range 7 {
			s.book.ask("sess_a", n+1)
		}
		s.book.ask("sess_b", 8)
		s.book.mu.Lock()
		for i := range s.book.open {
			s.book.open[i].Unseen = true
		}
		s.book.mu.Unlock()
		ann := s.hub.As(person("ann", access.Approver))
		for _, one := range []struct {
			after, first, shown int
			more                bool
		}{{0, 1, 3, true}, {3, 4, 6, true}, {6, 7, 7, false}} {
			page, err := ann.Questions(s.t.Context(), hub.QuestionOptions{After: one.after, Limit: 3, Overview: true})
			if err != nil || page.Questions[0].Number != one.first || page.More != one.more || page.Total != 7 {
				t.Errorf("behind %d: %+v, %v", one.after, page, err)
			}
			if yours, waits := page.Waiting["sess_a"]; !yours || !waits || len(page.Waiting) != 1 {
				t.Errorf("behind %d: waiting %v", one.after, page.Waiting)
			}
			s.book.mu.Lock()
			if len(s.book.shown) != one.shown {
				t.Errorf("behind %d: %d questions are shown, want %d", one.after, len(s.book.shown), one.shown)
			}
			s.book.mu.Unlock()
		}
	})
}

// TestQuestionsInProportion: of many open questions, what is asked for is read in full and nothing else: one of them, a page,
// and of a listener who joins, those of the people whom they hear.
func TestQuestionsInProportion(t *testing.T) {
	onStage(t, func(s *stage) {
		s.book.begin("sess_a", "ann")
		s.book.begin("sess_b", "bob")
		for n := range 300 {
			s.book.ask("sess_b", 2*n+1)
		}
		for n := range 3 {
			s.book.ask("sess_a", 2*n+2)
		}
		s.book.mu.Lock()
		slices.SortFunc(s.book.open, func(a, b api.QuestionRow) int { return cmp.Compare(a.Number, b.Number) })
		s.book.mu.Unlock()
		ann, auditor := person("ann", access.Approver), person("aud", access.Auditor)
		for _, one := range []struct {
			name string
			who  access.Principal
			o    hub.QuestionOptions
			most int // one more than the page holds
		}{
			{"one", auditor, hub.QuestionOptions{After: 200, Limit: 1}, 2},
			{"a page", auditor, hub.QuestionOptions{Limit: 10, Overview: true}, 12},
			{"those of one person", ann, hub.QuestionOptions{Overview: true}, 3},
		} {
			if n := s.book.reads(func() {
				if _, err := s.hub.As(one.who).Questions(s.t.Context(), one.o); err != nil {
					t.Error(err)
				}
			}); n > one.most {
				t.Errorf("%s: %d questions are read; want at most %d", one.name, n, one.most)
			}
		}
		var joined *ear
		if n := s.book.reads(func() { joined = s.listen(s.subscribe(ann), "") }); n > 3 {
			t.Errorf("a listener joins: %d questions are read; want at most 3", n)
		}
		joined.leave()
	})
}

// reads counts the questions that are read in full meanwhile.
func (b *book) reads(fn func()) int {
	b.mu.Lock()
	before := b.full
	b.mu.Unlock()
	fn()
	synctest.Wait()
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.full - before
}
