package outbox

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/earshot-dev/earshot/internal/kernel/store"
	"github.com/earshot-dev/earshot/internal/kernel/turn"
)

// Bus publishes what has been committed. It is safe for concurrent use; an error
// says that the message may not have left, and is tried again unless it has a method
// Unpublishable() bool that says true: no message of that form can ever leave.
type Bus interface {
	Publish(ctx context.Context, subject string, header map[string][]string, payload []byte) error
}

// Outbox sends the messages that steps have committed. It holds those that were committed here until
// they have left, and remembers those that have until the ledger knows it; what others have left
// behind it sweeps. What it holds is lost with the process; the ledger has it all. Make it with
// [New], and keep [Outbox.Run] running. It is safe for concurrent use.
type Outbox struct {
	o      Options
	wakeup chan struct{} // written by anyone, read by Run

	mu          sync.Mutex
	queues      map[string]*sessionQueue // by session
	sweepAt     time.Duration            // when the ledger is swept, by the second clock
	flushAt     time.Duration            // when Run is sure to look what has left
	resweep     bool                     // and soon again
	sendingOnce map[int64]struct{}       // messages that count as sent, and wait here for the bus
}

// Options are what an [Outbox] works with. All are required.
type Options struct {
	Ledger store.Ledger
	Bus    Bus
	Logger *slog.Logger
	// Poll is how often the ledger is swept for what others have left behind.
	Poll time.Duration
	// Now is the present, SinceBoot its second clock, and MonotonicNow a time that is never set back.
	Now          func() turn.Timestamp
	SinceBoot    func() time.Duration
	MonotonicNow func() time.Time
	// Generation is the life of the runtime, and SaveIncarnation writes the count outside the ledger.
	Generation      func() string
	SaveIncarnation func(context.Context) error
	// Active reports whether this process works on a session, and Undelivered reports messages that
	// can never leave.
	Active      func(session string) bool
	Undelivered func(context.Context, []store.Outgoing)
	// Reached is called at the named points of the fault tests.
	Reached func(point string)
}

// New makes an outbox that sweeps soon after its start.
func New(o Options) *Outbox {
	return &Outbox{
		o: o, wakeup: make(chan struct{}, 1), queues: map[string]*sessionQueue{}, resweep: true, sendingOnce: map[int64]struct{}{},
	}
}

// wake has Run look again.
func (p *Outbox) wake() {
	select {
	case p.wakeup <- struct{}{}:
	default:
	}
}

// sessionQueue is the way out of one session's messages, in the order of its steps.
type sessionQueue struct {
	entries  []*Entry      // the first is the next to leave
	busy     bool          // somebody is publishing
	retryAt  time.Duration // what the bus has refused is not tried before, by the second clock
	acks     []ack
	dead     []store.DeadLetter
	deadRows []store.Outgoing // the rows that dead are of
}

// Entry is what one step has to say. Until it is known whether the step is committed, it
// keeps those of later steps back.
type Entry struct {
	Session string
	rows    []store.Outgoing
	ready   bool
}

// ack is a row that has left, and when, by the second clock.
type ack struct {
	id int64
	at time.Duration
}

// Reserve takes the place of a step that is being saved: behind those that it follows, for it
// has read what they have committed.
func (p *Outbox) Reserve(session string) *Entry {
	p.mu.Lock()
	defer p.mu.Unlock()
	l := p.queues[session]
	if l == nil {
		l = &sessionQueue{}
		p.queues[session] = l
	}
	m := &Entry{Session: session}
	l.entries = append(l.entries, m)
	return m
}

// Drop gives a place back: its step was not saved.
func (p *Outbox) Drop(m *Entry) {
	p.mu.Lock()
	defer p.mu.Unlock()
	l := p.queues[m.Session]
	l.entries = slices.DeleteFunc(l.entries, func(other *Entry) bool { return other == m })
	p.tidy(m.Session)
}

// Ready says that a step is committed with these messages.
func (p *Outbox) Ready(m *Entry, rows []store.Outgoing) {
	p.mu.Lock()
	defer p.mu.Unlock()
	m.rows, m.ready = slices.Clone(rows), true
}

// next hands out the next message of a session to anyone who publishes for it alone, until sent.
func (p *Outbox) next(session string, now time.Duration) (store.Outgoing, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	l := p.queues[session]
	if l == nil || l.busy || len(l.entries) == 0 || !l.entries[0].ready || now < l.retryAt {
		return store.Outgoing{}, false
	}
	l.busy = true
	return l.entries[0].rows[0], true
}

// sent says what became of the message that next handed out.
func (p *Outbox) sent(row store.Outgoing, became sendResult, reason string, now time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	l := p.queues[row.Session]
	l.busy = false
	switch became {
	case sendRetry:
		l.retryAt = now + relayPause
		return
	case sendDone:
		l.acks = append(l.acks, ack{row.ID, now})
	case sendImpossible:
		l.dead, l.deadRows = append(l.dead, store.DeadLetter{ID: row.ID, Reason: reason}), append(l.deadRows, row)
	}
	if m := l.entries[0]; len(m.rows) > 1 {
		m.rows = m.rows[1:]
	} else {
		l.entries = l.entries[1:]
	}
}

// sendResult is what became of a message.
type sendResult int

const (
	sendRetry sendResult = iota // the bus is out of reach
	sendDone
	sendImpossible // no message of that form can ever leave
)

// Acks are the rows of a session that have left, for its next step to tell the ledger.
func (p *Outbox) Acks(session string) []int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	var ids []int64
	if l := p.queues[session]; l != nil {
		for _, m := range l.acks {
			ids = append(ids, m.id)
		}
	}
	return ids
}

// Acked says that the ledger knows of these.
func (p *Outbox) Acked(session string, ids []int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	l := p.queues[session]
	if l == nil || len(ids) == 0 {
		return
	}
	l.acks = slices.DeleteFunc(l.acks, func(m ack) bool { return slices.Contains(ids, m.id) })
	p.tidy(session)
}

// unacked collects what the ledger does not know yet: what has left before a time, and all
// that never will, with the rows that those are of. waiting says that more will come.
func (p *Outbox) unacked(before time.Duration) (done map[string][]int64, dead []store.DeadLetter, of []store.Outgoing, waiting bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	done = map[string][]int64{}
	for session, l := range p.queues {
		for _, m := range l.acks {
			if m.at <= before {
				done[session] = append(done[session], m.id)
			} else {
				waiting = true
			}
		}
		dead, of = append(dead, l.dead...), append(of, l.deadRows...)
	}
	return done, dead, of, waiting
}

// deadRecorded says that the ledger knows of the messages that never leave.
func (p *Outbox) deadRecorded(of []store.Outgoing) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, row := range of {
		l := p.queues[row.Session]
		l.dead = slices.DeleteFunc(l.dead, func(d store.DeadLetter) bool { return d.ID == row.ID })
		l.deadRows = slices.DeleteFunc(l.deadRows, func(o store.Outgoing) bool { return o.ID == row.ID })
		p.tidy(row.Session)
	}
}

// blocked lists the sessions whose next message could leave, and does not.
func (p *Outbox) blocked() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	var all []string
	for session, l := range p.queues {
		if !l.busy && len(l.entries) > 0 && l.entries[0].ready {
			all = append(all, session)
		}
	}
	return all
}

// has reports whether messages of a session are on their way here.
func (p *Outbox) has(session string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.queues[session] != nil
}

// tidy forgets a lane without anything. The caller holds mu.
func (p *Outbox) tidy(session string) {
	if l := p.queues[session]; l != nil && !l.busy && len(l.entries)+len(l.acks)+len(l.dead) == 0 {
		delete(p.queues, session)
	}
}
