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

// Bus publishes committed messages. It is safe for concurrent use. After an error the message may not have
// been sent, and is tried again, unless the error has a method Unpublishable() bool that returns true: then the
// message can never be sent.
type Bus interface {
	Publish(ctx context.Context, subject string, header map[string][]string, payload []byte) error
}

// Outbox sends the messages that steps have committed. It queues messages that were committed here until they
// are sent, and remembers the sent ones until the ledger has recorded that. It sweeps messages that other
// processes have left unsent. Its own content is lost with the process, but the ledger has it all. Make it with
// [New], and keep [Outbox.Run] running. It is safe for concurrent use.
type Outbox struct {
	o      Options
	wakeup chan struct{} // written by anyone, read by Run

	mu          sync.Mutex
	queues      map[string]*sessionQueue // by session
	sweepAt     time.Duration            // when the ledger is swept next, by the monotonic clock
	flushAt     time.Duration            // when Run flushes acks at the latest
	resweep     bool                     // sweep once more soon after
	sendingOnce map[int64]struct{}       // messages that count as sent, but still wait for the bus
}

// Options are what an [Outbox] works with. All are required.
type Options struct {
	Ledger store.Ledger
	Bus    Bus
	Logger *slog.Logger
	// Poll is how often the ledger is swept for messages that others have left unsent.
	Poll time.Duration
	// Now returns the current timestamp, SinceBoot its monotonic clock, and MonotonicNow a time that is never set back.
	Now          func() turn.Timestamp
	SinceBoot    func() time.Duration
	MonotonicNow func() time.Time
	// Generation names the run of the runtime, and SaveIncarnation writes the count outside the ledger.
	Generation      func() string
	SaveIncarnation func(context.Context) error
	// Active reports whether this process works on a session. Undelivered is called with the messages
	// that can never be sent.
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

// wake makes Run check again.
func (p *Outbox) wake() {
	select {
	case p.wakeup <- struct{}{}:
	default:
	}
}

// sessionQueue is the queue of one session's messages, in the order of its steps.
type sessionQueue struct {
	entries  []*Entry      // the first is sent next
	busy     bool          // some goroutine is publishing
	retryAt  time.Duration // when to retry after the bus has failed, by the monotonic clock
	acks     []ack
	dead     []store.DeadLetter
	deadRows []store.Outgoing // the rows of dead
}

// Entry holds the messages of one step. Until it is known whether the step is committed, it blocks the entries
// of later steps.
type Entry struct {
	Session string
	rows    []store.Outgoing
	ready   bool
}

// ack is a row that was sent, and when, by the monotonic clock.
type ack struct {
	id int64
	at time.Duration
}

// Reserve adds an entry for a step that is being saved, after the steps whose commits it has read.
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

// Drop removes an entry whose step was not saved.
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

// next returns the next message of a session. Until the call of sent, the caller alone publishes for the session.
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

// sent records what became of the message that next returned.
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
	sendRetry sendResult = iota // the bus is unreachable
	sendDone
	sendImpossible // the message can never be sent
)

// Acks returns the sent rows of a session, for its next step to record in the ledger.
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

// Acked says that the ledger has recorded these rows.
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

// unacked collects what the ledger has not recorded yet: the messages sent before a time, and all dead letters
// with their rows. waiting says that more will come.
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

// deadRecorded says that the ledger has recorded these dead letters.
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

// blocked returns the sessions whose next message is ready but not being sent.
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

// has reports whether messages of a session are queued here.
func (p *Outbox) has(session string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.queues[session] != nil
}

// tidy drops an empty queue. The caller holds mu.
func (p *Outbox) tidy(session string) {
	if l := p.queues[session]; l != nil && !l.busy && len(l.entries)+len(l.acks)+len(l.dead) == 0 {
		delete(p.queues, session)
	}
}
