package kernel

import (
	"context"
	"slices"
	"sync"

	"github.com/earshot-dev/earshot/internal/kernel/store"
)

// ends are the ends of turns within others. Each end is a step of two turns, and those of one call often come at the same time:
// then each would change the turn above before the others have, and they would have to be done again. So while one is saved, the
// others wait, and are saved together.
type ends struct {
	mu      sync.Mutex
	waiting map[string][]*end // by the turn above; an entry, perhaps empty, while one of its ends is being saved
}

// end is one that waits, or is being saved.
type end struct {
	change

	turn  string
	ctx   context.Context //nolint:containedctx // of the request
	taken bool            // guarded by ends.mu
	done  chan struct{}
	err   error
}

// stepEnd is [Kernel.step] for a step that mostly ends the turn.
func (k *Kernel) stepEnd(ctx context.Context, id string, fn func(*step) error) error {
	above := k.gate.Above(id)
	if above == "" {
		return k.step(ctx, store.TurnRef{Turn: id}, fn)
	}
	e := &end{change: changeOf(store.TurnRef{Turn: id}, fn), turn: id, ctx: ctx, done: make(chan struct{})}
	if k.ends.waits(above, e) {
		select {
		case <-e.done:
		case <-ctx.Done():
			if k.ends.withdrawn(e) {
				return store.ProtocolError(ctx.Err())
			}
			<-e.done
		}
		return store.ProtocolError(e.err)
	}
	k.endTogether([]*end{e})
	if group := k.ends.next(above); group != nil {
		go k.serveEnds(above, group)
	}
	return store.ProtocolError(e.err)
}

// serveEnds saves what waits for the ends of turns within one. Each end that it saves has a caller that waits for it, and it ends
// with the last of them.
func (k *Kernel) serveEnds(above string, group []*end) {
	for ; group != nil; group = k.ends.next(above) {
		k.endTogether(group)
	}
}

// waits reports whether another end is being saved, so that this one waits.
func (q *ends) waits(above string, e *end) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.waiting == nil {
		q.waiting = map[string][]*end{}
	}
	waiting, busy := q.waiting[above]
	if busy {
		q.waiting[above] = append(waiting, e)
	} else {
		q.waiting[above] = nil
	}
	return busy
}

// withdrawn takes an end out that nobody waits for any more, unless it is being saved.
func (q *ends) withdrawn(e *end) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	was := e.taken
	e.taken = true
	return !was
}

// next returns the ends that wait by now, one of each turn; nil if none does.
func (q *ends) next(above string) (group []*end) {
	q.mu.Lock()
	defer q.mu.Unlock()
	var later []*end
	for _, e := range q.waiting[above] {
		switch {
		case e.taken:
		case slices.ContainsFunc(group, func(other *end) bool { return other.turn == e.turn }):
			later = append(later, e)
		default:
			e.taken = true
			group = append(group, e)
		}
	}
	if q.waiting[above] = later; group == nil {
		delete(q.waiting, above)
	}
	return group
}

// endTogether saves ends in one transaction. If that fails, each is saved by itself, and hears its own error.
func (k *Kernel) endTogether(group []*end) {
	if len(group) > 1 {
		all := make([]change, len(group))
		for i, e := range group {
			all[i] = e.change
		}
		if k.attemptAll(group[0].ctx, all...) == nil {
			for _, e := range group {
				close(e.done)
			}
			return
		}
	}
	for _, e := range group {
		e.err = k.attemptAll(e.ctx, e.change)
		close(e.done)
	}
}
