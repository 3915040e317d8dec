package pacing

import (
	"bytes"
	"encoding/binary"
	"math"
	"math/bits"
	"slices"
	"strconv"
)

// maxTrail is how many deliveries a [Trail] remembers.
const maxTrail = 1024

// Trail is what one subscriber was sent, so that a later stream of it can resume after any of the last 1,024 deliveries: also where
// a critical event has overtaken others, and where events were merged. The zero value is an empty one.
type Trail struct {
	places   map[string]int32 // of the sessions
	sessions []progress       // one that is forgotten leaves a gap, for the next
	log      []sent           // the last deliveries; from maxTrail on a ring
	oldest   int              // where it begins
	numbered bool             // whether a session may have numbers
}

// progress is the position in a session.
type progress struct {
	session string // "" in a gap
	at      int64  // the last sequence number that was delivered
	logged  int    // how many deliveries of it the log has
	numbers int64  // how many of its deliveries have a number
	ended   bool   // it has ended, and all of it is delivered
}

// sent is one delivery. There are a thousand of them for each subscriber, so that they are small, and hold nothing that a collector of
// garbage has to look at.
type sent struct {
	id   uint64 // the [digest] of its event's
	last int64
	// before is how many events it stands for besides the last.
	before, place int32
}

// digest stands for an id in a log of a thousand.
func digest(id string) uint64 {
	const multiplier = 0x9e3779b97f4a7c15
	h := uint64(len(id)) + 1
	for ; len(id) >= 8; id = id[8:] {
		h = fold(h^binary.LittleEndian.Uint64([]byte(id[:8])), multiplier)
	}
	var rest [8]byte
	copy(rest[:], id)
	return fold(h^binary.LittleEndian.Uint64(rest[:]), multiplier)
}

func fold(a, b uint64) uint64 {
	high, low := bits.Mul64(a, b)
	return bits.RotateLeft64(high^low, 29) + b
}

// Forget empties the trail: the stream begins again.
func (t *Trail) Forget() { *t = Trail{} }

// Reach records the position in a session: everything up to it is delivered, or is left out by the terms.
func (t *Trail) Reach(session string, at int64) {
	place, known := t.places[session]
	if !known {
		place = t.add(session)
	}
	t.sessions[place].at, t.sessions[place].ended = at, false
}

// add makes room for a session.
func (t *Trail) add(session string) int32 {
	place := slices.IndexFunc(t.sessions, func(p progress) bool { return p.session == "" })
	if place < 0 {
		place = len(t.sessions)
		t.sessions = append(t.sessions, progress{})
	}
	if t.places == nil {
		t.places = map[string]int32{}
	}
	t.sessions[place] = progress{session: session}
	t.places[session] = int32(place)
	return int32(place)
}

// Ended records that a session has ended and is fully delivered. It is remembered only as long as a stream may go back to it, that is,
// while the log has one of its deliveries: a subscription may last for weeks.
func (t *Trail) Ended(session string) {
	if place, known := t.places[session]; known {
		t.sessions[place].ended = true
		t.release(place)
	}
}

// release forgets an ended session once the log has nothing of it.
func (t *Trail) release(place int32) {
	if p := &t.sessions[place]; p.ended && p.logged == 0 {
		delete(t.places, p.session)
		*p = progress{}
	}
}

// Note records a delivery that is about to be made, of a session whose position is known, and which it reaches.
func (t *Trail) Note(d Delivery) {
	place := t.places[d.Session]
	p := &t.sessions[place]
	p.logged++
	p.at = max(p.at, d.Last)
	t.append(sent{id: digest(d.EventID), last: d.Last, before: int32(min(d.Last-d.First, math.MaxInt32)), place: place})
}

// append takes a delivery into the log.
func (t *Trail) append(next sent) {
	if len(t.log) < maxTrail {
		t.log = append(t.log, next)
		return
	}
	gone := t.log[t.oldest]
	t.log[t.oldest] = next
	t.oldest = (t.oldest + 1) % maxTrail
	t.unlog(gone)
}

// Number gives a delivery that is about to be made its sequence_number: the first event of its session has 0, and each that follows one
// more, whatever the terms leave out or merge, also on a later stream that resumes after one of them (C-42). Where the first event was not
// sent, none of the session has a number (SEQ-42). The session's position is known.
func (t *Trail) Number(d Delivery) Delivery {
	p := &t.sessions[t.places[d.Session]]
	if d.Begins {
		p.numbers, t.numbered = 0, true
	} else if p.numbers == 0 {
		return d
	}
	end := bytes.LastIndexByte(d.Raw, '}')
	if end < 0 { // it cannot be read, and is passed on as it is
		return d
	}
	raw := make([]byte, 0, len(d.Raw)+len(`,"sequence_number":`)+20)
	raw = append(append(raw, d.Raw[:end]...), `,"sequence_number":`...)
	d.Raw = append(strconv.AppendInt(raw, p.numbers, 10), '}')
	p.numbers++
	return d
}

// Unnumbered is called in the place of [Trail.Number] for a delivery that goes out without: what follows in the sessions that were counted has no
// numbers either, for a count would leave it out.
func (t *Trail) Unnumbered() {
	if !t.numbered {
		return
	}
	t.numbered = false
	for i := range t.sessions {
		t.sessions[i].numbers = 0
	}
}

// Repeat records a delivery that is sent again and moves nothing, so that its number is known. No stream resumes behind it.
func (t *Trail) Repeat(d Delivery) {
	place := t.places[d.Session]
	p := &t.sessions[place]
	p.logged++
	t.append(sent{last: p.at, before: -1, place: place})
}

// unlog adjusts the counts for a delivery that leaves the log.
func (t *Trail) unlog(gone sent) {
	t.sessions[gone.place].logged--
	t.release(gone.place)
}

// After returns the position in each session after an event was delivered, if the trail remembers it, and forgets what came
// later: it is going to be delivered again.
func (t *Trail) After(id string) (at map[string]int64, known bool) {
	t.log = append(slices.Clone(t.log[t.oldest:]), t.log[:t.oldest]...)
	t.oldest = 0
	wanted := digest(id)
	i := slices.IndexFunc(t.log, func(d sent) bool { return d.id == wanted })
	if i < 0 {
		return nil, false
	}
	at = t.positions(i)
	for _, p := range t.sessions {
		if p.ended && at[p.session] == p.at { // there is nothing to go back to, and nothing more will come
			delete(at, p.session)
		}
	}
	for _, later := range t.log[i+1:] {
		p := &t.sessions[later.place]
		p.numbers = max(0, p.numbers-1)
		t.unlog(later)
	}
	t.log = t.log[:i+1]
	return at, true
}

// positions returns the position in each session after the delivery at a place of the log.
func (t *Trail) positions(i int) map[string]int64 {
	at := make(map[string]int64, len(t.places))
	for _, p := range t.sessions {
		if p.session != "" {
			at[p.session] = p.at
		}
	}
	here := t.log[i]
	session := t.sessions[here.place].session
	at[session] = max(at[session], here.last)
	for _, later := range t.log[i+1:] {
		session := t.sessions[later.place].session
		at[session] = min(at[session], later.last-int64(later.before)-1)
	}
	return at
}
