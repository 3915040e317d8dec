package kernel

import (
	"context"
	"errors"
	"time"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/kernel/consent"
	"github.com/earshot-dev/earshot/internal/kernel/store"
	"github.com/earshot-dev/earshot/internal/kernel/ticker"
	"github.com/earshot-dev/earshot/internal/kernel/turn"
	"github.com/earshot-dev/earshot/utp"
)

// tickDue ticks one turn that the ticker has found due. A turn that another kernel is ticking, or that is not due by its
// own clocks after all, is tried again later.
func (k *Kernel) tickDue(ctx context.Context, id string) (again time.Duration, err error) {
	again = ticker.Retry // also if the turn cannot be read
	err = k.tick(ctx, id, func(s *step) error {
		again = ticker.Retry
		at := store.NextTick(s.rec, s.now)
		if !at.IsZero() && at.After(s.now.Wall) && s.rec.Due.After(turn.Epoch) {
			again = min(at.Sub(s.now.Wall), k.o.Poll)
			// A time that is far too early is put right, unless steps of the turn have done so for that long.
			if at.Sub(s.rec.Due) <= k.o.Poll || s.now.Wall.Sub(s.rec.Due) < k.o.Poll {
				return errNotDue
			}
		}
		rows, err := s.tx.Turns(store.TurnFilter{Turn: id, Due: k.clock.At(s.now), Claim: true})
		if err == nil && len(rows) == 0 {
			err = errNotDue
		}
		return err
	}, func(s *step) {
		if s.rec.Due.IsZero() || s.rec.Due.After(k.clock.At(s.now)) {
			again = 0
		}
	})
	if errors.Is(err, errNotDue) {
		err = nil
	}
	return again, err
}

var errNotDue = errors.New("kernel: nothing is due")

// Tick handles what is due in one turn: questions past their deadline get their default, accepted calls are
// checked once more and dispatched, leases expire.
func (k *Kernel) Tick(ctx context.Context, id string) error {
	return store.ProtocolError(k.tick(ctx, id, func(*step) error { return nil }, func(*step) {}))
}

// tick ticks a turn unless first returns an error, and passes the step to then. It does not map errors.
func (k *Kernel) tick(ctx context.Context, id string, first func(*step) error, then func(*step)) error {
	var last *step
	err := k.attempt(ctx, store.TurnRef{Turn: id}, func(s *step) error {
		last = s
		if err := first(s); err != nil {
			return err
		}
		if err := s.dispatch(turn.CheckDeadline{}); err != nil { // it closes the questions that would expire below
			return err
		}
		if err := s.await(); err != nil {
			return err
		}
		if err := s.adoptExpired(); err != nil {
			return err
		}
		if err := s.expire(); err != nil {
			return err
		}
		if err := s.countdown(); err != nil {
			return err
		}
		return s.tickTurn()
	})
	if err == nil {
		then(last)
	}
	return err
}

// expire gives the questions past their deadline their default.
func (s *step) expire() error {
	for _, q := range s.rec.OpenQuestions() {
		judged, outcome := q.Expire(s.at(q))
		if err := s.closeQuestion(judged, outcome, utp.CodeConsentExpired); err != nil {
			return err
		}
	}
	return nil
}

// tickTurn ticks the turn itself, with a check of each accepted call.
func (s *step) tickTurn() error {
	engaged, err := s.engaged()
	if err != nil {
		return err
	}
	in := turn.Tick{Engaged: engaged}
	for _, c := range s.rec.State.Calls {
		if c.State != turn.Accepted {
			continue
		}
		check, err := s.admission.Check(c)
		if err != nil {
			return err
		}
		in.Checks = append(in.Checks, check)
	}
	return s.dispatch(in)
}

// closeQuestion ends a question without an answer.
func (s *step) closeQuestion(q consent.Question, outcome consent.Outcome, code utp.Code) error {
	kept := s.rec.Question(q.Number)
	if !outcome.Changed || kept == nil || kept.State != consent.Open { // the end of another question has closed it
		return nil
	}
	*kept = q
	s.notification.Resolution, s.notification.Absent = "expired", q.Resolution.How == consent.ByNobody
	call, _ := s.rec.State.FindQuestion(q.Number)
	if s.notification.Absent {
		if err := s.receipts.Receipt(turn.Receipt{Call: call.ID, Decision: api.DecidedByNobody}); err != nil {
			return err
		}
	}
	if call.Kind == turn.QuestionCall {
		return s.respond(call, q)
	}
	if q.State == consent.Accepted { // a default, and only for what can be undone
		return s.dispatch(turn.Answered{Question: q.Number, Accept: true, By: "default"})
	}
	return s.dispatch(turn.Unanswered{Question: q.Number, Code: code})
}
