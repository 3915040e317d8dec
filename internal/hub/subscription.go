package hub

import (
	"context"
	"iter"
	"slices"
	"sync"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/aaep/pacing"
	"github.com/earshot-dev/earshot/internal/hub/access"
)

// maxLog is how many deliveries a subscription remembers, so that a stream can resume after any of them.
const maxLog = 1024

// Subscription is one subscriber's standing request for events. It has one stream at a time. It is released when it is
// closed, when its principal loses its rights, or when it had no stream for the hub's grace. It is safe for concurrent
// use.
type Subscription struct {
	hub *Hub
	id  string
	who access.Principal

	mu        sync.Mutex
	terms     pacing.Terms
	accepted  aaep.SubscriptionAccepted
	names     []string // the sessions that it names; nil means all
	version   int      // of the terms
	ended     error
	stream    *stream // the current one
	streamed  bool    // there has been one
	idle      time.Time
	sessions  map[string]*progress
	log       []sent      // the last deliveries, oldest first
	life      int         // the feed's life that sessions and log belong to
	presented []presented // how the latest questions were shown, oldest first
}

// progress is the position of a subscription in a session.
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

// ID returns the subscription's id.
func (s *Subscription) ID() string { return s.id }

// Principal returns the principal of the subscription.
func (s *Subscription) Principal() access.Principal { return s.who }

// Accepted returns the current terms, for the subscriber; after a renegotiation, the new ones.
func (s *Subscription) Accepted() aaep.SubscriptionAccepted {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.accepted
}

// Close ends the subscription and its stream. It may be called more than once.
func (s *Subscription) Close() { s.end(ErrClosed) }

// Deliveries streams the events of the subscription. A running stream ends with [ErrSuperseded]: the newest one wins.
//
// Without an event id it begins again. For every session under way it sends session.started again, a state.changed with
// the current state, and the open questions; then everything that follows. With the id of an event that this
// subscription has delivered or that the ledger knows, it resumes after it, without a gap. What may or may not have
// been delivered before is sent again, so that a subscriber that recognizes events by their ids (TR-06) gets each once.
// An unknown id begins again (TR-SSE-10).
//
// It ends quietly with the context or with the consumer. Any other end is one error, the last value: [ErrSuperseded],
// [ErrRevoked], [ErrClosed], [ErrStopping], [ErrLedgerChanged], or the kernel's refusal. A slow consumer delays nobody
// else, and costs little memory: what it has not received stays in the ledger.
func (s *Subscription) Deliveries(ctx context.Context, lastEventID string) iter.Seq2[Delivery, error] {
	return func(yield func(Delivery, error) bool) {
		st, err := s.begin(ctx, yield)
		if err != nil {
			yield(Delivery{}, err)
			return
		}
		defer s.leave(st)
		if err := st.run(lastEventID); err != nil && !st.abandoned {
			yield(Delivery{}, err)
		}
	}
}

// begin makes a stream the current one.
func (s *Subscription) begin(ctx context.Context, yield func(Delivery, error) bool) (*stream, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended != nil {
		return nil, s.ended
	}
	if s.stream != nil {
		s.stream.stop(ErrSuperseded)
	}
	s.stream = newStream(ctx, s, yield)
	return s.stream, nil
}

// leave records that a stream has ended, unless another has replaced it.
func (s *Subscription) leave(st *stream) {
	st.stop(context.Canceled)
	if !s.vacate(st) {
		return
	}
	s.hub.vigil.ring()
	for _, crowded := range s.hub.subs.crowded() {
		crowded.end(ErrClosed)
	}
}

func (s *Subscription) vacate(st *stream) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stream != st {
		return false
	}
	s.stream, s.streamed, s.idle = nil, true, s.hub.o.Now()
	return true
}

// end closes the subscription with a reason. The first reason counts.
func (s *Subscription) end(why error) {
	s.mu.Lock()
	if s.ended == nil {
		s.ended = why
		if s.stream != nil {
			s.stream.stop(why)
		}
	}
	s.mu.Unlock()
	s.hub.subs.remove(s)
	s.hub.vigil.ring()
}

// kept reports whether the subscription is only retained so that its subscriber can come back, and since when.
func (s *Subscription) kept() (since time.Time, kept bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.idle, s.stream == nil && s.streamed
}

func (s *Subscription) abandoned(since time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.stream == nil && !s.idle.After(since)
}

// agree applies terms.
func (s *Subscription) agree(terms pacing.Terms, accepted aaep.SubscriptionAccepted) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.terms, s.accepted, s.names = terms, accepted, names(terms)
	s.version++
	if s.stream != nil {
		s.stream.mail.ring()
	}
	s.hub.vigil.ring()
}

// names returns the sessions that the terms name.
func names(t pacing.Terms) []string {
	var narrow struct {
		Sessions []string `json:"session_ids"`
	}
	if json.Unmarshal(t.Honored.Extensions[aaep.PrefixEarshot], &narrow) != nil {
		return nil // what cannot be parsed restricts nothing
	}
	return slices.Compact(slices.Sorted(slices.Values(narrow.Sessions)))
}

// present returns the current terms.
func (s *Subscription) present() (terms pacing.Terms, names []string, version int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.terms, s.names, s.version
}

// forget drops the log of deliveries: the stream begins again.
func (s *Subscription) forget(st *stream, life int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stream == st {
		s.sessions, s.log, s.life = map[string]*progress{}, nil, life
	}
}

// setCursor records the position of a stream in a session.
func (s *Subscription) setCursor(st *stream, session string, at int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stream != st {
		return
	}
	if s.sessions[session] == nil {
		s.sessions[session] = &progress{}
	}
	s.sessions[session].at, s.sessions[session].ended = at, false
}

// done records that a session has ended and is fully delivered. It is remembered only as long as a stream may go back
// to it, that is, while the log has one of its deliveries: a subscription may last for weeks.
func (s *Subscription) done(st *stream, session string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p, known := s.sessions[session]
	if s.stream != st || !known {
		return
	}
	p.ended = true
	s.release(session, p)
}

// release forgets an ended session once the log has nothing of it. The caller holds mu.
func (s *Subscription) release(session string, p *progress) {
	if p.ended && p.logged == 0 {
		delete(s.sessions, session)
	}
}

// note records a delivery that is about to be made.
func (s *Subscription) note(st *stream, d sent) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stream != st {
		return
	}
	s.log = append(s.log, d)
	s.sessions[d.session].logged++ // a stream has a cursor in each session that it delivers
	if len(s.log) > maxLog {
		s.unlog(s.log[:1])
		s.log = s.log[1:]
	}
}

// unlog adjusts the counts for deliveries that leave the log. The caller holds mu.
func (s *Subscription) unlog(gone []sent) {
	for i, d := range gone {
		p := s.sessions[d.session]
		p.logged--
		s.release(d.session, p)
		gone[i] = sent{}
	}
}

// behind returns the position in each session after an event was delivered, if the subscription remembers it.
func (s *Subscription) behind(id string, life int) (at map[string]int64, known bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := slices.IndexFunc(s.log, func(d sent) bool { return d.id == id })
	if i < 0 || s.life != life {
		return nil, false
	}
	at = make(map[string]int64, len(s.sessions))
	for session, p := range s.sessions {
		at[session] = p.at
	}
	at[s.log[i].session] = max(at[s.log[i].session], s.log[i].last)
	for _, later := range s.log[i+1:] {
		if before, is := at[later.session]; is {
			at[later.session] = min(before, later.first-1)
		}
	}
	for session, p := range s.sessions {
		if p.ended && at[session] == p.at { // there is nothing to go back to, and nothing more will come
			delete(at, session)
		}
	}
	s.unlog(s.log[i+1:])
	s.log = s.log[:i+1]
	return at, true
}
