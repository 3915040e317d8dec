package kernel

import (
	"sync/atomic"
	"time"

	"github.com/earshot-dev/earshot/internal/kernel/store"
	"github.com/earshot-dev/earshot/internal/kernel/turn"
)

// counterClockOffset is by how many milliseconds the time of day was ahead of the second clock, since
// this boot and at the most, when a turn was saved. There is one for each boot of a machine.
const counterClockOffset = "lead "

// clockOffsetSlack is how much the lead grows without being kept: what is due is at most so late then.
const clockOffsetSlack = time.Second

// now is the present. The kernel remembers how far the time of day has been ahead of the
// other clock: what was saved meanwhile is found by times that it may be far from after it has
// been set back.
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

// monotonicNow is the present on a clock that is never set back: the time of day as it would be, had
// nobody set it since it was ahead the most. Nothing that is due by the second clock has a later
// place in the ledger; what has an earlier one is looked at before its time, to no effect.
func (k *Kernel) monotonicNow(now turn.Timestamp) time.Time {
	return turn.Epoch.Add(now.SinceBoot + time.Duration(k.clockOffset.Load()))
}

// saveClockOffset keeps, with what is saved at this moment, how far the time of day is ahead: kernels
// that are started after it was set back find by it what was saved before. It returns what the
// ledger knows once this is committed.
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
	if want := max(n-add, lead.Milliseconds()); err == nil && n > want { // another kernel has kept one meanwhile
		n, err = tx.Count(counterClockOffset+now.Boot, want-n)
	}
	return time.Duration(n) * time.Millisecond, err
}

// savedClockOffset is the lead that the ledger knows of, under the present boot. Without a name of the
// boot the second clock is this process's own, and says nothing to others.
func (k *Kernel) savedClockOffset(tx store.Tx) (time.Duration, error) {
	if k.o.Clock.Boot == "" {
		return 0, nil
	}
	n, err := tx.Count(counterClockOffset+k.o.Clock.Boot, 0)
	return time.Duration(n) * time.Millisecond, err
}

// raiseClockOffset takes note of what the ledger knows.
func (k *Kernel) raiseClockOffset(kept time.Duration) {
	raise(&k.savedOffset, kept)
	raise(&k.clockOffset, kept)
}
