package hub

import (
	"container/list"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/aaep/pacing"
	"github.com/earshot-dev/earshot/internal/hub/access"
)

// sweeps is how many times within its grace a subscription without a stream is checked.
const sweeps = 4

// registry holds the open subscriptions.
//
// A subscription occupies a slot while it is streamed, or waits for its first stream. After its stream has ended, it is
// retained for the grace period, so that its subscriber can resume. It then occupies no slot, and the subscriber may
// come back at any time. At most as many subscriptions are retained as there are slots; beyond that, those that have
// waited longest are released.
type registry struct {
	most, each int
	grace      time.Duration
	now        func() time.Time

	mu       sync.Mutex // may be locked while a subscription's is held, not the other way round
	open     map[string]*Subscription
	slots    map[subscriber]int // how many each occupies
	occupied int                // all of them
	retained *list.List         // of *Subscription; the one that has waited longest is in front
	closed   bool
}

// subscriber is whose subscriptions are counted together.
type subscriber struct{ name, credential string }

func (s *Subscription) subscriber() subscriber { return subscriber{s.who.Name, s.who.Credential} }

func newRegistry(o Options) *registry {
	return &registry{
		most: o.Subscriptions, each: o.SubscriptionsEach, grace: o.Grace, now: o.Now,
		open: map[string]*Subscription{}, slots: map[subscriber]int{}, retained: list.New(),
	}
}

// Run feeds the subscriptions until the context ends; then it ends them. It is called once. An error means that the
// kernel has refused permanently, or that the bus is gone.
func (h *Hub) Run(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	var owned sync.WaitGroup
	owned.Go(func() { h.guard(ctx) })
	if h.vigil != nil {
		owned.Go(func() { h.keepVigil(ctx) })
	}
	err := h.feed.run(ctx)
	if ctx.Err() != nil {
		err = nil
	}
	cancel()
	owned.Wait()
	h.subs.shut()
	h.attended.shut()
	if err != nil {
		err = fmt.Errorf("hub: %w", err)
	}
	return err
}

// guard ends subscriptions whose principal has lost its rights, and those without a stream.
func (h *Hub) guard(ctx context.Context) {
	changes := h.o.Rights.Watch(ctx)
	ticker := time.NewTicker(h.o.Grace / sweeps)
	defer ticker.Stop()
	for {
		select {
		case _, more := <-changes:
			if !more { // the context has ended, and with it the watch
				return
			}
			h.review()
		case <-ticker.C:
			h.subs.sweep()
		}
	}
}

// review checks whether every subscriber may still listen.
func (h *Hub) review() {
	h.changes.Add(1)
	for _, s := range h.subs.all() {
		if _, err := h.current(s.who); err != nil {
			s.end(err)
		}
	}
	h.feed.again() // the others may follow different sessions now
	h.vigil.ring()
}

// Subscribe opens a subscription, or sets one of rejected and error. rejected is the answer for the subscriber (HS-07).
// An error means that the hub could not check the request.
//
// A subscription that names sessions, by the capability earshot with session_ids, receives these from their first event
// on, even if they have ended. Any other receives every current and future session that the principal may follow; for
// those under way it first gets their current state.
func (h *Hub) Subscribe(ctx context.Context, who access.Principal, r aaep.SubscriptionRequest) (*Subscription, *aaep.SubscriptionRejected, error) {
	who, rejected := h.admit(who)
	if rejected != nil {
		return nil, rejected, nil
	}
	id, err := aaep.NewID(aaep.PrefixSubscription, h.o.Now(), h.o.Rand)
	if err != nil {
		return nil, nil, fmt.Errorf("hub: %w", err)
	}
	asked, note := answering(who, r.Capabilities)
	r.Capabilities = asked
	terms, accepted, rejected := pacing.Negotiate(r, h.offer(ctx, who, r.Capabilities), id)
	if rejected != nil {
		return nil, rejected, nil
	}
	accepted.NegotiationNotes = joined(joined(accepted.NegotiationNotes, note), h.translatedBy(terms.Language))
	s := &Subscription{hub: h, id: id, who: who}
	s.agree(terms, accepted)
	added, err := h.subs.add(s)
	switch {
	case err != nil:
		return nil, nil, err
	case !added:
		return nil, h.tooMany(), nil
	}
	return s, nil, nil
}

// answering removes the capability to answer questions if the principal may not answer any: a granted capability must
// be kept. note explains that to the subscriber.
func answering(who access.Principal, asked aaep.Capabilities) (able aaep.Capabilities, note string) {
	if who.Answers() {
		return asked, ""
	}
	for _, reply := range []**bool{&asked.SupportsConfirmationReply, &asked.SupportsClarificationReply} {
		if *reply != nil && **reply {
			*reply = new(false)
			note = "You may not answer questions. To hear them all the same, ask for the capability earshot with observe_questions."
		}
	}
	return asked, note
}

// joined appends a note.
func joined(notes, note string) string { return strings.TrimSpace(notes + " " + note) }

// admit checks whether a principal may follow anything.
func (h *Hub) admit(who access.Principal) (access.Principal, *aaep.SubscriptionRejected) {
	now, err := h.current(who)
	switch {
	case errors.Is(err, ErrRevoked):
		return now, &aaep.SubscriptionRejected{ReasonCode: aaep.ReasonAuthenticationRequired, ReasonMessage: "Log in again: what was shown does not count any more."}
	case err != nil || !now.Subscribes():
		return now, &aaep.SubscriptionRejected{ReasonCode: aaep.ReasonAuthorizationDenied, ReasonMessage: "Only listeners, approvers, auditors and operators hear the sessions of a project."}
	}
	return now, nil
}

// Subscription returns an open subscription of the principal. It returns [ErrClosed] for another principal's and for
// one that does not exist: an id is not a credential (SEC-03).
func (h *Hub) Subscription(who access.Principal, id string) (*Subscription, error) {
	h.subs.mu.Lock()
	s, found := h.subs.open[id]
	h.subs.mu.Unlock()
	if !found || s.who.Name != who.Name || s.who.Credential != who.Credential {
		return nil, ErrClosed
	}
	if _, err := h.current(who); err != nil {
		return nil, err
	}
	return s, nil
}

func (h *Hub) tooMany() *aaep.SubscriptionRejected {
	return &aaep.SubscriptionRejected{
		ReasonCode: aaep.ReasonRateLimit, ReasonMessage: "Too many subscriptions are open; close one, or wait until one has run out.",
		RetryAfterSeconds: max(1, int(h.o.Grace/time.Second)),
	}
}

// add returns false if there are too many subscriptions.
func (r *registry) add(s *Subscription) (bool, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return false, ErrStopping
	}
	if r.occupied >= r.most || r.slots[s.subscriber()] >= r.each {
		return false, nil
	}
	s.idle = r.now()
	r.open[s.id] = s
	r.count(s, 1)
	return true, nil
}

// count has a subscription occupy a slot, or no longer (-1). The caller holds mu.
func (r *registry) count(s *Subscription, by int) {
	r.occupied += by
	if r.slots[s.subscriber()] += by; r.slots[s.subscriber()] == 0 {
		delete(r.slots, s.subscriber())
	}
}

// streams gives a subscription its slot back: it has a stream.
func (r *registry) streams(s *Subscription) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.open[s.id] == s && s.waits != nil {
		r.retained.Remove(s.waits)
		s.waits = nil
		r.count(s, 1)
	}
}

// retain takes the slot of a subscription whose stream has ended, and returns the retained ones beyond the limit, those that have
// waited longest.
func (r *registry) retain(s *Subscription) (crowded []*Subscription) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.open[s.id] != s || s.waits != nil {
		return nil
	}
	s.waits = r.retained.PushBack(s)
	r.count(s, -1)
	for e := r.retained.Front(); len(crowded) < r.retained.Len()-r.most; e = e.Next() {
		one, _ := e.Value.(*Subscription)
		crowded = append(crowded, one)
	}
	return crowded
}

func (r *registry) remove(s *Subscription) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.open[s.id] != s {
		return
	}
	delete(r.open, s.id)
	if s.waits == nil {
		r.count(s, -1)
		return
	}
	r.retained.Remove(s.waits)
	s.waits = nil
}

func (r *registry) all() []*Subscription {
	r.mu.Lock()
	defer r.mu.Unlock()
	all := make([]*Subscription, 0, len(r.open))
	for _, s := range r.open {
		all = append(all, s)
	}
	return all
}

// sweep releases the subscriptions that had no stream for the grace period.
func (r *registry) sweep() {
	for _, s := range r.all() {
		if s.abandoned(r.now().Add(-r.grace)) {
			s.end(ErrClosed)
		}
	}
}

// shut ends all subscriptions and accepts no more.
func (r *registry) shut() {
	r.mu.Lock()
	r.closed = true
	r.mu.Unlock()
	for _, s := range r.all() {
		s.end(ErrStopping)
	}
}
