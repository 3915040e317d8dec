package kernel

import (
	"context"
	"errors"
	"slices"

	"github.com/earshot-dev/earshot/internal/kernel/store"
	"github.com/earshot-dev/earshot/internal/kernel/turn"
)

// together are the steps of one transaction: that of the turn which the transaction is for, and those of the turns that
// this one begins, stops, or has waiting for it. Either all of them happen or none.
type together struct {
	steps []*step
	// left are the steps of other turns that are still to do. Each reads its turn again: one before it may have changed it.
	left []later
}

// later is a step of another turn that one of the transaction leads to.
type later struct {
	turn string
	from *step
	fn   func(*step) error
}

// begin makes a step one of the transaction.
func (t *together) begin(s *step) *step {
	s.with = t
	t.steps = append(t.steps, s)
	return s
}

// beside makes a step on another turn in the same transaction.
func (s *step) beside(rec store.Record) *step {
	other := s.k.newStep(s.tx, s.now, rec)
	return s.with.begin(other)
}

// finish does the steps that are left, and those that these lead to. Those of one turn are one step.
func (t *together) finish() error {
	for len(t.left) > 0 {
		first := t.left[0]
		var same []later
		t.left = slices.DeleteFunc(t.left, func(l later) bool {
			if l.turn == first.turn {
				same = append(same, l)
			}
			return l.turn == first.turn
		})
		if err := first.from.stepBeside(same); err != nil {
			return err
		}
	}
	return nil
}

// drop gives up what the steps have reserved, because their transaction failed, and returns the sessions whose later
// messages they have blocked.
func (t *together) drop(k *Kernel) (behind []string) {
	for _, s := range t.steps {
		k.hints.Drop(s.hints)
		if s.outboxEntry != nil {
			k.outbox.Drop(s.outboxEntry)
			behind = append(behind, s.outboxEntry.Session)
		}
	}
	return behind
}

func (t *together) committed(ctx context.Context, k *Kernel) {
	for _, s := range t.steps {
		k.committed(ctx, s)
	}
}

// afterwards steps another turn in the same transaction, once this step is saved. A turn that is gone, that cannot be read
// or has ended is passed over: it must not keep this one from going on.
func (s *step) afterwards(id string, fn func(*step) error) {
	s.with.left = append(s.with.left, later{id, s, fn})
}

// stepBeside does what steps of the transaction lead to in another turn.
func (s *step) stepBeside(all []later) error {
	id := all[0].turn
	rec, err := s.tx.Turn(store.TurnRef{Turn: id})
	switch {
	case errors.Is(err, store.ErrNotFound), errors.Is(err, store.ErrDamaged):
		s.k.o.Logger.Warn("a turn was passed over", "turn", id, "of", s.rec.State.Turn, "error", err)
		return nil
	case err != nil:
		return err
	case rec.State.Status == turn.Ended:
		return nil
	}
	other := s.beside(rec)
	err = other.dispatch(turn.CheckDeadline{}) // by which it may have ended
	for _, l := range all {
		if err == nil && other.rec.State.Status != turn.Ended {
			err = l.fn(other)
		}
	}
	if err != nil {
		return err
	}
	return other.save()
}
