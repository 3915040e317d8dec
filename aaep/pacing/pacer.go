package pacing

import (
	"slices"
	"time"
)

// Pacer keeps one subscription within its terms. Make one with [NewPacer].
type Pacer struct {
	terms  Terms
	bucket bucket
	queued []Item // over budget, in the order of arrival; none of them critical
}

// NewPacer makes a pacer with a full budget. Every now that it is given comes from one
// clock; one that is set back costs no budget and gives none.
func NewPacer(t Terms, now time.Time) *Pacer {
	return &Pacer{terms: t, bucket: newBucket(t.Honored.MaxEventsPerSecond, now)}
}

// Offer hands in the next event of its session and returns what may leave now, in
// order. An event that the terms filter is gone. One that is over budget is held and
// leaves by a later call; a critical one leaves now, behind what is held of its
// session.
func (p *Pacer) Offer(now time.Time, i Item) []Delivery {
	out := p.Tick(now)
	if !p.passes(i) {
		return out
	}
	if isCritical(i.Event) {
		return append(p.flush(out, i.Session), i.delivery())
	}
	p.queued = append(p.queued, i)
	return p.release(out)
}

// Tick returns what the budget lets leave now.
func (p *Pacer) Tick(now time.Time) []Delivery {
	p.bucket.see(now)
	return p.release(nil)
}

// Wake returns when Tick will next have something, or the zero time when nothing is
// held.
func (p *Pacer) Wake() time.Time {
	if len(p.queued) == 0 {
		return time.Time{}
	}
	return p.bucket.next()
}

// Queued returns how many events wait for the budget. They are all in memory: a shell
// that sees the number grow cuts the subscriber off and keeps its position.
func (p *Pacer) Queued() int { return len(p.queued) }

// SetTerms puts renegotiated terms into force, for what is held too (HS-63), and
// returns what may leave under them. What the new filters exclude is gone; what the
// old ones excluded does not come back.
func (p *Pacer) SetTerms(now time.Time, t Terms) []Delivery {
	p.bucket.see(now)
	if t.Honored.MaxEventsPerSecond != p.terms.Honored.MaxEventsPerSecond {
		p.bucket.change(t.Honored.MaxEventsPerSecond)
	}
	p.terms = t
	p.queued = slices.DeleteFunc(p.queued, func(i Item) bool { return !p.passes(i) })
	return p.release(nil)
}

func (p *Pacer) passes(i Item) bool { return p.terms.Hears(i.Session) && p.terms.Wants(i.Event) }

// release appends what is held to out, as far as the budget goes.
func (p *Pacer) release(out []Delivery) []Delivery {
	n := 0
	for n < len(p.queued) && p.bucket.take() {
		out = append(out, p.queued[n].delivery())
		n++
	}
	clear(p.queued[:n])
	if p.queued = p.queued[n:]; len(p.queued) == 0 {
		p.queued = nil
	}
	return out
}

// flush appends what is held of a session to out, merged, on credit (C-72).
func (p *Pacer) flush(out []Delivery, session string) []Delivery {
	var left []Item
	p.queued = slices.DeleteFunc(p.queued, func(i Item) bool {
		if i.Session != session {
			return false
		}
		left = append(left, i)
		return true
	})
	for _, d := range merged(left) {
		p.bucket.spend()
		out = append(out, d)
	}
	return out
}
