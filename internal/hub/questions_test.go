package hub_test

import (
	"testing"

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
			page, err := ann.Questions(s.t.Context(), hub.QuestionOptions{After: one.after, Limit: 3})
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
