// Package boottime measures time by the clock that nobody sets and that goes on while the machine
// sleeps. Deadlines between processes are kept with it: each measures for itself how long ago
// something was, so that what their times of day say does not matter.
package boottime

import "time"

// Now is the time on that clock: only the difference of two readings under one [Boot] means
// anything. Processes of one machine agree on it. Where the system has no such clock, it is the
// time of day, which may be set but does not stand still in sleep either.
func Now() time.Duration { return now() }

// Boot names the boot that the clock counts from, and behind an @ the machine. It is "" where the
// system does not tell it; then another process may count from elsewhere.
func Boot() string { return boot() }

// Since is how long ago a reading of the clock was.
func Since(then time.Duration) time.Duration { return now() - then }

func byDay() time.Duration { return time.Duration(time.Now().UnixNano()) }
