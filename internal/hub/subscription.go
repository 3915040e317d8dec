package hub

import (
	"container/list"
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

// Subscription is one subscriber's standing request for events. It has one stream at a time. It is released when it is
// closed, when its principal loses its rights, or when it had no stream for the hub's grace. It is safe for concurrent
// use.
type Subscription struct {
	hub *Hub
	id  string
	who access.Principal

	mu        sync.Mutex
	terms     *pacing.Terms // nobody changes them: new ones replace them
	accepted  aaep.SubscriptionAccepted
	names     []string // the sessions that it names; nil means all
	version   int      // of the terms
	ended     error
	stream    *stream // the current one
	idle      time.Time
	trail     pacing.Trail
	life      int         // the feed's life that the trail belongs to
	presented []presented // how the latest questions were shown, oldest first

	waits *list.Element // of the registry, which guards it: its place among the retained ones, nil while it occupies a slot
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
	s.hub.subs.streams(s)
	return s.stream, nil
}

// leave records that a stream has ended, unless another has replaced it.
func (s *Subscription) leave(st *stream) {
	st.stop(context.Canceled)
	crowded, was := s.vacate(st)
	if !was {
		return
	}
	s.hub.vigil.ring()
	for _, other := range crowded {
		other.end(ErrClosed)
	}
}

// vacate reports whether the stream was the current one, and then returns those that are retained beyond the limit.
func (s *Subscription) vacate(st *stream) (crowded []*Subscription, was bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stream != st {
		return nil, false
	}
	s.stream, s.idle = nil, s.hub.o.Now()
	return s.hub.subs.retain(s), true
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

func (s *Subscription) abandoned(since time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.stream == nil && !s.idle.After(since)
}

// agree applies terms.
func (s *Subscription) agree(terms pacing.Terms, accepted aaep.SubscriptionAccepted) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.terms, s.accepted, s.names = &terms, accepted, names(terms)
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
func (s *Subscription) present() (terms *pacing.Terms, names []string, version int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.terms, s.names, s.version
}

// track changes what the subscription remembers of its deliveries, for its current stream only.
func (s *Subscription) track(st *stream, change func(*pacing.Trail)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stream == st {
		change(&s.trail)
	}
}

// forget drops the trail of deliveries: the stream begins again.
func (s *Subscription) forget(st *stream, life int) {
	s.track(st, func(t *pacing.Trail) {
		t.Forget()
		s.life = life
	})
}

// setCursor records the position of a stream in a session.
func (s *Subscription) setCursor(st *stream, session string, at int64) {
	s.track(st, func(t *pacing.Trail) { t.Reach(session, at) })
}

// done records that a session has ended and is fully delivered.
func (s *Subscription) done(st *stream, session string) {
	s.track(st, func(t *pacing.Trail) { t.Ended(session) })
}

// note records a delivery that is about to be made, and returns it with its number, if its subscriber wants numbers. again: it is sent
// again, and moves nothing. A stream has a cursor in each session that it delivers.
func (s *Subscription) note(st *stream, d pacing.Delivery, again bool) pacing.Delivery {
	s.track(st, func(t *pacing.Trail) {
		if st.terms.Numbers {
			d = t.Number(d)
		} else {
			t.Unnumbered()
		}
		if !again {
			t.Note(d)
		} else if st.terms.Numbers {
			t.Repeat(d)
		}
	})
	return d
}

// behind returns the position in each session after an event was delivered, if the subscription remembers it.
func (s *Subscription) behind(id string, life int) (at map[string]int64, known bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.life != life {
		return nil, false
	}
	return s.trail.After(id)
}
