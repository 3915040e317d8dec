package hub

import (
	"context"
	"sync"
	"time"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/aaep/pacing"
	"github.com/earshot-dev/earshot/internal/hub/access"
)

// Delivery is one event as it is sent to a subscriber.
type Delivery struct {
	pacing.Delivery

	// Resumable reports whether a stream can resume from the event's id. If so, a transport sends it as the resume
	// point (the id field of SSE). It is false if the event overtook others, or was sent again for a late joiner. Then
	// the id field is left out, so that the resume point stays at the last event that had one. The body of every event
	// contains its event_id.
	Resumable bool
	// More reports that another delivery follows at once, so that a transport may write both together. It is false for
	// a critical event and for the last one that is due: these are flushed without delay.
	More bool
}

const (
	// dueEvents and dueBytes limit one batch.
	dueEvents = 64
	dueBytes  = 64 << 10
)

// offer passes one event to the pacer, and appends what then may leave. An event that cannot be decoded is passed on unchanged:
// the person should not miss it.
func (st *stream) offer(to []pacing.Delivery, session string, e *entry) []pacing.Delivery {
	e = st.translated(session, e)
	c := e.content()
	st.tokens = st.tokens || c.tokens
	if c.unreadable != nil {
		st.hub.o.Logger.Warn("an event cannot be read and is passed on as it is", "session", session, "seq", e.seq, "error", c.unreadable)
		return append(to, pacing.Delivery{Session: session, First: e.seq, Last: e.seq, Raw: e.raw, Critical: true})
	}
	return st.pacer.Append(to, st.now, pacing.Item{Session: session, Seq: e.seq, Event: c.event, Raw: e.raw})
}

// batches are for what is due. A stream that rests needs none.
var batches = sync.Pool{New: func() any { return new([]pacing.Delivery) }} //nolint:gochecknoglobals // every stream borrows from it

// page is what a stream takes in at once: the events, and what one of them lets leave.
type page struct {
	rows    []*entry
	leaving []pacing.Delivery
}

var pages = sync.Pool{New: func() any { return new(page) }} //nolint:gochecknoglobals // every stream borrows from it

func borrowPage() *page {
	p, _ := pages.Get().(*page)
	return p
}

func (p *page) giveBack() {
	clear(p.rows)
	if p.rows = p.rows[:0]; cap(p.leaving) > dueEvents {
		p.leaving = nil
	}
	clear(p.leaving[:cap(p.leaving)])
	pages.Put(p)
}

// emit sends deliveries, together with what else is due.
func (st *stream) emit(deliveries []pacing.Delivery) error {
	for _, d := range deliveries {
		if st.due == nil {
			st.due, _ = batches.Get().(*[]pacing.Delivery)
		}
		*st.due = append(*st.due, d)
		st.dueBytes += len(d.Raw)
		if len(*st.due) >= dueEvents || st.dueBytes >= dueBytes {
			if err := st.flush(); err != nil || st.abandoned {
				return err
			}
		}
	}
	return nil
}

// leaving is a delivery that has passed the check of its principal's rights. Without a place there is none.
type leaving struct {
	pacing.Delivery

	place *cursor
}

// flush sends what is due, and checks each delivery by the rights of that moment. One that is not critical waits until
// the next has been checked: only then is it known whether another follows.
func (st *stream) flush() error {
	if st.due == nil {
		return nil
	}
	due := *st.due
	defer func() {
		clear(due)
		*st.due = due[:0]
		batches.Put(st.due)
		st.due, st.dueBytes = nil, 0
	}()
	st.findLate(st.now)
	var waiting leaving
	for _, d := range due {
		next, err := st.judge(d)
		if err != nil {
			return err
		}
		if next.place == nil {
			continue
		}
		if waiting.place != nil && !st.deliver(waiting, true) {
			return nil
		}
		if waiting = next; next.Critical {
			waiting = leaving{}
			if !st.deliver(next, false) {
				return nil
			}
		}
	}
	if waiting.place != nil {
		st.deliver(waiting, false)
	}
	return nil
}

// judge returns a delivery as its principal may see it, without a place if they may not.
func (st *stream) judge(d pacing.Delivery) (none leaving, _ error) {
	p := st.cursors[d.Session]
	if p == nil {
		return none, nil
	}
	who, err := st.mayNow()
	if err != nil {
		return none, err
	}
	if st.ctx.Err() != nil {
		return none, context.Cause(st.ctx) //nolint:wrapcheck // why judges it
	}
	if !who.Hears(p.owner) {
		return none, nil
	}
	if d.Critical {
		d.Raw = st.offered(d.Raw)
	}
	if (st.tokens || d.Critical) && !who.Approves(p.owner) {
		d.Raw = masked(d.Raw)
	}
	return leaving{Delivery: d, place: p}, nil
}

// deliver returns false if the consumer has stopped.
func (st *stream) deliver(l leaving, more bool) bool {
	d, p := l.Delivery, l.place
	if st.again[d.EventID] {
		delete(st.again, d.EventID)
		d = st.sub.note(st, d, true)
		st.hand(Delivery{Delivery: d, More: more})
		st.handed(p, d)
		return !st.abandoned
	}
	d = st.sub.note(st, d, false)
	if st.hand(Delivery{Delivery: d, Resumable: st.resumable(p, d), More: more}); st.abandoned {
		return false
	}
	p.sent = max(p.sent, d.Last)
	st.handed(p, d)
	return true
}

// hand gives a delivery to the consumer, who may take its time, unless it gets more.
func (st *stream) hand(d Delivery) {
	if st.abandoned = !st.yield(d, nil); !d.More {
		st.waited()
	}
}

// waited is called when the stream has waited for somebody: what it knows of the moment is to be looked at again.
func (st *stream) waited() { st.now, st.rights.known = st.hub.o.Now(), false }

// rights are what the principal of a stream may, as long as the stream waits for nobody and nobody's rights change.
type rights struct {
	who    access.Principal
	known  bool
	change uint64 // the latest of anybody's rights, when these were looked up
}

// mayNow returns the principal of the stream with its rights of this moment. Without any it ends the subscription.
func (st *stream) mayNow() (*access.Principal, error) {
	r := &st.rights
	if change := st.hub.changes.Load(); !r.known || r.change != change {
		who, err := st.hub.current(st.sub.who)
		if err != nil {
			st.sub.end(err)
			return nil, err
		}
		r.who, r.known, r.change = who, true, change
	}
	return &r.who, nil
}

// handed records what a delivery has shown, if the consumer took it. Questions and their outcomes are critical: they
// are never merged or delayed.
func (st *stream) handed(p *cursor, d pacing.Delivery) {
	if st.abandoned || !d.Critical {
		return
	}
	if e, err := aaep.DecodeEvent(d.Raw); err == nil {
		st.shows(p, e)
		st.notices(e)
	}
}

// resumable reports whether a stream can resume from the delivery. It must end with an event of the ledger that can be
// told from its id, and no other session may be late: then everything committed well before it has been delivered.
func (st *stream) resumable(this *cursor, d pacing.Delivery) bool {
	if d.EventID == "" || d.First != d.Last && pacing.Original(d.EventID) == d.EventID {
		return false
	}
	if st.now.Sub(st.judged) > time.Second { // the consumer has taken its time
		st.findLate(st.now)
	}
	return st.lates == 0 || st.lates == 1 && st.late == this
}

// findLate finds the sessions that are late, once for all that is due at the same time.
func (st *stream) findLate(now time.Time) {
	st.late, st.lates, st.judged = nil, 0, now
	limit := now.Add(-tolerable)
	for _, p := range st.moving {
		if !p.late.IsZero() && p.late.Before(limit) {
			st.late = p
			st.lates++
		}
	}
}

// markDelivered updates, for each moving session, whether all of it has been delivered, and drops those that the feed
// has forgotten. Events that the terms leave out are never delivered; they count as delivered once nothing is pending.
func (st *stream) markDelivered() {
	idle := st.pacer.Queued() == 0
	left := st.moving[:0]
	for _, p := range st.moving {
		if idle && p.sent < p.offered && !st.abandoned {
			p.sent = p.offered
			st.sub.setCursor(st, p.session, p.sent)
		}
		if p.sent >= p.last || p.empty == p.last {
			p.late = time.Time{}
		}
		if p.moves() {
			left = append(left, p)
			continue
		}
		p.moving = false
		if p.forgotten && p.ended && p.sent >= p.last && len(st.names) == 0 {
			delete(st.cursors, p.session)
			st.sub.done(st, p.session)
		}
	}
	clear(st.moving[len(left):])
	if st.moving = left; len(left) == 0 && cap(left) > fewNews {
		st.moving = nil
	}
}
