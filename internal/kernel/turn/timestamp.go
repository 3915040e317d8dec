package turn

import (
	"strings"
	"time"
)

// Timestamp is an instant on two clocks. Wall is the time of day and may be stepped. SinceBoot counts
// since the machine booted, suspended or not, and is comparable only under the same Boot id. A Boot id
// may also name its machine, after an @, which distinguishes another machine from a reboot.
type Timestamp struct {
	Wall      time.Time     `json:"wall"`
	SinceBoot time.Duration `json:"mono"`
	Boot      string        `json:"boot"`
}

// Epoch stands for "at once": it is before every other time.
var Epoch = time.Unix(0, 0).UTC()

// Add returns the timestamp d later on both clocks.
func (m Timestamp) Add(d time.Duration) Timestamp {
	return Timestamp{Wall: m.Wall.Add(d), SinceBoot: m.SinceBoot + d, Boot: m.Boot}
}

// IsZero reports whether the timestamp was never set.
func (m Timestamp) IsZero() bool { return m.Wall.IsZero() }

// due returns the wall time at which the deadline m passes, as seen now: the earlier of the two
// clocks, because the wall clock may have been set meanwhile.
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

// Remaining returns the time left until m by the stricter clock, or 0 once m has passed by
// [Timestamp.Passed].
func (m Timestamp) Remaining(now Timestamp) time.Duration {
	if m.Passed(now) {
		return 0
	}
	return max(m.due(now).Sub(now.Wall), 0)
}

// Left returns the time left until m by the monotonic clock, by which a turn's deadline is judged, or 0.
func (m Timestamp) Left(now Timestamp) time.Duration { return max(m.reachedAt(now).Sub(now.Wall), 0) }

// Earlier returns the one of two timestamps that comes first by the monotonic clock, as seen now; one that was never set
// comes last.
func (m Timestamp) Earlier(other, now Timestamp) Timestamp {
	if m.IsZero() || !other.IsZero() && other.reachedAt(now).Before(m.reachedAt(now)) {
		return other
	}
	return m
}

// onOtherMachine reports whether m was taken on another machine. Its monotonic clock and its reboots say
// nothing about this machine.
func (m Timestamp) onOtherMachine(now Timestamp) bool {
	boot, machine, named := strings.Cut(m.Boot, "@")
	here, this, also := strings.Cut(now.Boot, "@")
	return named && also && boot != here && machine != this
}

// SameBoot reports whether both timestamps come from the same monotonic clock: each boot has one,
// whatever its machine is called.
func (m Timestamp) SameBoot(other Timestamp) bool {
	a, _, _ := strings.Cut(m.Boot, "@")
	b, _, _ := strings.Cut(other.Boot, "@")
	return a == b
}

// PassedOnBoth reports whether m has passed on both clocks, so that setting one of them does not
// shorten the wait. After a reboot the monotonic clock cannot be compared, and the wall clock decides.
func (m Timestamp) PassedOnBoth(now Timestamp) bool {
	return !now.Wall.Before(m.Wall) && (!m.SameBoot(now) || now.SinceBoot >= m.SinceBoot)
}

// passedOnBothAt returns the wall time at which m passes on both clocks, as seen now.
func (m Timestamp) passedOnBothAt(now Timestamp) time.Time {
	if m.IsZero() || !m.SameBoot(now) {
		return m.Wall
	}
	if other := now.Wall.Add(m.SinceBoot - now.SinceBoot); other.After(m.Wall) {
		return other
	}
	return m.Wall
}

// reached reports whether m has passed by the monotonic clock, which nobody sets. After a reboot, or on
// another machine, the wall clock decides.
func (m Timestamp) reached(now Timestamp) bool { return !m.reachedAt(now).After(now.Wall) }

// reachedAt returns when m is reached, on the wall clock as it stands now.
func (m Timestamp) reachedAt(now Timestamp) time.Time {
	if m.IsZero() || !m.SameBoot(now) {
		return m.Wall
	}
	return now.Wall.Add(m.SinceBoot - now.SinceBoot)
}

// Passed reports whether the deadline m has passed, judged by the stricter clock: one of the two is
// enough. After a reboot the monotonic clock cannot be compared, and the deadline counts as passed. For
// a timestamp of another machine the wall clock alone decides.
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
