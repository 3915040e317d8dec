package hub

import (
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

// sweeps is how many times in its grace a subscription without a stream is looked at.
const sweeps = 4

// registry holds the open subscriptions.
type registry struct {
	most  int
	grace time.Duration
	now   func() time.Time

	mu     sync.Mutex
	open   map[string]*Subscription
	closed bool
}

func newRegistry(o Options) *registry {
	return &registry{most: o.Subscriptions, grace: o.Grace, now: o.Now, open: map[string]*Subscription{}}
}

// Run keeps subscriptions fed until the context ends; then it ends them. It is called
// once. An error says that the kernel has refused for good, or that the bus is gone.
func (h *Hub) Run(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	var owned sync.WaitGroup
	owned.Go(func() { h.guard(ctx) })
	err := h.feed.run(ctx, h.subs.wakeStreams)
	if ctx.Err() != nil {
		err = nil
	}
	cancel()
	owned.Wait()
	h.subs.shut()
	if err != nil {
		err = fmt.Errorf("hub: %w", err)
	}
	return err
}

// guard ends subscriptions whose rights are gone, and those that nobody streams.
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

// review looks whether everybody may still listen.
func (h *Hub) review() {
	for _, s := range h.subs.all() {
		if _, err := h.current(s.who); err != nil {
			s.end(err)
		}
	}
}

// Subscribe opens a subscription. One of rejected and error is set where there is none:
// rejected is the answer for the subscriber (HS-07), error says that the hub itself could
// not look.
//
// A subscription that names sessions, by the capability earshot with session_ids, hears
// these from their first event on, also where they have ended. Any other hears every
// session of now and later that the principal may hear; of those that are under way it is
// told where they are.
func (h *Hub) Subscribe(_ context.Context, who access.Principal, r aaep.SubscriptionRequest) (*Subscription, *aaep.SubscriptionRejected, error) {
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
	terms, accepted, rejected := pacing.Negotiate(r, h.o.Offer, id)
	if rejected != nil {
		return nil, rejected, nil
	}
	accepted.NegotiationNotes = joined(accepted.NegotiationNotes, note)
	s := &Subscription{hub: h, id: id, who: who, sent: map[string]int64{}, endedSessions: map[string]bool{}}
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

// answering takes the answering of questions out of what is asked by anyone who may not answer
// any: what is granted is kept, and this would not be. Note says so.
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

// joined puts notes behind each other.
func joined(notes, note string) string { return strings.TrimSpace(notes + " " + note) }

// admit looks whether a principal may hear anything.
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

// Subscription returns an open subscription of the principal's own. Another's is
// [ErrClosed], as is one that there is not: an id is not a credential (SEC-03).
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

// add reports false when there are too many.
func (r *registry) add(s *Subscription) (bool, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return false, ErrStopping
	}
	mine := 0
	for _, other := range r.open {
		if other.who.Name == s.who.Name && other.who.Credential == s.who.Credential {
			mine++
		}
	}
	if len(r.open) >= r.most || mine >= max(1, r.most/share) {
		return false, nil
	}
	s.idle = r.now()
	r.open[s.id] = s
	return true, nil
}

func (r *registry) remove(s *Subscription) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.open, s.id)
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

// wakeStreams tells every stream that sessions have gone on.
func (r *registry) wakeStreams() {
	for _, s := range r.all() {
		s.wake()
	}
}

// sweep releases what nobody has streamed for the grace.
func (r *registry) sweep() {
	for _, s := range r.all() {
		if s.abandoned(r.now().Add(-r.grace)) {
			s.end(ErrClosed)
		}
	}
}

// shut ends all, and takes no more.
func (r *registry) shut() {
	r.mu.Lock()
	r.closed = true
	r.mu.Unlock()
	for _, s := range r.all() {
		s.end(ErrStopping)
	}
}
