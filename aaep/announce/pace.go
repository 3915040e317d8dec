package announce

import (
	"strings"
	"time"
)

// Pace is how much a listener hears.
type Pace string

// The paces. At every pace, whatever interrupts is announced at once, and nothing is dropped silently: what is too much
// is counted, and summarised in one sentence.
const (
	PaceUsual  Pace = ""       // as much as can be spoken while it happens
	PaceSlower Pace = "slower" // a third of that
	PaceQuiet  Pace = "quiet"  // only questions, whatever interrupts, and the end
)

// budget limits the words that are not required: a number at once, and a number per second.
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

// enough is how many words must be available before what was held back is summarised.
const enough = 12

// purse holds the words that are left of the budget.
type purse struct {
	words float64
	at    time.Time
}

// left adds the words that have accrued up to now.
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

// spend subtracts the words of an announcement; the balance may become negative.
func (a *Announcer) spend(now time.Time, text string) {
	a.purse.words = max(a.left(now)-float64(wordCount(text)), -a.preferences.Pace.budget().burst)
}

func wordCount(text string) int { return len(strings.Fields(text)) }

// Pace returns the current pace.
func (a *Announcer) Pace() Pace { return a.preferences.Pace }

// SetPace changes the pace, and returns an announcement of the new one.
func (a *Announcer) SetPace(p Pace, now time.Time) Announcement {
	a.preferences.Pace = p
	a.purse = purse{}
	n := Announcement{Session: "", Kind: KindOther, Priority: Polite, At: now}
	switch p {
	case PaceSlower:
		n.Text = "Slower: fewer single steps; the others are summed up."
	case PaceQuiet:
		n.Text, n.Offer = "Quiet: only questions, urgent news and the end.", OfferFaster
	case PaceUsual:
		n.Text = "Back to the usual pace."
	}
	n.Text, n.Language = a.own(join(n.Text, a.hint(n.Offer, 0)))
	return a.again(n, "pace")
}

// Slower returns the pace below this one.
func (p Pace) Slower() Pace {
	if p == PaceUsual {
		return PaceSlower
	}
	return PaceQuiet
}

// Faster returns the pace above this one.
func (p Pace) Faster() Pace {
	if p == PaceQuiet {
		return PaceSlower
	}
	return PaceUsual
}
