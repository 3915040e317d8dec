package consent

import "time"

// MaxExtensions bounds the record of spent tokens. A person runs into
// [MaxSeconds] first, unless the question gives less than a minute and a half.
const MaxExtensions = 1000

// Extend gives a person more time: the question is asked again under the same
// number and digest, with a new token and a deadline later by the original
// length, at most [MaxSeconds] after the clock started. Rounding to the whole
// seconds of the wire is in the person's favour. The old token is dead. It can
// be done at least ten times unless MaxSeconds comes first.
func (q Question) Extend(now time.Time, newToken string) (Question, Outcome) {
	if reason := q.mayReissue(now, newToken); reason != "" {
		return q, ignored(reason)
	}

	now = milliseconds(now)
	left := q.Deadline().Sub(now) + time.Duration(q.Length)*time.Second
	most := q.ClockFrom.Add(MaxSeconds * time.Second).Sub(now)
	// A clock that was set back must not make a timeout that the wire cannot carry.
	seconds := min(wholeSecondsUp(left), int(most/time.Second), MaxSeconds)

	longer := q.reissue(now, newToken, seconds)
	if q.Extensions >= MaxExtensions || !longer.Deadline().After(q.Deadline()) {
		return q, ignored(NoMoreTime)
	}

	longer.Extensions++
	longer.Unseen = false // anyone who asks for more time has seen it

	return longer, changed(Extended)
}

func (q Question) mayReissue(now time.Time, token string) Reason {
	switch {
	case q.State != Open:
		return NotOpen
	case !now.Before(q.Deadline()):
		return TooLate
	case !q.unused(token):
		return BadToken
	default:
		return ""
	}
}

func wholeSecondsUp(d time.Duration) int { return int((d + time.Second - 1) / time.Second) }
