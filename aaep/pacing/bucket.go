package pacing

import "time"

// bucket is a token bucket, kept as the one instant at which it will be full again
// (BP-01). It holds capacity tokens and gains one each interval, smoothly. An instant
// that lies further ahead than an empty bucket needs is a debt.
type bucket struct {
	interval time.Duration // between two tokens; 0 means no limit
	capacity int
	full     time.Time
	last     time.Time // the latest now
}

// newBucket is a full bucket for a rate in events per second; 0 means no limit.
func newBucket(rate int, now time.Time) bucket {
	b := bucket{full: now, last: now}
	b.interval, b.capacity = measure(rate)
	return b
}

// measure: one token up to 5 a second, then a fifth of a second's worth (C-74). The
// interval is rounded up, so that the rate is never exceeded.
func measure(rate int) (interval time.Duration, capacity int) {
	if rate <= 0 {
		return 0, 1
	}
	perEvent := (time.Second + time.Duration(rate) - 1) / time.Duration(rate)
	return perEvent, max(1, rate/5)
}

// see notes the time. A clock that was set back moves the debt with it: what had to
// be waited for is still to be waited for, and no longer.
func (b *bucket) see(now time.Time) {
	if back := b.last.Sub(now); back > 0 {
		b.full = b.full.Add(-back)
	}
	b.last = now
}

// next is the instant from which there is a token.
func (b *bucket) next() time.Time {
	return b.full.Add(-time.Duration(b.capacity-1) * b.interval)
}

// take takes a token if there is one.
func (b *bucket) take() bool {
	if b.interval > 0 && b.last.Before(b.next()) {
		return false
	}
	b.spend()
	return true
}

// spend takes a token, on credit if there is none (C-72).
func (b *bucket) spend() {
	if b.full.Before(b.last) {
		b.full = b.last
	}
	b.full = b.full.Add(b.interval)
}

// change gives the bucket another rate. What was spent stays spent, in tokens, as far
// as the new bucket can hold them; a debt stays a debt.
func (b *bucket) change(rate int) {
	spent := 0
	if ahead := b.full.Sub(b.last); ahead > 0 && b.interval > 0 {
		spent = int((ahead + b.interval - 1) / b.interval)
	}
	debt := max(0, spent-b.capacity)
	b.interval, b.capacity = measure(rate)
	b.full = b.last.Add(time.Duration(min(spent-debt, b.capacity)+debt) * b.interval)
}
