package kernel

import (
	"sync/atomic"
	"time"

	"github.com/earshot-dev/earshot/internal/kernel/store"
	"github.com/earshot-dev/earshot/internal/kernel/turn"
)

// counterClockOffset begins the counters of clock offsets, one for each boot of a machine. A clock
// offset is the most by which the time of day was ahead of the monotonic clock when a turn was saved, in
// milliseconds.
const counterClockOffset = "lead "

// clockOffsetSlack is how much the clock offset may grow without being saved: ticks are at most that late.
const clockOffsetSlack = time.Second

// now returns the current timestamp. The kernel remembers how far the time of day has been ahead of the
// monotonic clock: after the time of day has been set back, turns are still indexed by the later times.
func (k *Kernel) now() turn.Timestamp {
	now := k.o.Clock.timestamp()
	raise(&k.clockOffset, clockOffset(now))
	return now
}

func clockOffset(now turn.Timestamp) time.Duration { return now.Wall.Sub(turn.Epoch) - now.SinceBoot }

func raise(most *atomic.Int64, lead time.Duration) {
	for {
		was := most.Load()
		if int64(lead) <= was || most.CompareAndSwap(was, int64(lead)) {
			return
		}
	}
}

// monotonicNow returns the current time on a clock that is never set back: the time of day as if nobody
// had set it since it was ahead the most. No turn that is due by the monotonic clock is indexed later
// than this; a turn indexed earlier is read too soon, to no effect.
func (k *Kernel) monotonicNow(now turn.Timestamp) time.Time {
	return turn.Epoch.Add(now.SinceBoot + time.Duration(k.clockOffset.Load()))
}

// saveClockOffset saves, in the same transaction, how far the time of day is ahead. A kernel that starts
// after it was set back needs it to find what was saved before. It returns the offset that the ledger
// has after the commit.
func (k *Kernel) saveClockOffset(tx store.Tx, now turn.Timestamp) (kept time.Duration, err error) {
	lead := clockOffset(now)
	if now.Boot == "" || lead < time.Duration(k.savedOffset.Load())+clockOffsetSlack {
		return 0, nil
	}
	if kept, err = k.savedClockOffset(tx); err != nil || lead < kept+clockOffsetSlack {
		return kept, err
	}
	add := (lead - kept).Milliseconds()
	n, err := tx.Count(counterClockOffset+now.Boot, add)
	if want := max(n-add, lead.Milliseconds()); err == nil && n > want { // another kernel has saved one meanwhile
		n, err = tx.Count(counterClockOffset+now.Boot, want-n)
	}
	return time.Duration(n) * time.Millisecond, err
}

// savedClockOffset returns the clock offset that the ledger has for the current boot. Without a boot id
// the monotonic clock is this process's own, and means nothing to others.
func (k *Kernel) savedClockOffset(tx store.Tx) (time.Duration, error) {
	if k.o.Clock.Boot == "" {
		return 0, nil
	}
	n, err := tx.Count(counterClockOffset+k.o.Clock.Boot, 0)
	return time.Duration(n) * time.Millisecond, err
}

// raiseClockOffset remembers the clock offset that the ledger has.
func (k *Kernel) raiseClockOffset(kept time.Duration) {
	raise(&k.savedOffset, kept)
	raise(&k.clockOffset, kept)
}
