package hub

import (
	"context"
	"slices"
	"time"

	"github.com/earshot-dev/earshot/api"
)

// vigil wakes the goroutine that looks for questions which nobody who is connected can answer. Whatever may leave a
// question so rings it: a question, a stream or a subscription that ends, other terms, other rights. A nil vigil is
// that of a hub whose questions wait.
type vigil chan struct{}

func newVigil(o Options) vigil {
	if !o.Decides {
		return nil
	}
	return make(vigil, 1)
}

// ring never blocks.
func (v vigil) ring() {
	select {
	case v <- struct{}{}:
	default: // a wakeup is already pending, or nobody looks
	}
}

// keepVigil applies the default of each question that nobody who is connected can answer, until the context ends
// (CONF-82, CONF-83, CLA-12, C-66). The ledger says which are open; the timer is for what a lost message hides.
func (h *Hub) keepVigil(ctx context.Context) {
	timer := time.NewTimer(h.o.Idle)
	defer timer.Stop()
	for {
		wait := h.o.Idle
		if err := h.decide(ctx); err != nil && ctx.Err() == nil {
			h.o.Logger.Warn("a question that nobody can answer is still open", "error", err)
			wait = h.o.Poll
		}
		timer.Reset(wait)
		select {
		case <-ctx.Done():
			return
		case <-h.vigil:
		case <-timer.C:
		}
	}
}

// decide looks once. A question of a turn that is not under way here waits until it is.
func (h *Hub) decide(ctx context.Context) error {
	rows, err := h.Questions(ctx)
	if err != nil {
		return err
	}
	for _, q := range rows {
		if q.Parked || slices.ContainsFunc(h.subs.all(), func(s *Subscription) bool { return s.answers(q) }) {
			continue
		}
		if _, err := h.Absent(ctx, api.ReplyRequest{Token: q.Token}); err != nil && !refused(err) {
			return err
		}
	}
	return nil
}

// clarification is the kind of a question that wants another answer than yes or no to an act.
const clarification = "clarification"

// answers reports whether the subscription has a stream, and its subscriber can answer the question.
func (s *Subscription) answers(q api.QuestionRow) bool {
	s.mu.Lock()
	connected, terms := s.ended == nil && s.stream != nil, s.terms
	s.mu.Unlock()
	able := terms.CanConfirm()
	if q.Kind == clarification {
		able = terms.CanClarify()
	}
	if !connected || !able || !terms.Hears(q.Session) {
		return false
	}
	who, err := s.hub.current(s.who)
	return err == nil && who.Hears(q.Owner) && who.Approves(q.Owner)
}
