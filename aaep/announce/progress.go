package announce

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/aaep/legible"
)

// progressTime is the least time between two progress announcements of one session.
const progressTime = 5 * time.Second

// reportedProgress is what was last said about the progress of a session.
type reportedProgress struct {
	percent int // of the whole, rounded down; -1 unknown
	text    string
	at      time.Time
}

// progress tells how far the work is, every ten percent at most. Words without a number
// are told when they change; at normal urgency they are news of their own.
func (a *Announcer) progress(s *session, e aaep.Event, p aaep.ProgressUpdated) []saying {
	if left, counted := aaep.Read(e.Extensions[aaep.PrefixEarshot]).Whole("left_seconds"); counted {
		return a.countdown(e, p, time.Duration(left)*time.Second)
	}
	now := reportedProgress{percent: percent(p.Progress), at: e.Time}
	now.text = progressText(p, now.percent, a.preferences.Verbosity == aaep.VerbosityTerse)
	w := a.framed(e, now.text, p.SummaryTerse, p.SummaryNormal, p.SummaryDetailed)
	w.kind = KindProgress
	news := p.Progress.Percent == nil && p.Progress.Step == nil && urgency(e) != aaep.UrgencyBackground
	switch urgency(e) {
	case aaep.UrgencyCritical:
		w.kind = KindState
		return one(w)
	case aaep.UrgencyBackground, aaep.UrgencyNormal:
	}
	if now.text == s.progress.text {
		return nil
	}
	if news { // said beside the work, while a question is open
		w = a.text(e, p.SummaryTerse, first(p.SummaryNormal, p.Progress.Description), p.SummaryDetailed)
		w.kind = KindState
		return one(w)
	}
	soon := !s.progress.at.IsZero() && now.at.Sub(s.progress.at).Abs() < progressTime
	if soon || now.percent >= 0 && !now.step(s.progress) {
		return nil
	}
	s.progress = now
	return one(w)
}

// step reports whether a tenth has been reached since something was said, or the work
// has begun again.
func (t reportedProgress) step(last reportedProgress) bool {
	if last.at.IsZero() {
		return t.percent >= 10
	}
	return t.percent/10 != last.percent/10 && t.percent > 0
}

// percent rounds down, so that nothing is whole before it is done; -1 means unknown.
func percent(p aaep.Progress) int {
	switch {
	case p.Percent != nil && !math.IsNaN(*p.Percent):
		return int(min(max(*p.Percent, 0), 100))
	case p.Step != nil && p.TotalSteps != nil && *p.TotalSteps > 0:
		return int(min(max(float64(*p.Step-1)/float64(*p.TotalSteps)*100, 0), 100))
	}
	return -1
}

func progressText(p aaep.ProgressUpdated, percent int, terse bool) string {
	about := sentence(p.Progress.Description, english)
	done := ""
	switch {
	case p.Progress.Percent != nil && percent >= 0:
		done = fmt.Sprintf("%d percent done.", percent)
	case p.Progress.Step != nil && p.Progress.TotalSteps != nil:
		done = fmt.Sprintf("Step %s of %s.", legible.Grouped(*p.Progress.Step), legible.Grouped(*p.Progress.TotalSteps))
	case p.Progress.Step != nil:
		done = fmt.Sprintf("Step %s.", legible.Grouped(*p.Progress.Step))
	}
	if terse && done != "" || strings.HasPrefix(about, strings.TrimSuffix(done, ".")) && done != "" {
		return done
	}
	return first(join(done, legible.Capital(about)), sentence(first(p.SummaryNormal, p.SummaryTerse), english))
}
