package announce

import (
	"time"

	"github.com/earshot-dev/earshot/aaep"
)

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

// oneMoment is how close two warnings about one question have to be for the second to be left out.
const oneMoment = 10 * time.Second

// countdown warns that half, or a tenth, of the time to answer is left (CONF-73). It says nothing of a question that was
// answered or is not known, of one with so little time that the warning would take it up, nor if it comes late.
func (a *Announcer) countdown(e aaep.Event, p aaep.ProgressUpdated, left time.Duration) []saying {
	q := a.openQuestion(e.SessionID, number(aaep.Read(e.Extensions[aaep.PrefixEarshot])), "")
	if q == nil || left < warnLeast-time.Second || a.now.Sub(q.warned) < oneMoment || (q.Deadline.Sub(a.now)-left).Abs() > oneMoment {
		return nil
	}
	if q.warnAt.Sub(a.now) < oneMoment {
		q.warnAt = time.Time{}
	}
	w := a.text(e, p.SummaryTerse, first(p.SummaryNormal, p.Progress.Description), p.SummaryDetailed)
	w.kind, w.priority, w.question, w.offer = KindWarning, Assertive, q.Number, OfferMoreTime
	hint := a.hint(OfferMoreTime, q.Number)
	w.text = join(w.text, first(a.in(w.language, hint), hint))
	return one(w)
}
