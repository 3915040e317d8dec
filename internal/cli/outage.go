package cli

import (
	"time"

	"github.com/earshot-dev/earshot/aaep/legible"
)

// outageSteps are when it is said again that a connection is lost, and outageStep is how often after the last of them.
var outageSteps = []time.Duration{10 * time.Second, 30 * time.Second, time.Minute}

const outageStep = 3 * time.Minute

// Outage decides when it is said again that a connection is still lost. One goroutine uses it.
type Outage struct {
	told time.Duration // how long the connection was lost when that was said last
}

// Again returns for how long the connection is lost, and whether that is to be said now.
func (o *Outage) Again(since, now time.Time) (lasted time.Duration, again bool) {
	lasted = now.Sub(since)
	due := o.told + outageStep
	for _, step := range outageSteps {
		if step > o.told {
			due = step
			break
		}
	}
	if lasted < due {
		return lasted, false
	}
	o.told = lasted
	return lasted, true
}

// LastedText formats a time that has passed, rounded down: 30 seconds, 4 minutes.
func LastedText(d time.Duration) string {
	if d < time.Minute {
		return legible.Counted(int64(d/time.Second), "second")
	}
	return legible.Counted(int64(d/time.Minute), "minute")
}

// Reset begins again: the connection is back, or has just been lost.
func (o *Outage) Reset() { o.told = 0 }
