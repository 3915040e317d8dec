package consent

import (
	"slices"
	"time"
)

// Grace is how long after the asking a question may first be shown while its time still counts
// from the asking. Asking again for so short a delay would only be noise.
const Grace = 5 * time.Second

// Present says that a surface which can send the answer has shown the question. The person's
// time begins then. Within [Grace] of the asking, only Unseen changes. Later, the question is
// asked again with its own length and a new token, which a standard client understands. That
// is neither an extension nor an answer.
func (q Question) Present(now time.Time, newToken string) (Question, Outcome) {
	if !q.Unseen && !q.Waiting && q.State == Open {
		return q, ignored(NotWaiting)
	}

	if reason := q.mayShow(now, newToken); reason != "" {
		return q, ignored(reason)
	}

	if q.Unseen && now.Before(q.Deadline()) && now.Sub(q.AskedAt) <= Grace {
		q.Unseen = false

		return q, changed(Presented)
	}

	shown := q.reissue(now, newToken, q.Length)
	shown.Unseen, shown.Waiting = false, false
	shown.ClockFrom = shown.AskedAt

	return shown, changed(Presented)
}

// Await asks a question again that nobody has seen within [Grace]. It then waits up to
// [MaxSeconds] until somebody sees it: [Question.Present] starts the person's time.
func (q Question) Await(now time.Time, newToken string) (Question, Outcome) {
	switch {
	case q.State == Open && !q.Unseen:
		return q, ignored(NotWaiting)
	case q.State == Open && now.Sub(q.AskedAt) < Grace:
		return q, ignored(NotDue)
	}

	if reason := q.mayShow(now, newToken); reason != "" {
		return q, ignored(reason)
	}

	waiting := q.reissue(now, newToken, MaxSeconds)
	waiting.Unseen, waiting.Waiting = false, true

	return waiting, changed(Unshown)
}

// ShowBy returns when an unseen question needs [Question.Await]; zero for any other.
func (q Question) ShowBy() time.Time {
	if q.State != Open || !q.Unseen {
		return time.Time{}
	}

	return q.AskedAt.Add(Grace)
}

// mayShow is mayReissue, except that the time does not run out before the person has seen the
// question: it is retained as long as a question can be.
func (q Question) mayShow(now time.Time, token string) Reason {
	last := q.Deadline()
	if q.Unseen {
		last = q.retainedUntil()
	}

	switch {
	case q.State != Open:
		return NotOpen
	case !now.Before(last):
		return TooLate
	case !q.unused(token):
		return BadToken
	default:
		return ""
	}
}

// retainedUntil returns the end of a question that was never shown.
func (q Question) retainedUntil() time.Time { return q.ClockFrom.Add(MaxSeconds * time.Second) }

// unused reports whether a token is well-formed and this question has never had it.
func (q Question) unused(token string) bool {
	return isID("rpl_", token) && token != q.Token && !slices.Contains(q.SpentTokens, token)
}
