package pacing

import (
	"slices"
	"time"

	"github.com/earshot-dev/earshot/aaep"
)

// Pacer keeps one subscription within its terms. Make one with [NewPacer].
type Pacer struct {
	terms  Terms
	bucket bucket
	voice  reading
	queued []*held // in the order in which they came; none of them critical
}

// NewPacer makes a pacer with a full budget. Every now that it is given comes from one
// clock; one that is set back costs no budget and gives none.
func NewPacer(t Terms, now time.Time) *Pacer {
	return &Pacer{terms: t, bucket: newBucket(t.Honored.MaxEventsPerSecond, now), voice: reading{wpm: t.Honored.PaceWPM, last: now}}
}

// Offer hands in the next event of its session and returns what may leave now, in
// order. An event that the terms filter is gone. One that is over budget is held and
// leaves by a later call, joined with what follows upon it meanwhile; so does text that has
// not reached a boundary of the terms. A critical one leaves now, behind what is held of its
// session.
func (p *Pacer) Offer(now time.Time, i Item) []Delivery { return p.Append(nil, now, i) }

// Append is [Pacer.Offer] that appends what may leave now to out, so that a shell with many events needs no new slice for each.
func (p *Pacer) Append(out []Delivery, now time.Time, i Item) []Delivery {
	p.see(now)
	out = p.release(out)
	critical := isCritical(&i.Event)
	if !p.terms.Hears(i.Session) || !p.terms.wants(&i.Event, critical) {
		return out
	}
	if critical {
		return append(p.flush(out, i.Session), i.delivery(true))
	}
	if p.leavesAtOnce(&i.Event) {
		return append(out, i.delivery(false))
	}
	p.queue(hold(i))
	return p.release(out)
}

// leavesAtOnce reports whether an event leaves as it is, because nothing is held, it waits for nothing and the budget has
// paid for it. Most do, so that nothing has to be made to hold them.
func (p *Pacer) leavesAtOnce(e *aaep.Event) bool {
	if _, text := e.Payload.(aaep.OutputStreaming); text || len(p.queued) > 0 {
		return false
	}
	return ripe(e, &p.terms) && p.bucket.take()
}

// Tick returns what the budget lets leave now.
func (p *Pacer) Tick(now time.Time) []Delivery {
	p.see(now)
	return p.release(nil)
}

func (p *Pacer) see(now time.Time) {
	p.bucket.see(now)
	p.voice.see(now)
}

// Wake returns when Tick will next have something, or the zero time when nothing is
// held that time alone lets leave.
func (p *Pacer) Wake() time.Time {
	var wake time.Time
	for _, h := range p.queued {
		if !h.ripe(&p.terms) {
			continue
		}
		due := p.bucket.next()
		if p.listens(h) && p.voice.until.After(due) {
			due = p.voice.until
		}
		if wake.IsZero() || due.Before(wake) {
			wake = due
		}
	}
	return wake
}

// listens reports whether a text waits until what left before it is read out: there may be more of it by then. The
// end of a text does not wait, nor does one that holds up something else.
func (p *Pacer) listens(h *held) bool {
	text, is := h.last.Event.Payload.(aaep.OutputStreaming)
	return is && !h.followed && !text.Complete && p.voice.busy()
}

// Queued returns how many deliveries are held. They are all in memory: a shell
// that sees the number grow cuts the subscriber off and keeps its position.
func (p *Pacer) Queued() int { return len(p.queued) }

// SetTerms puts renegotiated terms into force, for what is held too (HS-63), and
// returns what may leave under them. What the new filters exclude is gone; what the
// old ones excluded does not come back.
func (p *Pacer) SetTerms(now time.Time, t Terms) []Delivery {
	p.see(now)
	if t.Honored.MaxEventsPerSecond != p.terms.Honored.MaxEventsPerSecond {
		p.bucket.change(t.Honored.MaxEventsPerSecond)
	}
	p.terms, p.voice.wpm = t, t.Honored.PaceWPM
	if t.Honored.PaceWPM == 0 {
		p.voice.until = time.Time{}
	}
	p.queued = slices.DeleteFunc(p.queued, func(h *held) bool { return !p.passes(h.last) })
	return p.release(nil)
}

func (p *Pacer) passes(i Item) bool { return p.terms.Hears(i.Session) && p.terms.Wants(i.Event) }

// queue puts an event behind the others of its session, or has one of them stand for it too.
func (p *Pacer) queue(h *held) {
	if h.isNumber() {
		p.supersede(h)
	}
	if n := p.before(len(p.queued), h.last.Session); n >= 0 {
		if p.queued[n].join(h) {
			return
		}
		if m := p.before(n, h.last.Session); m >= 0 && p.queued[m].skip(p.queued[n], h) {
			p.queued = slices.Delete(p.queued, n, n+1)
			return
		}
		p.queued[n].followed = true
	}
	p.queued = append(p.queued, h)
}

// supersede takes out the number that this one brings up to date, if there is nothing but text between them. The text behind
// it stands for its place, and goes on where the text before it ends.
func (p *Pacer) supersede(number *held) {
	session := number.last.Session
	text := p.before(len(p.queued), session)
	if text < 0 || !p.queued[text].isText() {
		return
	}
	old := p.before(text, session)
	if old < 0 || !p.queued[old].isNumber() || p.queued[old].last.Event.Urgency != number.last.Event.Urgency {
		return
	}
	p.queued[text].first = p.queued[old].first
	if earlier := p.before(old, session); earlier >= 0 && p.queued[earlier].join(p.queued[text]) {
		p.queued = slices.Delete(p.queued, text, text+1)
	}
	p.queued = slices.Delete(p.queued, old, old+1)
}

// before is the place of the last before n that is of the session, or -1.
func (p *Pacer) before(n int, session string) int {
	for n--; n >= 0; n-- {
		if p.queued[n].last.Session == session {
			return n
		}
	}
	return -1
}

// release appends what is held to out, as far as the budget goes.
func (p *Pacer) release(out []Delivery) []Delivery {
	if len(p.queued) == 0 {
		return out
	}
	left := p.queued[:0]
	for _, h := range p.queued {
		if h.ripe(&p.terms) && !p.listens(h) && p.bucket.take() {
			out = p.leave(out, h)
		} else {
			left = append(left, h)
		}
	}
	clear(p.queued[len(left):])
	if p.queued = left; len(left) == 0 {
		p.queued = nil
	}
	return out
}

// leave appends what leaves for h, for which the budget has paid once.
func (p *Pacer) leave(out []Delivery, h *held) []Delivery {
	deliveries := h.deliveries(p.terms)
	p.voice.read(h.runes)
	for range len(deliveries) - 1 {
		p.bucket.spend()
	}
	return append(out, deliveries...)
}

// flush appends what is held of a session to out, on credit (C-72).
func (p *Pacer) flush(out []Delivery, session string) []Delivery {
	p.queued = slices.DeleteFunc(p.queued, func(h *held) bool {
		if h.last.Session != session {
			return false
		}
		p.bucket.spend()
		out = p.leave(out, h)
		return true
	})
	return out
}
