package kernel

import (
	"sync/atomic"
	"time"

	"github.com/earshot-dev/earshot/internal/kernel/turn"
)

// counterLead is by how many milliseconds the time of day was ahead of the second clock, since
// this boot and at the most, when a turn was saved. There is one for each boot of a machine.
const counterLead = "lead "

// leadSlack is how much the lead grows without being kept: what is due is at most so late then.
const leadSlack = time.Second

// moment is the present. The kernel remembers how far the time of day has been ahead of the
// other clock: what was saved meanwhile is found by times that it may be far from after it has
// been set back.
func (k *Kernel) moment() turn.Timestamp {
	now := k.o.Clock.moment()
	raise(&k.lead, leadOf(now))
	return now
}

func leadOf(now turn.Timestamp) time.Duration { return now.Wall.Sub(turn.Epoch) - now.SinceBoot }

func raise(most *atomic.Int64, lead time.Duration) {
	for {
		was := most.Load()
		if int64(lead) <= was || most.CompareAndSwap(was, int64(lead)) {
			return
		}
	}
}

// steady is the present on a clock that is never set back: the time of day as it would be, had
// nobody set it since it was ahead the most. Nothing that is due by the second clock has a later
// place in the ledger; what has an earlier one is looked at before its time, to no effect.
func (k *Kernel) steady(now turn.Timestamp) time.Time {
	return turn.Epoch.Add(now.SinceBoot + time.Duration(k.lead.Load()))
}

// keepLead keeps, with what is saved at this moment, how far the time of day is ahead: kernels
// that are started after it was set back find by it what was saved before. It returns what the
// ledger knows once this is committed.
func (k *Kernel) keepLead(tx Tx, now turn.Timestamp) (kept time.Duration, err error) {
	lead := leadOf(now)
	if now.Boot == "" || lead < time.Duration(k.kept.Load())+leadSlack {
		return 0, nil
	}
	if kept, err = k.keptLead(tx); err != nil || lead < kept+leadSlack {
		return kept, err
	}
	add := (lead - kept).Milliseconds()
	n, err := tx.Count(counterLead+now.Boot, add)
	if want := max(n-add, lead.Milliseconds()); err == nil && n > want { // another kernel has kept one meanwhile
		n, err = tx.Count(counterLead+now.Boot, want-n)
	}
	return time.Duration(n) * time.Millisecond, err
}

// keptLead is the lead that the ledger knows of, under the present boot. Without a name of the
// boot the second clock is this process's own, and says nothing to others.
func (k *Kernel) keptLead(tx Tx) (time.Duration, error) {
	if k.o.Clock.Boot == "" {
		return 0, nil
	}
	n, err := tx.Count(counterLead+k.o.Clock.Boot, 0)
	return time.Duration(n) * time.Millisecond, err
}

// knows takes note of what the ledger knows.
func (k *Kernel) knows(kept time.Duration) {
	raise(&k.kept, kept)
	raise(&k.lead, kept)
}
