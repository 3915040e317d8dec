// Package boottime measures time by a clock that nobody can set and that continues while the machine sleeps. Deadlines
// between processes use it: each measures elapsed time itself, so that wall clocks do not matter.
package boottime

import "time"

// Now returns the time on that clock. Only the difference of two readings under one [Boot] has a meaning. Processes of
// one machine agree on it. If the system has no such clock, it is the wall clock, which may be set but also continues
// during sleep.
func Now() time.Duration { return now() }

// Boot identifies the boot from which the clock counts and, after an @, the machine. It is "" if the system does not
// report it; then the clock of another process may have a different origin.
func Boot() string { return boot() }

// Since returns the time since a reading of the clock.
func Since(then time.Duration) time.Duration { return now() - then }

func byDay() time.Duration { return time.Duration(time.Now().UnixNano()) }
