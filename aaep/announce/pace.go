package announce

import (
	"strings"
	"time"
)

// Pace is how much a listener is told.
type Pace string

// The paces. Whatever the pace, what interrupts is told at once, and nothing goes untold: what is too
// much is counted, and told in one sentence.
const (
	PaceUsual  Pace = ""       // as much as is spoken in the time it takes to happen
	PaceSlower Pace = "slower" // a third of that
	PaceQuiet  Pace = "quiet"  // only questions, what interrupts, and the end
)

// budget is how many words may be said beside what has to be: so many at once, and so many in a second.
type budget struct {
	burst, rate float64
}

func (p Pace) budget() budget {
	switch p {
	case PaceSlower:
		return budget{burst: 25, rate: 0.8}
	case PaceQuiet:
		return budget{}
	case PaceUsual:
	}
	return budget{burst: 75, rate: 2.5} // the rate of calm speech
}

// enough is how many words have to be left before what was held is summed up.
const enough = 12

// purse is what is left of the budget.
type purse struct {
	words float64
	at    time.Time
}

// left fills the purse up to now.
func (a *Announcer) left(now time.Time) float64 {
	b := a.preferences.Pace.budget()
	if a.purse.at.IsZero() {
		a.purse = purse{words: b.burst, at: now}
	}
	if since := now.Sub(a.purse.at); since > 0 {
		a.purse.words += since.Seconds() * b.rate
		a.purse.at = now
	}
	a.purse.words = min(a.purse.words, b.burst)
	return a.purse.words
}

// spend takes what is said out of the purse, which may owe some words then.
func (a *Announcer) spend(now time.Time, text string) {
	a.purse.words = max(a.left(now)-float64(wordCount(text)), -a.preferences.Pace.budget().burst)
}

func wordCount(text string) int { return len(strings.Fields(text)) }

// Pace is how much is told at present.
func (a *Announcer) Pace() Pace { return a.preferences.Pace }

// SetPace changes how much is told, and says what holds from now on.
func (a *Announcer) SetPace(p Pace, now time.Time) Announcement {
	a.preferences.Pace = p
	a.purse = purse{}
	n := Announcement{Session: "", Kind: KindOther, Priority: Polite, Language: english, At: now}
	switch p {
	case PaceSlower:
		n.Text = "Slower: fewer steps are told one by one, and the others are summed up."
	case PaceQuiet:
		n.Text, n.Offer = "Quiet: only questions, what is urgent, and the end are told.", OfferFaster
	case PaceUsual:
		n.Text = "Back to the usual pace."
	}
	n.Text = join(n.Text, a.hint(n.Offer, 0))
	return a.again(n, "pace")
}

// Slower is the pace below this one, Faster the one above it.
func (p Pace) Slower() Pace {
	if p == PaceUsual {
		return PaceSlower
	}
	return PaceQuiet
}

// Faster is the pace above this one.
func (p Pace) Faster() Pace {
	if p == PaceQuiet {
		return PaceSlower
	}
	return PaceUsual
}
