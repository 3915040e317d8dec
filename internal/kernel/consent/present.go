package consent

import (
	"slices"
	"time"
)

// Grace is how long after the asking a question may first be shown and still run from
// the asking: to ask it again for so little would only be noise.
const Grace = 5 * time.Second

// Present says that a surface which can take the answer has shown the question. A
// person's time begins there: within [Grace] of the asking nothing changes but that it
// is known; later, it is asked again with its own length and a new token, which is the
// form that a standard client understands. That is not an extension, and it answers nothing.
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

// Await takes back a question that nobody has been shown within [Grace], and asks it
// again to wait for [MaxSeconds] until somebody is: [Question.Present] then starts the
// person's time.
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

// ShowBy is when an unseen question wants [Question.Await]; zero for any other.
func (q Question) ShowBy() time.Time {
	if q.State != Open || !q.Unseen {
		return time.Time{}
	}

	return q.AskedAt.Add(Grace)
}

// mayShow is mayReissue, but that nobody's time runs out who has not been shown the
// question: it is kept for them as long as a question can be.
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

// retainedUntil is the end of a question that was never shown.
func (q Question) retainedUntil() time.Time { return q.ClockFrom.Add(MaxSeconds * time.Second) }

// unused is true for a well-formed token that this question has never had.
func (q Question) unused(token string) bool {
	return tokenPattern.MatchString(token) && token != q.Token && !slices.Contains(q.SpentTokens, token)
}
