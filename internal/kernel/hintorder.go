package kernel

import (
	"slices"
	"sync"
)

// hintOrder publishes the hints of a turn in the order of its steps, which different goroutines commit.
// Its zero value is ready to use. Its content is lost with the process.
type hintOrder struct {
	mu    sync.Mutex
	turns map[string]*hintQueue
}

// hintQueue is the queue of one turn's hints. While it is busy, some goroutine publishes them.
type hintQueue struct {
	entries []*hintEntry
	busy    bool
}

// hintEntry is the entry of one step. Until its step is committed, it blocks those behind it.
type hintEntry struct {
	turn    string
	publish func()
}

// reserve adds an entry for a step that is being saved, after the steps whose commits it has read.
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

// drop removes an entry whose step was not saved; nil is allowed.
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

// ready runs publish once the hints of all earlier steps are published: here, or in the goroutine that publishes
// those.
func (o *hintOrder) ready(p *hintEntry, publish func()) {
	if p == nil {
		return
	}
	o.mu.Lock()
	p.publish = publish
	o.mu.Unlock()
	o.flush(p.turn)
}

// flush publishes the ready hints of a turn, unless another goroutine is doing so.
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
