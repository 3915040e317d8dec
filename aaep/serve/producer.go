package serve

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/aaep/pacing"
	"github.com/earshot-dev/earshot/aaep/session"
)

// ErrClosed is the error of a producer that was closed.
var ErrClosed = errors.New("the producer is closed")

// Producer tells the sessions of a program to those who subscribe. Create it with [New]; it is safe for concurrent use.
type Producer struct {
	o        Options
	local    bool // only this machine is served, because anybody may hear
	manifest []byte
	mux      *http.ServeMux

	mu        sync.Mutex
	begun     int      // sessions so far
	tracks    []*track // in the order in which they began
	subs      map[string]*subscription
	left      []*subscription // whose connection has ended, so that their subscribers can resume
	questions map[string]*question
	closed    chan struct{}
}

// track is one session, as it was told.
type track struct {
	id      string
	number  int           // counts the sessions of the producer
	events  []pacing.Item // the latest, in order
	first   pacing.Item   // session.started
	state   *aaep.Event   // the latest state.changed
	asked   []pacing.Item // the open questions
	endedAt time.Time     // zero while it goes on
}

// last returns the place of the latest event; the first has 1.
func (t *track) last() int64 { return t.events[len(t.events)-1].Seq }

// New returns a producer, and serves nothing yet. The error says what the options lack.
func New(o Options) (*Producer, error) {
	p := &Producer{
		local: o.Allow == nil, subs: map[string]*subscription{}, questions: map[string]*question{}, closed: make(chan struct{}),
	}
	if p.o = o.withDefaults(); o.Allow == nil {
		p.o.Allow = onlyHears
	}
	raw, err := p.o.describe()
	if err != nil {
		return nil, err
	}
	p.manifest, p.mux = raw, p.routes()
	return p, nil
}

// Begin starts a session with its first event.
func (p *Producer) Begin(started aaep.SessionStarted) (*Session, error) {
	id, err := aaep.NewID(aaep.PrefixSession, p.o.Now(), p.o.Rand)
	if err != nil {
		return nil, fmt.Errorf("naming the session: %w", err)
	}
	s := &Session{producer: p, id: id}
	s.Emitter = session.NewEmitter(
		session.New(session.Options{SessionID: id, Producer: p.o.Producer, Language: p.o.Language}),
		session.EmitterOptions{Now: p.o.Now, Rand: p.o.Rand, Emit: p.publish},
	)
	if err := s.Start(started); err != nil {
		return nil, err
	}
	return s, nil
}

// publish keeps an event, and wakes those who hear it.
func (p *Producer) publish(event aaep.Event) error {
	raw, err := event.Encode()
	if err != nil {
		return fmt.Errorf("writing an event: %w", err)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.isClosed() {
		return ErrClosed
	}
	t := p.track(event.SessionID)
	item := pacing.Item{Session: t.id, Seq: int64(1), Event: event, Raw: raw}
	if len(t.events) > 0 {
		item.Seq = t.last() + 1
	}
	if t.events = append(t.events, item); len(t.events) > p.o.History {
		t.events = slices.Delete(t.events, 0, 1)
	}
	p.follow(t, item)
	for _, s := range p.subs {
		s.ring()
	}
	return nil
}

// track returns the track of a session, and makes one for a new session. The caller holds mu.
func (p *Producer) track(id string) *track {
	for _, t := range p.tracks {
		if t.id == id {
			return t
		}
	}
	p.sweep()
	p.begun++
	t := &track{id: id, number: p.begun}
	p.tracks = append(p.tracks, t)
	return t
}

// follow notes what a late subscriber has to be told (C-91), and when the session ends. The caller holds mu.
func (p *Producer) follow(t *track, item pacing.Item) {
	switch item.Event.Payload.(type) {
	case aaep.SessionStarted:
		t.first = item
	case aaep.StateChanged:
		t.state = &item.Event
	case aaep.AwaitingConfirmation, aaep.AwaitingClarification:
		t.asked = append(t.asked, item)
	case aaep.SessionCompleted, aaep.SessionErrored, aaep.SessionCancelled:
		t.endedAt = p.o.Now()
	}
}

// answered notes that a question is no longer open.
func (p *Producer) answered(q *question) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.questions, q.token)
	for _, t := range p.tracks {
		if t.id == q.session {
			t.asked = slices.DeleteFunc(t.asked, func(i pacing.Item) bool { return tokenOf(i.Event) == q.token })
		}
	}
}

// tokenOf returns the reply token of a question; "" for any other event.
func tokenOf(e aaep.Event) string {
	switch asked := e.Payload.(type) {
	case aaep.AwaitingConfirmation:
		return asked.ReplyToken
	case aaep.AwaitingClarification:
		return asked.ReplyToken
	}
	return ""
}

// sweep forgets what nobody can come back to. The caller holds mu.
func (p *Producer) sweep() {
	old := p.o.Now().Add(-retention)
	p.tracks = slices.DeleteFunc(p.tracks, func(t *track) bool { return !t.endedAt.IsZero() && t.endedAt.Before(old) })
	p.left = slices.DeleteFunc(p.left, func(s *subscription) bool { return s.idle.Before(old) })
	for id, s := range p.subs {
		if s.current == nil && s.idle.Before(old) {
			delete(p.subs, id)
		}
	}
}

// Close ends every subscription, and every question that waits, which never counts as a yes. Sessions that are open stay without an
// end: end them first. It may be called more than once.
func (p *Producer) Close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.isClosed() {
		close(p.closed)
	}
}

func (p *Producer) isClosed() bool {
	select {
	case <-p.closed:
		return true
	default:
		return false
	}
}
