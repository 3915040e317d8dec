package serve

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/aaep/pacing"
	"github.com/earshot-dev/earshot/aaep/transport/stream"
)

// eventName is the name of an event of server-sent events (TR-SSE-06). Other transports send no names.
const eventName = "aaep.event"

// delivery is one stream of a subscription: what it has been offered, and what it has been sent.
type delivery struct {
	sub     *subscription
	stop    context.CancelCauseFunc
	pacer   *pacing.Pacer
	terms   pacing.Terms
	version int
	offered map[string]int64 // the position in each session
	again   map[string]bool  // ids of events that are sent again, to somebody who came late
	due     []pacing.Delivery
}

func newDelivery(s *subscription, stop context.CancelCauseFunc) *delivery {
	return &delivery{
		sub: s, stop: stop, pacer: pacing.NewPacer(s.terms, s.producer.o.Now()), terms: s.terms, version: s.version,
		offered: map[string]int64{}, again: map[string]bool{},
	}
}

// start finds the position in each session: after an event, or with what is under way. The caller holds the producer's mu.
func (d *delivery) start(after string) error {
	if at, known := d.after(after); known {
		for _, t := range d.sub.producer.tracks {
			if d.terms.Hears(t.id) {
				d.reach(t.id, at[t.id])
			}
		}
		return nil
	}
	d.sub.trail.Forget()
	for _, t := range d.sub.producer.tracks {
		if !d.terms.Hears(t.id) {
			continue
		}
		if err := d.begin(t); err != nil {
			return err
		}
	}
	return nil
}

// begin finds the position in a session of which nothing was sent: all of it if it was asked for by its id or has begun since, and
// else what is under way.
func (d *delivery) begin(t *track) error {
	if whole := d.terms.Sessions != nil || t.number > d.sub.since; whole && t.events[0].Seq == 1 {
		d.reach(t.id, 0)
		return nil
	}
	d.reach(t.id, t.last())
	if !t.endedAt.IsZero() {
		return nil
	}
	return d.introduce(t)
}

// after returns the positions after an event, if this subscriber was sent it, also on a connection that has ended, and what followed
// is still there.
func (d *delivery) after(id string) (map[string]int64, bool) {
	if id == "" {
		return nil, false
	}
	p := d.sub.producer
	at, known := d.sub.trail.After(id)
	if !known {
		at, known = d.inherit(id)
	}
	for _, t := range p.tracks {
		if known && d.terms.Hears(t.id) && at[t.id]+1 < t.events[0].Seq {
			return nil, false
		}
	}
	return at, known
}

// inherit takes over what this subscriber was sent on another connection, which has ended although that may not have been noticed yet.
func (d *delivery) inherit(id string) (at map[string]int64, known bool) {
	p := d.sub.producer
	for _, before := range append(slices.Collect(maps.Values(p.subs)), p.left...) {
		if before == d.sub || before.subscriber != d.sub.subscriber || before.token != d.sub.token {
			continue
		}
		if at, known = before.trail.After(id); known {
			d.sub.trail = before.trail
			before.trail = pacing.Trail{}
			if before.current != nil {
				before.current.stop(stream.ErrDone)
				before.current = nil
			}
			return at, true
		}
	}
	return nil, false
}

// reach notes how far a session has been offered.
func (d *delivery) reach(session string, at int64) {
	d.offered[session] = at
	d.sub.trail.Reach(session, at)
}

// introduce sends the first event of a session again, its state and its open questions (C-91).
func (d *delivery) introduce(t *track) error {
	now, err := d.resync(t)
	if err != nil {
		return err
	}
	for _, item := range slices.Concat([]pacing.Item{t.first}, now, t.asked) {
		d.repeat(item, t.last())
	}
	return nil
}

// repeat sends an event again.
func (d *delivery) repeat(item pacing.Item, at int64) {
	if !d.terms.Wants(item.Event) {
		return
	}
	item.Seq = at
	d.again[item.Event.ID] = true
	d.due = append(d.due, d.pacer.Offer(d.sub.producer.o.Now(), item)...)
}

// resync is a state.changed from the current state to itself, for one subscriber.
func (d *delivery) resync(t *track) ([]pacing.Item, error) {
	if t.state == nil {
		return nil, nil
	}
	event, o := *t.state, d.sub.producer.o
	id, err := aaep.NewID(aaep.PrefixEvent, o.Now(), o.Rand)
	if err != nil {
		return nil, fmt.Errorf("naming an event: %w", err)
	}
	state, _ := event.Payload.(aaep.StateChanged)
	state.FromState = state.ToState
	event = aaep.Event{ID: id, SessionID: t.id, Time: o.Now(), Producer: event.Producer, Hints: event.Hints, Payload: state}
	if event, err = event.Extend(aaep.PrefixEarshot, "resync", true); err != nil {
		return nil, fmt.Errorf("writing an event: %w", err)
	}
	raw, err := event.Encode()
	if err != nil {
		return nil, fmt.Errorf("writing an event: %w", err)
	}
	return []pacing.Item{{Session: t.id, Event: event, Raw: raw}}, nil
}

// next returns what is sent now, and when there is more without anything new happening; the zero time if not.
func (d *delivery) next() (group []stream.Frame, wake time.Time, err error) {
	p := d.sub.producer
	if !p.o.Allow(d.sub.token).Hears {
		return nil, wake, stream.ErrRevoked
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if d.sub.current != d {
		return nil, wake, stream.ErrDone
	}
	if err := d.offer(); err != nil {
		return nil, wake, err
	}
	if err := d.agree(); err != nil {
		return nil, wake, err
	}
	d.due = append(d.due, d.pacer.Tick(p.o.Now())...)
	for _, each := range d.due {
		group = append(group, d.frame(each))
	}
	d.due = d.due[:0]
	switch waiting := d.pacer.Queued(); {
	case waiting > maxQueued:
		return nil, wake, errSlow
	case waiting == 0: // what the terms leave out counts as sent
		for session, at := range d.offered {
			d.sub.trail.Reach(session, at)
		}
	}
	return group, d.pacer.Wake(), nil
}

// offer passes on what is new in each session. The caller holds mu.
func (d *delivery) offer() error {
	p := d.sub.producer
	here := make(map[string]bool, len(p.tracks))
	for _, t := range p.tracks {
		here[t.id] = true
		if !d.terms.Hears(t.id) {
			continue
		}
		if _, known := d.offered[t.id]; !known {
			if err := d.begin(t); err != nil {
				return err
			}
		}
		at := d.offered[t.id]
		if at+1 < t.events[0].Seq {
			return errSlow
		}
		for _, item := range t.events[at+1-t.events[0].Seq:] {
			d.due = append(d.due, d.pacer.Offer(p.o.Now(), item)...)
			d.offered[t.id] = item.Seq
		}
	}
	for session := range d.offered {
		if !here[session] {
			delete(d.offered, session)
			d.sub.trail.Ended(session)
		}
	}
	return nil
}

// agree applies new terms, after what came before them. A session that is heard from now on is told as to a new listener, unless
// what followed the last position is still there. Anyone who can answer now, and could not before, is shown the open questions. The
// caller holds mu.
func (d *delivery) agree() error {
	if d.version == d.sub.version {
		return nil
	}
	before, now := d.terms, d.sub.terms
	d.terms, d.version = now, d.sub.version
	d.due = append(d.due, d.pacer.SetTerms(d.sub.producer.o.Now(), now)...)
	for _, t := range d.sub.producer.tracks {
		at, known := d.offered[t.id]
		if gap := at+1 < t.events[0].Seq; known && gap && !before.Hears(t.id) {
			delete(d.offered, t.id)
			known = false
		}
		for _, item := range t.asked {
			if known && before.Hears(t.id) && now.Hears(t.id) && now.Wants(item.Event) && !before.Wants(item.Event) {
				d.repeat(item, t.last())
			}
		}
	}
	return d.offer()
}

// frame returns a delivery as it is sent. The caller holds mu.
func (d *delivery) frame(each pacing.Delivery) stream.Frame {
	if d.terms.Numbers {
		each = d.sub.trail.Number(each)
	} else {
		d.sub.trail.Unnumbered()
	}
	f := stream.Frame{Event: eventName, Data: each.Raw}
	if d.again[each.EventID] {
		if delete(d.again, each.EventID); len(d.again) > 0 { // to resume here would leave out the others
			if d.terms.Numbers {
				d.sub.trail.Repeat(each)
			}
			return f
		}
	}
	f.ID = each.EventID
	d.sub.trail.Note(each)
	d.sub.trail.Reach(each.Session, each.Last)
	return f
}
