package kernel

import (
	"slices"
	"sync"
	"time"
)

// post holds the messages that were committed here until they have left, and remembers those
// that have until the ledger knows it. What it holds is lost with the process; the ledger has
// it all.
type post struct {
	mu    sync.Mutex
	lanes map[string]*lane // by session
}

// lane is the way out of one session's messages, in the order of its steps.
type lane struct {
	letters []*letter     // the first is the next to leave
	busy    bool          // somebody is publishing
	retry   time.Duration // what the bus has refused is not tried before, by the second clock
	left    []mark
	dead    []DeadLetter
	deadOf  []Outgoing // the rows that dead are of
}

// letter is what one step has to say. Until it is known whether the step is committed, it
// keeps those of later steps back.
type letter struct {
	session string
	rows    []Outgoing
	ready   bool
}

// mark is a row that has left, and when, by the second clock.
type mark struct {
	id int64
	at time.Duration
}

// expect takes the place of a step that is being saved: behind those that it follows, for it
// has read what they have committed.
func (p *post) expect(session string) *letter {
	p.mu.Lock()
	defer p.mu.Unlock()
	l := p.lanes[session]
	if l == nil {
		l = &lane{}
		p.lanes[session] = l
	}
	m := &letter{session: session}
	l.letters = append(l.letters, m)
	return m
}

// drop gives a place back: its step was not saved.
func (p *post) drop(m *letter) {
	p.mu.Lock()
	defer p.mu.Unlock()
	l := p.lanes[m.session]
	l.letters = slices.DeleteFunc(l.letters, func(other *letter) bool { return other == m })
	p.tidy(m.session)
}

// ready says that a step is committed with these messages.
func (p *post) ready(m *letter, rows []Outgoing) {
	p.mu.Lock()
	defer p.mu.Unlock()
	m.rows, m.ready = slices.Clone(rows), true
}

// take hands out the next message of a session to anyone who publishes for it alone, until give.
func (p *post) take(session string, now time.Duration) (Outgoing, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	l := p.lanes[session]
	if l == nil || l.busy || len(l.letters) == 0 || !l.letters[0].ready || now < l.retry {
		return Outgoing{}, false
	}
	l.busy = true
	return l.letters[0].rows[0], true
}

// give says what became of the message that take handed out.
func (p *post) give(row Outgoing, became fate, reason string, now time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	l := p.lanes[row.Session]
	l.busy = false
	switch became {
	case waits:
		l.retry = now + relayPause
		return
	case left:
		l.left = append(l.left, mark{row.ID, now})
	case never:
		l.dead, l.deadOf = append(l.dead, DeadLetter{ID: row.ID, Reason: reason}), append(l.deadOf, row)
	}
	if m := l.letters[0]; len(m.rows) > 1 {
		m.rows = m.rows[1:]
	} else {
		l.letters = l.letters[1:]
	}
}

// fate is what became of a message.
type fate int

const (
	waits fate = iota // the bus is out of reach
	left
	never // no message of that form can ever leave
)

// marks are the rows of a session that have left, for its next step to tell the ledger.
func (p *post) marks(session string) []int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	var ids []int64
	if l := p.lanes[session]; l != nil {
		for _, m := range l.left {
			ids = append(ids, m.id)
		}
	}
	return ids
}

// marked says that the ledger knows of these.
func (p *post) marked(session string, ids []int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	l := p.lanes[session]
	if l == nil || len(ids) == 0 {
		return
	}
	l.left = slices.DeleteFunc(l.left, func(m mark) bool { return slices.Contains(ids, m.id) })
	p.tidy(session)
}

// unmarked collects what the ledger does not know yet: what has left before a time, and all
// that never will, with the rows that those are of. waiting says that more will come.
func (p *post) unmarked(before time.Duration) (done map[string][]int64, dead []DeadLetter, of []Outgoing, waiting bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	done = map[string][]int64{}
	for session, l := range p.lanes {
		for _, m := range l.left {
			if m.at <= before {
				done[session] = append(done[session], m.id)
			} else {
				waiting = true
			}
		}
		dead, of = append(dead, l.dead...), append(of, l.deadOf...)
	}
	return done, dead, of, waiting
}

// buried says that the ledger knows of the messages that never leave.
func (p *post) buried(of []Outgoing) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, row := range of {
		l := p.lanes[row.Session]
		l.dead = slices.DeleteFunc(l.dead, func(d DeadLetter) bool { return d.ID == row.ID })
		l.deadOf = slices.DeleteFunc(l.deadOf, func(o Outgoing) bool { return o.ID == row.ID })
		p.tidy(row.Session)
	}
}

// stuck lists the sessions whose next message could leave, and does not.
func (p *post) stuck() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	var all []string
	for session, l := range p.lanes {
		if !l.busy && len(l.letters) > 0 && l.letters[0].ready {
			all = append(all, session)
		}
	}
	return all
}

// holds reports whether messages of a session are on their way here.
func (p *post) holds(session string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.lanes[session] != nil
}

// tidy forgets a lane without anything. The caller holds mu.
func (p *post) tidy(session string) {
	if l := p.lanes[session]; l != nil && !l.busy && len(l.letters)+len(l.left)+len(l.dead) == 0 {
		delete(p.lanes, session)
	}
}
