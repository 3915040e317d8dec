package kernel

import (
	"context"
	"errors"
	"maps"
	"math"
	"sync"
	"time"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/kernel/consent"
	"github.com/earshot-dev/earshot/internal/kernel/store"
	"github.com/earshot-dev/earshot/internal/kernel/turn"
	"github.com/earshot-dev/earshot/utp"
)

const (
	// retryTick is how soon a tick is tried again if it failed or another kernel was running it.
	retryTick = time.Second
	// spoiledTick is the longest pause before a tick of an unreadable turn is tried again: the turn
	// may never be repaired, and each try is a line in the log.
	spoiledTick = time.Minute
	// pollPause is the least time between two polls.
	pollPause = 20 * time.Millisecond
	// ticksAtOnce is how many turns are ticked concurrently: they share the commits of the store, and
	// a slow one does not delay the others.
	ticksAtOnce = 16
	duePage     = 64
)

// ticker ticks the turns that are due, and waits at the end for the ticks that still run. The ledger records what
// is due; a step here that makes a turn due sooner wakes the ticker. A failing turn delays only itself.
func (k *Kernel) ticker(ctx context.Context) {
	var owned sync.WaitGroup
	defer owned.Wait()
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for ctx.Err() == nil {
		drain(k.tickerWakeup)
		turns, wait := k.poll(ctx)
		for _, id := range turns {
			owned.Go(func() { k.tickDue(ctx, id) })
		}
		rest(ctx, timer, pollPause)
		timer.Reset(max(0, wait-pollPause))
		select {
		case <-ctx.Done():
		case <-k.tickerWakeup:
		case <-timer.C:
		}
	}
}

func rest(ctx context.Context, timer *time.Timer, d time.Duration) {
	timer.Reset(d)
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}

// poll returns the turns that are due, as many as may be ticked beside those being ticked, and when to poll again.
func (k *Kernel) poll(ctx context.Context) (turns []string, wait time.Duration) {
	now := k.now()
	k.setNextPoll(math.MaxInt64) // whatever becomes due from now on wakes the ticker
	l := poller{k: k, now: now.SinceBoot, wait: k.o.Poll}
	err := k.o.Store.View(ctx, func(tx store.Tx) error {
		kept, err := k.savedClockOffset(tx)
		if err != nil {
			return err
		}
		k.raiseClockOffset(kept)
		l.turns, l.wait, l.until = nil, k.o.Poll, k.monotonicNow(now)
		return l.all(tx)
	})
	if err != nil && ctx.Err() == nil {
		k.o.Logger.Error("looking for what is due", "error", err)
		l.wait = retryTick
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, id := range l.turns {
		k.ticking[id] = struct{}{}
	}
	k.next = now.SinceBoot + l.wait
	maps.DeleteFunc(k.later, func(_ string, at time.Duration) bool { return at <= now.SinceBoot })
	return l.turns, l.wait
}

func (k *Kernel) setNextPoll(next time.Duration) {
	k.mu.Lock()
	k.next = next
	k.mu.Unlock()
}

// poller lists what is due now, and what will be within one poll interval.
type poller struct {
	k     *Kernel
	now   time.Duration
	until time.Time // what is due by then is ticked
	turns []string
	wait  time.Duration
}

func (l *poller) all(tx store.Tx) error {
	horizon := l.until.Add(l.k.o.Poll)
	if l.k.o.OwnedTurnsOnly {
		for _, id := range l.k.owned() {
			if _, err := l.page(tx, store.TurnFilter{Turn: id, Due: horizon}); err != nil {
				return err
			}
		}
		return nil
	}
	f := store.TurnFilter{Due: horizon, Limit: duePage}
	for {
		last, err := l.page(tx, f)
		if err != nil || last.Turn == "" {
			return err
		}
		f.After, f.Position = last.Turn, last.Position
	}
}

// page collects the due turns of one page, and returns its last row, after which the list goes on.
func (l *poller) page(tx store.Tx, f store.TurnFilter) (last store.TurnRow, err error) {
	rows, err := tx.Turns(f)
	if err != nil {
		return last, err
	}
	l.k.mu.Lock()
	defer l.k.mu.Unlock()
	for _, row := range rows {
		if left := row.Position.Sub(l.until); left > 0 {
			l.wait = min(l.wait, left)
			return store.TurnRow{}, nil
		}
		if _, under := l.k.ticking[row.Turn]; under || !l.k.activeLocked(row.Turn) {
			continue
		}
		if at, put := l.k.later[row.Turn]; put && at > l.now {
			l.wait = min(l.wait, at-l.now)
			continue
		}
		if len(l.k.ticking)+len(l.turns) >= ticksAtOnce {
			return store.TurnRow{}, nil // the end of a tick wakes the ticker
		}
		l.turns = append(l.turns, row.Turn)
	}
	if f.Limit == 0 || len(rows) < f.Limit {
		return store.TurnRow{}, nil
	}
	return rows[len(rows)-1], nil
}

// tickDue ticks one turn that poll has returned. A turn that another kernel is ticking, or that is not due by its
// own clocks after all, is tried again later.
func (k *Kernel) tickDue(ctx context.Context, id string) {
	again := retryTick // also if the turn cannot be read
	err := k.tick(ctx, id, func(s *step) error {
		again = retryTick
		at := store.NextTick(s.rec, s.now)
		if !at.IsZero() && at.After(s.now.Wall) && s.rec.Due.After(turn.Epoch) {
			again = min(at.Sub(s.now.Wall), k.o.Poll)
			// A time that is far too early is put right, unless steps of the turn have done so for that long.
			if at.Sub(s.rec.Due) <= k.o.Poll || s.now.Wall.Sub(s.rec.Due) < k.o.Poll {
				return errNotDue
			}
		}
		rows, err := s.tx.Turns(store.TurnFilter{Turn: id, Due: k.monotonicNow(s.now), Claim: true})
		if err == nil && len(rows) == 0 {
			err = errNotDue
		}
		return err
	}, func(s *step) {
		if s.rec.Due.IsZero() || s.rec.Due.After(k.monotonicNow(s.now)) {
			again = 0
		}
	})
	if err != nil && !errors.Is(err, errNotDue) && ctx.Err() == nil {
		k.o.Logger.Error("tick failed", "turn", id, "error", err)
	}
	k.mu.Lock()
	delete(k.ticking, id)
	if again = k.leaveAlone(id, err, again); again > 0 {
		k.later[id] = k.o.Clock.SinceBoot() + again
	}
	k.mu.Unlock()
	signal(k.tickerWakeup)
}

// leaveAlone returns when to tick a turn again. The pause of an unreadable turn doubles each time. The caller
// holds mu.
func (k *Kernel) leaveAlone(id string, err error, again time.Duration) time.Duration {
	if !errors.Is(err, store.ErrDamaged) {
		delete(k.unreadable, id)
		return again
	}
	k.unreadable[id] = min(max(2*k.unreadable[id], retryTick), spoiledTick)
	return k.unreadable[id]
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
	for _, q := range s.openQuestions() {
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
		check, err := s.check(c)
		if err != nil {
			return err
		}
		in.Checks = append(in.Checks, check)
	}
	return s.dispatch(in)
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

// closeQuestion ends a question without an answer.
func (s *step) closeQuestion(q consent.Question, outcome consent.Outcome, code utp.Code) error {
	kept := s.question(q.Number)
	if !outcome.Changed || kept == nil || kept.State != consent.Open { // the end of another question has closed it
		return nil
	}
	*kept = q
	s.notification.Resolution, s.notification.Absent = "expired", q.Resolution.How == consent.ByNobody
	call, _ := s.rec.State.FindQuestion(q.Number)
	if s.notification.Absent {
		if err := s.receipt(turn.Receipt{Call: call.ID, Decision: api.DecidedByNobody}); err != nil {
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

// Resume makes this kernel work on a turn that an earlier process left. With Options.SingleHost, every claim and
// lease from before is void.
func (k *Kernel) Resume(ctx context.Context, id string) error {
	var st turn.State
	err := k.step(ctx, store.TurnRef{Turn: id}, func(s *step) error {
		st = s.rec.State
		if s.rec.State.Status == turn.Ended {
			return api.NewFault(utp.CodeTurnEnded, "the turn has ended; there is nothing to resume")
		}
		s.rec.Absent = false // whoever resumes it is there
		if k.o.SingleHost {
			if err := s.dispatch(turn.Orphan{Generation: k.generation()}); err != nil {
				return err
			}
		}
		if err := s.rejudge(); err != nil && !errors.Is(err, errUnchanged) { // the rules may have changed meanwhile
			return err
		}
		return s.showAll()
	})
	if err != nil {
		return err
	}
	k.activate(st)
	k.outbox.SweepSoon()
	k.wakeWorker(ctx, st)
	return nil
}
