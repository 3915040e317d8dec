package consent

import "time"

// longest is the longest time to answer, in seconds, that is not counted down (CONF-73).
const longest = 60

// shares are the parts of its time, in tenths, after which a person is told how much of it is left.
var shares = [...]int{5, 9}

// WarnAt returns when the person is next told how much time is left: after half of it, and when a tenth is
// left. Zero if that is not again, or if nobody has seen the question, whose time does not run then.
func (q Question) WarnAt() time.Time {
	if q.State != Open || q.Unseen || q.Waiting || q.Timeout <= longest || q.Warned < 0 || q.Warned >= len(shares) {
		return time.Time{}
	}

	return q.AskedAt.Add(time.Duration(q.Timeout*shares[q.Warned]) * time.Second / 10)
}

// Warn says that the person is told now. Of two that are due at once only the later counts. It returns
// false where nothing is due, or the time is over.
func (q Question) Warn(now time.Time) (Question, bool) {
	warned := q
	for at := warned.WarnAt(); !at.IsZero() && !now.Before(at); at = warned.WarnAt() {
		warned.Warned++
	}

	return warned, warned.Warned != q.Warned && now.Before(q.Deadline())
}
