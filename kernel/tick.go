package kernel

import (
	"context"
	"time"

	"github.com/earshot-dev/earshot/aaep/consent"
	"github.com/earshot-dev/earshot/kernel/turn"
	"github.com/earshot-dev/earshot/utp"
)

// retryTick is how soon a tick that failed is tried again.
const retryTick = time.Second

// drive makes a turn one of those that are claimed and ticked here.
func (k *Kernel) drive(rec Record) {
	k.mu.Lock()
	k.active[rec.State.Turn] = due(rec)
	k.mu.Unlock()
	signal(k.wake)
}

// ticker feeds the passing of time to the turns that are due. One turn's failure
// delays that turn only.
func (k *Kernel) ticker(ctx context.Context) {
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for ctx.Err() == nil {
		turns, wait := k.dueNow()
		for _, id := range turns {
			if err := k.Tick(ctx, id); err != nil && ctx.Err() == nil {
				k.o.Logger.Error("tick failed", "turn", id, "error", err)
				k.postpone(id)
			}
		}
		if len(turns) > 0 {
			continue
		}
		timer.Reset(wait)
		select {
		case <-ctx.Done():
		case <-k.wake:
		case <-timer.C:
		}
	}
}

// dueNow lists the turns whose time has come, and else how long to wait.
func (k *Kernel) dueNow() ([]string, time.Duration) {
	now := k.o.Clock.Now()
	wait := time.Minute
	var turns []string
	k.mu.Lock()
	defer k.mu.Unlock()
	for id, at := range k.active {
		switch {
		case at.IsZero():
		case !at.After(now):
			turns = append(turns, id)
		default:
			wait = min(wait, at.Sub(now))
		}
	}
	return turns, wait
}

func (k *Kernel) postpone(id string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if _, driven := k.active[id]; driven {
		k.active[id] = k.o.Clock.Now().Add(retryTick)
	}
}

// Tick does what is due in one turn: questions past their deadline get their default,
// accepted calls are checked once more and leave, silent owners lapse.
func (k *Kernel) Tick(ctx context.Context, id string) error {
	return k.step(ctx, TurnRef{Turn: id}, func(s *step) error {
		for _, q := range s.openQuestions() {
			judged, outcome := q.Expire(s.now.Wall)
			if err := s.closeQuestion(judged, outcome, utp.CodeConsentExpired); err != nil {
				return err
			}
		}
		in := turn.Tick{}
		for _, c := range s.rec.State.Calls {
			if c.State != turn.Accepted {
				continue
			}
			check, err := s.check(c)
			if err != nil {
				return err
			}
			in.Checks = append(in.Checks, check)
		}
		return s.feed(in)
	})
}

func (s *step) openQuestions() []consent.Question {
	var open []consent.Question
	for _, q := range s.rec.Questions {
		if q.State == consent.Open {
			open = append(open, q)
		}
	}
	return open
}

// closeQuestion ends a question that had no answer.
func (s *step) closeQuestion(q consent.Question, outcome consent.Outcome, code utp.Code) error {
	if !outcome.Changed {
		return nil
	}
	*s.question(q.Number) = q
	s.tell.Resolution = "expired"
	if q.State == consent.Accepted { // a default, and only for what can be taken back
		return s.feed(turn.Answered{Question: q.Number, Accept: true, By: "default"})
	}
	return s.feed(turn.Unanswered{Question: q.Number, Code: code})
}

// Resume drives a turn that an earlier process left, and reports its session. With
// a sole host, whoever held it then is gone.
func (k *Kernel) Resume(ctx context.Context, id string) error {
	err := k.step(ctx, TurnRef{Turn: id}, func(s *step) error {
		if s.rec.State.Status == turn.Ended {
			return fault(utp.CodeTurnEnded, "the turn has ended; there is nothing to resume")
		}
		s.rec.Absent = false // whoever resumes it is there
		if !k.o.SoleHost {
			return nil
		}
		return s.feed(turn.Orphan{})
	})
	if err != nil {
		return err
	}
	return k.o.Store.View(ctx, func(tx Tx) error {
		rec, err := tx.Turn(TurnRef{Turn: id})
		if err == nil {
			k.drive(rec)
			signal(k.bell)
		}
		return err
	})
}
