package announce

import (
	"time"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/aaep/legible"
)

const (
	// lagTold is how late a text is before it is said, and lagOver how late it is no longer worth a word.
	lagTold = 20 * time.Second
	lagOver = 5 * time.Second
)

// lag is how far a text that is announced as it comes is behind what happens: what cannot be merged may come faster than
// the terms let it through.
type lag struct {
	least time.Duration // from the time of an event until it was here, at the least: what the clocks differ by
	known bool
	told  time.Duration // 0 while nothing is said to be behind
}

// measure takes an event in, and returns how much later it came than any did.
func (l *lag) measure(now time.Time, e aaep.Event) time.Duration {
	took := now.Sub(e.Time)
	if !l.known || took < l.least {
		l.known, l.least = true, took
	}
	return took - l.least
}

// late says how far the text is behind, once, again when that has doubled, and when it is over.
func (a *Announcer) late(now time.Time, s *session, e aaep.Event) []Announcement {
	if e.Time.IsZero() {
		return nil
	}
	by := a.lag.measure(now, e)
	if _, text := e.Payload.(aaep.OutputStreaming); !text || a.replay || !a.asItComes() {
		return nil
	}
	var text string
	switch {
	case by >= lagTold && by >= 2*a.lag.told:
		a.lag.told = by
		text = "This text is " + legible.Duration(by.Truncate(time.Second)) + " behind."
	case a.lag.told > 0 && by < lagOver:
		a.lag.told = 0
		text = "The text is no longer behind."
	default:
		return nil
	}
	text, language := a.own(text)
	n := Announcement{
		ID: a.base(e) + "behind", Session: e.SessionID, Event: e.ID, Text: a.named(s, saying{text: text}), Language: language, Priority: Polite, Kind: KindState,
		Label: labels[KindState], At: e.Time,
	}
	a.record(n, "")
	return []Announcement{n}
}
