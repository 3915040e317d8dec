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

// alarm is when a turn next wants a tick, on both clocks: the wall clock may be set
// while it is waited for.
type alarm struct {
	wall time.Time // zero: not at all
	mono time.Duration
	// version is that of the turn which it was computed from.
	version int64
}

func alarmAt(wall time.Time, now turn.Moment, version int64) alarm {
	a := alarm{wall: wall, version: version}
	if !wall.IsZero() {
		a.mono = now.Mono + wall.Sub(now.Wall)
	}
	return a
}

func (a alarm) left(now turn.Moment) time.Duration {
	return min(a.wall.Sub(now.Wall), a.mono-now.Mono)
}

func (k *Kernel) alarmFor(rec Record) alarm {
	now := k.o.Clock.moment()
	return alarmAt(due(rec, now), now, rec.Version)
}

// drive makes a turn one of those that are claimed and ticked here.
func (k *Kernel) drive(id string, a alarm) {
	k.mu.Lock()
	k.active[id] = a
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
	now := k.o.Clock.moment()
	wait := time.Minute
	var turns []string
	k.mu.Lock()
	defer k.mu.Unlock()
	for id, a := range k.active {
		switch left := a.left(now); {
		case a.wall.IsZero():
		case left <= 0:
			turns = append(turns, id)
		default:
			wait = min(wait, left)
		}
	}
	return turns, wait
}

func (k *Kernel) postpone(id string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if a, driven := k.active[id]; driven {
		now := k.o.Clock.moment()
		k.active[id] = alarmAt(now.Wall.Add(retryTick), now, a.version)
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
	now := k.o.Clock.moment()
	k.drive(id, alarmAt(now.Wall, now, 0)) // the first tick finds out when the next is due
	signal(k.bell)
	return nil
}
