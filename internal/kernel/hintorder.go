package kernel

import (
	"slices"
	"sync"
)

// hintOrder has the hints of a turn leave in the order of its steps, which are committed by different goroutines.
// Its zero value is ready. What it holds is lost with the process.
type hintOrder struct {
	mu    sync.Mutex
	turns map[string]*hintQueue
}

// hintQueue is the way out of one turn's hints. While it is busy, somebody publishes them.
type hintQueue struct {
	entries []*hintEntry
	busy    bool
}

// hintEntry is that of one step. Until its step is committed, it keeps those behind it back.
type hintEntry struct {
	turn    string
	publish func()
}

// reserve takes the place of a step that is being saved: behind those that it follows, for it has read what they
// have committed.
func (o *hintOrder) reserve(turnID string) *hintEntry {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.turns == nil {
		o.turns = map[string]*hintQueue{}
	}
	l := o.turns[turnID]
	if l == nil {
		l = &hintQueue{}
		o.turns[turnID] = l
	}
	p := &hintEntry{turn: turnID}
	l.entries = append(l.entries, p)
	return p
}

// drop gives a place back: its step was not saved. A step without one has none to give.
func (o *hintOrder) drop(p *hintEntry) {
	if p == nil {
		return
	}
	o.mu.Lock()
	l := o.turns[p.turn]
	l.entries = slices.DeleteFunc(l.entries, func(other *hintEntry) bool { return other == p })
	o.mu.Unlock()
	o.flush(p.turn)
}

// ready has publish run when all steps before are done with theirs: here, or by anyone who does that.
func (o *hintOrder) ready(p *hintEntry, publish func()) {
	if p == nil {
		return
	}
	o.mu.Lock()
	p.publish = publish
	o.mu.Unlock()
	o.flush(p.turn)
}

// flush publishes what can leave of a turn, if nobody else does.
func (o *hintOrder) flush(turnID string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	l := o.turns[turnID]
	if l == nil || l.busy {
		return
	}
	l.busy = true
	for len(l.entries) > 0 && l.entries[0].publish != nil {
		next := l.entries[0]
		l.entries = l.entries[1:]
		o.mu.Unlock()
		next.publish()
		o.mu.Lock()
	}
	if l.busy = false; len(l.entries) == 0 {
		delete(o.turns, turnID)
	}
}
