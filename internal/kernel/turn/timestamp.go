package turn

import (
	"strings"
	"time"
)

// Timestamp is an instant on two clocks. Wall is the time of day and may be stepped;
// Mono counts since the machine booted, suspended or not, and is comparable only
// under the same Boot id. A Boot id may name its machine too, behind an @: then that of
// another machine is told from that of a reboot.
type Timestamp struct {
	Wall      time.Time     `json:"wall"`
	SinceBoot time.Duration `json:"mono"`
	Boot      string        `json:"boot"`
}

// Epoch is the time that stands for "at once": before everything.
var Epoch = time.Unix(0, 0).UTC()

// Add returns the moment d later on both clocks.
func (m Timestamp) Add(d time.Duration) Timestamp {
	return Timestamp{Wall: m.Wall.Add(d), SinceBoot: m.SinceBoot + d, Boot: m.Boot}
}

// IsZero reports whether the moment was never set.
func (m Timestamp) IsZero() bool { return m.Wall.IsZero() }

// due is the wall time at which the deadline m passes, as seen now: the earlier of the
// two clocks, for the wall clock may have been set meanwhile.
func (m Timestamp) due(now Timestamp) time.Time {
	switch {
	case m.IsZero():
		return time.Time{}
	case m.onOtherMachine(now):
		return m.Wall
	case !m.SameBoot(now):
		return now.Wall
	}
	if other := now.Wall.Add(m.SinceBoot - now.SinceBoot); other.Before(m.Wall) {
		return other
	}
	return m.Wall
}

// Remaining is how much is left of the time that ends at m, by the stricter clock; 0 once it is over, as
// [Timestamp.Passed] judges.
func (m Timestamp) Remaining(now Timestamp) time.Duration {
	if m.Passed(now) {
		return 0
	}
	return max(m.due(now).Sub(now.Wall), 0)
}

// onOtherMachine reports whether the moment was taken on another machine, whose second clock says
// nothing here, and whose reboots nothing of this one.
func (m Timestamp) onOtherMachine(now Timestamp) bool {
	boot, machine, named := strings.Cut(m.Boot, "@")
	here, this, also := strings.Cut(now.Boot, "@")
	return named && also && boot != here && machine != this
}

// SameBoot reports whether the second clocks of both moments are one and the same: a boot has
// one, whatever its machine is called.
func (m Timestamp) SameBoot(other Timestamp) bool {
	a, _, _ := strings.Cut(m.Boot, "@")
	b, _, _ := strings.Cut(other.Boot, "@")
	return a == b
}

// PassedOnBoth reports whether the span that ends at m is over on both clocks, so that setting
// one of them does not shorten it. After a reboot the second clock cannot testify, and
// the wall clock decides.
func (m Timestamp) PassedOnBoth(now Timestamp) bool {
	return !now.Wall.Before(m.Wall) && (!m.SameBoot(now) || now.SinceBoot >= m.SinceBoot)
}

// passedOnBothAt is the wall time at which the span that ends at m is over, as seen now.
func (m Timestamp) passedOnBothAt(now Timestamp) time.Time {
	if m.IsZero() || !m.SameBoot(now) {
		return m.Wall
	}
	if other := now.Wall.Add(m.SinceBoot - now.SinceBoot); other.After(m.Wall) {
		return other
	}
	return m.Wall
}

// reached reports whether the span that ends at m is over by the second clock, which nobody
// sets; after a reboot, or on another machine, by the wall clock.
func (m Timestamp) reached(now Timestamp) bool { return !m.reachedAt(now).After(now.Wall) }

// reachedAt is when that is, on the wall clock as it stands now.
func (m Timestamp) reachedAt(now Timestamp) time.Time {
	if m.IsZero() || !m.SameBoot(now) {
		return m.Wall
	}
	return now.Wall.Add(m.SinceBoot - now.SinceBoot)
}

// Passed reports whether the deadline m lies behind now, judged by the stricter
// clock: either one being past is enough, and after a reboot, when the second clock
// can no longer testify, the deadline counts as passed. Of a moment of another machine the
// wall clock alone can tell.
func (m Timestamp) Passed(now Timestamp) bool {
	switch {
	case m.IsZero():
		return false
	case !now.Wall.Before(m.Wall):
		return true
	case m.SameBoot(now):
		return now.SinceBoot >= m.SinceBoot
	default:
		return !m.onOtherMachine(now)
	}
}
