package sim

import (
	"sync"
	"time"
)

// clock is the machine's: the bubble's time, with steps of the wall clock, time spent
// suspended, and reboots.
type clock struct {
	mu        sync.Mutex
	began     time.Time
	wrong     time.Duration // of the time of day
	suspended time.Duration // not seen by the bubble's timers
	boots     int
	booted    time.Duration // on true, when the machine last booted
}

func newClock() *clock { return &clock{began: time.Now()} }

// Now is the time of day.
func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return time.Now().Add(c.suspended + c.wrong)
}

// true is the time that has really passed, suspended or not.
func (c *clock) true() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.passed()
}

func (c *clock) passed() time.Duration { return time.Since(c.began) + c.suspended }

// mono counts since the machine booted.
func (c *clock) mono() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.passed() - c.booted
}

func (c *clock) boot() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return "boot" + string(rune('a'+c.boots))
}

// set sets the time of day, wrong by so much.
func (c *clock) set(wrong time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.wrong = wrong
}

// suspend closes the lid: both clocks go on, timers do not.
func (c *clock) suspend(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.suspended += d
}

// reboot starts the second clock again under another id.
func (c *clock) reboot() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.boots++
	c.booted = c.passed()
}
