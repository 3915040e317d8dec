package kernel

import (
	"time"

	"github.com/earshot-dev/earshot/internal/kernel/consent"
)

// at returns the current time for a question: never before its deadline once that has passed on either
// clock.
func (s *step) at(q consent.Question) time.Time {
	if end := q.Deadline(); s.now.Wall.Before(end) && !s.now.Wall.Before(s.rec.QuestionEnds(q, s.now)) {
		return end
	}
	return s.now.Wall
}
