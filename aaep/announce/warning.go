package announce

import "time"

const (
	// warnBefore is how long before the end of the time to answer a listener is warned, and
	// warnLeast how much time every warning leaves to ask for more (WCAG 2.2.1: 20 seconds
	// at least; the second more is for the way to the ear).
	warnBefore = 30 * time.Second
	warnLeast  = 21 * time.Second
	// warnShort is the shortest time to answer that is warned of. To put a question that
	// has less is the warning itself: it says until when it can be answered.
	warnShort = 24 * time.Second
)

// WarnAt returns when the listener of a question is warned that the time to answer it runs
// out: half a minute before, in a short time later, but never with less than 20 seconds
// left. Zero where the time is too short for a warning of its own.
func WarnAt(asked, deadline time.Time) time.Time {
	left := deadline.Sub(asked)
	if left < warnShort {
		return time.Time{}
	}
	return deadline.Add(-min(warnBefore, warnLeast+(left-warnShort)/4))
}
