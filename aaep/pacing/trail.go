package pacing

import "slices"

// maxTrail is how many deliveries a [Trail] remembers.
const maxTrail = 1024

// Trail is what one subscriber was sent, so that a later stream of it can resume after any of the last 1,024 deliveries: also where
// a critical event has overtaken others, and where events were merged. The zero value is an empty one.
type Trail struct {
	sessions map[string]*progress
	log      []sent // the last deliveries; from maxTrail on a ring
	oldest   int    // where it begins
}

// progress is the position in a session.
type progress struct {
	at     int64 // the last sequence number that was delivered
	logged int   // how many deliveries of it the log has
	ended  bool  // it has ended, and all of it is delivered
}

// sent is one delivery.
type sent struct {
	id, session string
	first, last int64
}

// Forget empties the trail: the stream begins again.
func (t *Trail) Forget() { *t = Trail{} }

// Reach records the position in a session: everything up to it is delivered, or is left out by the terms.
func (t *Trail) Reach(session string, at int64) {
	if t.sessions == nil {
		t.sessions = map[string]*progress{}
	}
	if t.sessions[session] == nil {
		t.sessions[session] = &progress{}
	}
	t.sessions[session].at, t.sessions[session].ended = at, false
}

// Ended records that a session has ended and is fully delivered. It is remembered only as long as a stream may go back to it, that is,
// while the log has one of its deliveries: a subscription may last for weeks.
func (t *Trail) Ended(session string) {
	if p, known := t.sessions[session]; known {
		p.ended = true
		t.release(session, p)
	}
}

// release forgets an ended session once the log has nothing of it.
func (t *Trail) release(session string, p *progress) {
	if p.ended && p.logged == 0 {
		delete(t.sessions, session)
	}
}

// Note records a delivery that is about to be made, of a session whose position is known.
func (t *Trail) Note(d Delivery) {
	p := t.sessions[d.Session]
	p.logged++
	next := sent{id: d.EventID, session: d.Session, first: d.First, last: d.Last}
	if len(t.log) < maxTrail {
		t.log = append(t.log, next)
		return
	}
	gone := t.log[t.oldest]
	t.log[t.oldest] = next
	t.oldest = (t.oldest + 1) % maxTrail
	t.unlog(gone)
}

// unlog adjusts the counts for a delivery that leaves the log.
func (t *Trail) unlog(gone sent) {
	p := t.sessions[gone.session]
	p.logged--
	t.release(gone.session, p)
}

// After returns the position in each session after an event was delivered, if the trail remembers it, and forgets what came
// later: it is going to be delivered again.
func (t *Trail) After(id string) (at map[string]int64, known bool) {
	t.log = append(slices.Clone(t.log[t.oldest:]), t.log[:t.oldest]...)
	t.oldest = 0
	i := slices.IndexFunc(t.log, func(d sent) bool { return d.id == id })
	if i < 0 {
		return nil, false
	}
	at = make(map[string]int64, len(t.sessions))
	for session, p := range t.sessions {
		at[session] = p.at
	}
	at[t.log[i].session] = max(at[t.log[i].session], t.log[i].last)
	for _, later := range t.log[i+1:] {
		if before, is := at[later.session]; is {
			at[later.session] = min(before, later.first-1)
		}
	}
	for session, p := range t.sessions {
		if p.ended && at[session] == p.at { // there is nothing to go back to, and nothing more will come
			delete(at, session)
		}
	}
	for _, later := range t.log[i+1:] {
		t.unlog(later)
	}
	clear(t.log[i+1:])
	t.log = t.log[:i+1]
	return at, true
}
