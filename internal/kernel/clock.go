package kernel

import (
	"time"

	"github.com/earshot-dev/earshot/internal/kernel/consent"
	"github.com/earshot-dev/earshot/internal/kernel/turn"
)

// QuestionEnds is when an open question's time is over, on the wall clock as it stands now: the
// earlier of the two clocks, for the wall clock may have been set since it was asked. After
// a reboot the other clock cannot testify, and the question keeps its deadline by the wall.
func (r Record) QuestionEnds(q consent.Question, now turn.Timestamp) time.Time {
	end := q.Deadline()
	for _, p := range r.Presented {
		if p.Question != q.Number || p.Until.IsZero() || !p.Until.SameBoot(now) {
			continue
		}
		if other := now.Wall.Add(p.Until.SinceBoot - now.SinceBoot); other.Before(end) {
			end = other
		}
	}
	return end
}

// at is the present as a question's own time has it: never before its deadline once that
// has passed on either clock.
func (s *step) at(q consent.Question) time.Time {
	if end := q.Deadline(); s.now.Wall.Before(end) && !s.now.Wall.Before(s.rec.QuestionEnds(q, s.now)) {
		return end
	}
	return s.now.Wall
}
