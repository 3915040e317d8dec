package hub

import (
	"context"
	"iter"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/aaep/pacing"
	"github.com/earshot-dev/earshot/internal/hub/access"
)

// maxLog is how many deliveries a subscription remembers, so that a stream can go on
// behind any of them.
const maxLog = 1024

// Subscription is one subscriber's standing wish to hear. Its streams come and go, one at
// a time; it is released when it is closed, when its principal loses its rights, or when
// nobody has streamed it for the hub's grace. It is safe for concurrent use.
type Subscription struct {
	hub *Hub
	id  string
	who access.Principal

	mu            sync.Mutex
	terms         pacing.Terms
	accepted      aaep.SubscriptionAccepted
	names         []string // the sessions it is narrowed to; none is all
	version       int      // of the terms
	ended         error
	stream        *stream // the one under way
	idle          time.Time
	sent          map[string]int64 // the last number that was delivered, by session
	log           []sent           // the last deliveries, oldest first
	presented     []presented      // how the last questions were put to it, oldest first
	endedSessions map[string]bool  // sessions of sent that have ended, all of them delivered
	life          int              // the feed's, to which the two belong
}

// sent is one delivery that was made.
type sent struct {
	id, session string
	first, last int64
}

// ID returns the subscription's id.
func (s *Subscription) ID() string { return s.id }

// Principal returns whose subscription it is.
func (s *Subscription) Principal() access.Principal { return s.who }

// Accepted returns the terms as they stand, for the subscriber; after a renegotiation,
// the new ones.
func (s *Subscription) Accepted() aaep.SubscriptionAccepted {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.accepted
}

// Close ends the subscription and its stream. It may be called more than once.
func (s *Subscription) Close() { s.end(ErrClosed) }

// Deliveries streams what the subscription hears. A stream that is under way ends with
// [ErrSuperseded]: the newest counts.
//
// Without an event id it begins again: of every session under way it sends session.started
// again, a state.changed that says where the session is, and the questions that are open;
// then everything that comes. With the id of an event, any that this subscription has
// delivered or that the ledger knows, it goes on behind it, without a gap; what may or may
// not have been delivered before is sent again, so that a subscriber that knows events by
// their ids (TR-06) hears each once. An id that leads nowhere begins again (TR-SSE-10).
//
// It ends quietly with the context or with the consumer; any other end is one error, the
// last value: [ErrSuperseded], [ErrRevoked], [ErrClosed], [ErrStopping], [ErrLedgerChanged], or the
// kernel's refusal. A slow consumer holds up nobody else, and little is kept for it: what
// it has not heard stays in the ledger.
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

// begin makes a stream the one that counts.
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

// leave notes that a stream has ended, unless another has taken its place.
func (s *Subscription) leave(st *stream) {
	st.stop(context.Canceled)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stream == st {
		s.stream, s.idle = nil, s.hub.o.Now()
	}
}

// end closes the subscription for a reason. The first counts.
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
}

func (s *Subscription) abandoned(since time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.stream == nil && !s.idle.After(since)
}

func (s *Subscription) wake() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stream != nil {
		s.stream.wake()
	}
}

// agree puts terms into force.
func (s *Subscription) agree(terms pacing.Terms, accepted aaep.SubscriptionAccepted) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.terms, s.accepted, s.names = terms, accepted, names(terms)
	s.version++
	if s.stream != nil {
		s.stream.wake()
	}
}

// names are the sessions that the terms are narrowed to.
func names(t pacing.Terms) []string {
	var narrow struct {
		Sessions []string `json:"session_ids"`
	}
	if json.Unmarshal(t.Honored.Extensions[aaep.PrefixEarshot], &narrow) != nil {
		return nil // it says nothing that can be read, and so narrows nothing
	}
	return slices.Compact(slices.Sorted(slices.Values(narrow.Sessions)))
}

// present returns the terms as they stand.
func (s *Subscription) present() (terms pacing.Terms, names []string, version int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.terms, s.names, s.version
}

// forget drops what is known of deliveries: the stream begins again.
func (s *Subscription) forget(st *stream, life int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stream == st {
		s.sent, s.log, s.endedSessions, s.life = map[string]int64{}, nil, map[string]bool{}, life
	}
}

// setCursor notes where a stream is in a session.
func (s *Subscription) setCursor(st *stream, session string, at int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stream == st {
		s.sent[session] = at
		delete(s.endedSessions, session)
	}
}

// done notes that a session has ended and all of it is delivered. It is remembered only as
// long as a stream may go back to it, that is, while the log knows one of its deliveries: a
// subscription may last for weeks.
func (s *Subscription) done(st *stream, session string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stream != st {
		return
	}
	s.endedSessions[session] = true
	s.lose(session)
}

// lose forgets a session that is over once the log has nothing of it. The caller holds mu.
func (s *Subscription) lose(session string) {
	if s.endedSessions[session] && !slices.ContainsFunc(s.log, func(d sent) bool { return d.session == session }) {
		delete(s.endedSessions, session)
		delete(s.sent, session)
	}
}

// note remembers a delivery that is about to be made.
func (s *Subscription) note(st *stream, d sent) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stream != st {
		return
	}
	s.log = append(s.log, d)
	for len(s.log) > maxLog {
		oldest := s.log[0].session
		s.log = slices.Delete(s.log, 0, 1)
		s.lose(oldest)
	}
}

// behind returns where each session was when an event had been delivered, if the
// subscription remembers that.
func (s *Subscription) behind(id string, life int) (at map[string]int64, known bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := slices.IndexFunc(s.log, func(d sent) bool { return d.id == id })
	if i < 0 || s.life != life {
		return nil, false
	}
	at = maps.Clone(s.sent)
	at[s.log[i].session] = max(at[s.log[i].session], s.log[i].last)
	for _, later := range s.log[i+1:] {
		if before, is := at[later.session]; is {
			at[later.session] = min(before, later.first-1)
		}
	}
	for session := range s.endedSessions {
		if at[session] == s.sent[session] { // there is nothing to go back to, and nothing will come
			delete(at, session)
		}
	}
	s.log = s.log[:i+1]
	return at, true
}
