package hints

import (
	"slices"
	"sync"
)

// order publishes the hints of a turn in the order of its steps, which different goroutines commit.
// Its zero value is ready to use. Its content is lost with the process.
type order struct {
	mu    sync.Mutex
	turns map[string]*queue
}

// queue is the queue of one turn's hints. While it is busy, some goroutine publishes them.
type queue struct {
	entries []*Entry
	busy    bool
}

// Entry is the place of one step. Until its step is committed, it blocks those behind it.
type Entry struct {
	turn    string
	publish func()
}

// reserve adds an entry for a step that is being saved, after the steps whose commits it has read.
func (o *order) reserve(turnID string) *Entry {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.turns == nil {
		o.turns = map[string]*queue{}
	}
	l := o.turns[turnID]
	if l == nil {
		l = &queue{}
		o.turns[turnID] = l
	}
	p := &Entry{turn: turnID}
	l.entries = append(l.entries, p)
	return p
}

// drop removes an entry whose step was not saved.
func (o *order) drop(p *Entry) {
	o.mu.Lock()
	l := o.turns[p.turn]
	l.entries = slices.DeleteFunc(l.entries, func(other *Entry) bool { return other == p })
	o.mu.Unlock()
	o.flush(p.turn)
}

// ready runs publish once the hints of all earlier steps are published: here, or in the goroutine that publishes
// those.
func (o *order) ready(p *Entry, publish func()) {
	o.mu.Lock()
	p.publish = publish
	o.mu.Unlock()
	o.flush(p.turn)
}

// flush publishes the ready hints of a turn, unless another goroutine is doing so.
func (o *order) flush(turnID string) {
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
