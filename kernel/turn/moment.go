package turn

import "time"

// Moment is an instant on two clocks. Wall is the time of day and may be stepped;
// Mono counts since the machine booted, suspended or not, and is comparable only
// under the same Boot id.
type Moment struct {
	Wall time.Time     `json:"wall"`
	Mono time.Duration `json:"mono"`
	Boot string        `json:"boot"`
}

// Add returns the moment d later on both clocks.
func (m Moment) Add(d time.Duration) Moment {
	return Moment{Wall: m.Wall.Add(d), Mono: m.Mono + d, Boot: m.Boot}
}

// IsZero reports whether the moment was never set.
func (m Moment) IsZero() bool { return m.Wall.IsZero() }

// due is the wall time at which the deadline m passes, as seen now: the earlier of the
// two clocks, for the wall clock may have been set meanwhile.
func (m Moment) due(now Moment) time.Time {
	switch {
	case m.IsZero():
		return time.Time{}
	case m.Boot != now.Boot:
		return now.Wall
	}
	if other := now.Wall.Add(m.Mono - now.Mono); other.Before(m.Wall) {
		return other
	}
	return m.Wall
}

// Passed reports whether the deadline m lies behind now, judged by the stricter
// clock: either one being past is enough, and after a reboot, when the second clock
// can no longer testify, the deadline counts as passed.
func (m Moment) Passed(now Moment) bool {
	if m.IsZero() {
		return false
	}
	return !now.Wall.Before(m.Wall) || now.Boot != m.Boot || now.Mono >= m.Mono
}
