// Package monotonic is the kernel's clock that is never set back.
//
// A turn is due at a time of day, and the time of day can be set back. The clock remembers the most by which the time of
// day has been ahead of the machine's monotonic clock, here and in the ledger: turns go on being indexed by the later
// times, and a kernel that starts afterwards finds what was saved before. Nothing here reads a clock by itself.
package monotonic

import (
	"sync/atomic"
	"time"

	"github.com/earshot-dev/earshot/internal/kernel/turn"
)

// counter begins the ledger's counters of offsets, one for each boot of a machine, in milliseconds.
const counter = "lead "

// slack is how much the offset may grow without being saved: ticks are at most that late.
const slack = time.Second

// Counters are those of a transaction of the ledger.
type Counters interface {
	// Count adds to a counter, which begins at 0, and returns it.
	Count(name string, add int64) (int64, error)
}

// Clock knows how far the time of day has been ahead of the monotonic clock. Make it with [New]. Its methods may be called
// concurrently.
type Clock struct {
	read func() turn.Timestamp

	// most is the most that the time of day has been ahead, and saved the part of it that the ledger has: time since
	// 1970, less the time since boot.
	most, saved atomic.Int64
}

// New returns a clock that reads both times from a function.
func New(read func() turn.Timestamp) *Clock { return &Clock{read: read} }

// Now returns the current timestamp, and remembers how far the time of day is ahead.
func (c *Clock) Now() turn.Timestamp {
	now := c.read()
	raise(&c.most, ahead(now))
	return now
}

// At returns a time as the clock that is never set back shows it: the time of day as if nobody had set it since it was ahead
// the most. No turn that is due by the monotonic clock is indexed later than this; a turn indexed earlier is read too soon,
// to no effect.
func (c *Clock) At(now turn.Timestamp) time.Time {
	return turn.Epoch.Add(now.SinceBoot + time.Duration(c.most.Load()))
}

// Latest returns the time of day, or what the clock shows if that is later: what expires by it is not revived by setting the clock
// back, while the machine runs.
func (c *Clock) Latest(now turn.Timestamp) time.Time {
	if at := c.At(now); at.After(now.Wall) {
		return at
	}
	return now.Wall
}

// Save saves, in the transaction of a step, how far the time of day is ahead. It returns the offset that the ledger has after
// the commit, or 0 if it had to ask for none; pass it to [Clock.Raise] then.
func (c *Clock) Save(tx Counters, now turn.Timestamp) (kept time.Duration, err error) {
	lead := ahead(now)
	if now.Boot == "" || lead < time.Duration(c.saved.Load())+slack {
		return 0, nil
	}
	if kept, err = saved(tx, now.Boot); err != nil || lead < kept+slack {
		return kept, err
	}
	add := (lead - kept).Milliseconds()
	n, err := tx.Count(counter+now.Boot, add)
	if want := max(n-add, lead.Milliseconds()); err == nil && n > want { // another kernel has saved one meanwhile
		n, err = tx.Count(counter+now.Boot, want-n)
	}
	return time.Duration(n) * time.Millisecond, err
}

// Load takes over what the ledger has for the boot of a timestamp. Without a boot id the monotonic clock is this process's
// own, and means nothing to others.
func (c *Clock) Load(tx Counters, now turn.Timestamp) error {
	if now.Boot == "" {
		return nil
	}
	kept, err := saved(tx, now.Boot)
	if err == nil {
		c.Raise(kept)
	}
	return err
}

// Raise remembers the offset that the ledger has.
func (c *Clock) Raise(kept time.Duration) {
	raise(&c.saved, kept)
	raise(&c.most, kept)
}

func saved(tx Counters, boot string) (time.Duration, error) {
	n, err := tx.Count(counter+boot, 0)
	return time.Duration(n) * time.Millisecond, err
}

// ahead is how far the time of day is ahead of the monotonic clock.
func ahead(now turn.Timestamp) time.Duration { return now.Wall.Sub(turn.Epoch) - now.SinceBoot }

func raise(most *atomic.Int64, lead time.Duration) {
	for {
		was := most.Load()
		if int64(lead) <= was || most.CompareAndSwap(was, int64(lead)) {
			return
		}
	}
}
