package kernel

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/aaep/consent"
	"github.com/earshot-dev/earshot/kernel/turn"
	"github.com/earshot-dev/earshot/utp"
)

// step is one transaction on one turn.
type step struct {
	k   *Kernel
	tx  Tx
	now turn.Moment
	rec Record

	batch Batch
	tell  Telling // what this step adds to each of its tellings

	ring   bool           // a doorbell for the worker
	late   jsontext.Value // a result that comes too late, while it is told of
	before []string
	after  []string
}

// step runs fn on the turn that ref names and saves what it did. fn may run again
// after a lost race, each time on the state as it then is.
func (k *Kernel) step(ctx context.Context, ref TurnRef, fn func(*step) error) error {
	var last *step
	run := func(tx Tx) error {
		s := &step{k: k, tx: tx, now: k.o.Clock.moment()}
		last = s
		rec, err := tx.Turn(ref)
		if err != nil {
			return err
		}
		s.rec = rec
		if err := fn(s); err != nil {
			return err
		}
		return s.save()
	}
	err := k.update(ctx, run)
	if err != nil {
		return protocolError(err)
	}
	k.committed(ctx, last)
	return nil
}

// update retries a lost race: another kernel or request has moved the turn on.
func (k *Kernel) update(ctx context.Context, fn func(Tx) error) error {
	const tries = 5
	var err error
	for range tries {
		if err = k.o.Store.Update(ctx, fn); !errors.Is(err, ErrConflict) {
			return err
		}
	}
	return err
}

// feed gives the turn machine an input and makes its effects true.
func (s *step) feed(in turn.Input) error {
	next, effects, err := turn.Step(s.rec.State, s.now, in)
	if err != nil {
		return err
	}
	s.rec.State = next
	for _, e := range effects {
		if err := s.realise(e); err != nil {
			return err
		}
	}
	return nil
}

func (s *step) save() error {
	for _, point := range s.before {
		s.k.o.Reached(point)
	}
	rec := s.rec
	s.batch.Turn = &rec
	return s.tx.Save(s.batch)
}

// committed does what may only follow the commit.
func (k *Kernel) committed(ctx context.Context, s *step) {
	for _, point := range s.after {
		k.o.Reached(point)
	}
	k.schedule(s.rec)
	k.broadcast(ctx, s.batch.Events)
	if len(s.batch.Outbox) > 0 {
		signal(k.bell)
	}
	if s.ring {
		k.ringWorker(ctx, s.rec.State)
	}
}

// schedule notes when the turn next wants a tick. Of two steps that race, the later
// one's word counts.
func (k *Kernel) schedule(rec Record) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if before, driven := k.active[rec.State.Turn]; !driven || before.version > rec.Version {
		return
	}
	if rec.State.Status == turn.Ended {
		delete(k.active, rec.State.Turn)
		return
	}
	k.active[rec.State.Turn] = k.alarmFor(rec)
	signal(k.wake)
}

// due is the earliest instant at which a question expires or the machine is due.
func due(rec Record, now turn.Moment) time.Time {
	at, _ := rec.State.Due(now)
	for _, q := range rec.Questions {
		if q.State == consent.Open && (at.IsZero() || q.Deadline().Before(at)) {
			at = q.Deadline()
		}
	}
	return at
}

func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// protocolError gives every error that leaves the kernel a code. Of the store's own
// errors only the store can say whether trying again is safe: a commit that failed may
// have been written.
func protocolError(err error) error {
	var refused *turn.Error
	var known *utp.Fault
	var stored interface{ SafeToRetry() bool }
	switch {
	case err == nil:
		return nil
	case errors.As(err, &known):
		return known
	case errors.As(err, &refused):
		return &utp.Fault{Code: refused.Code, Message: refused.Message, Retry: refused.Code.SafeToRetry()}
	case errors.Is(err, ErrNotFound):
		return &utp.Fault{Code: utp.CodeNotFound, Message: "the ledger has no such row"}
	case errors.Is(err, ErrFull):
		return &utp.Fault{Code: utp.CodeUpstreamUnavailable, Message: "no room left for the ledger; nothing was recorded", Retry: true}
	case errors.Is(err, ErrConflict):
		return &utp.Fault{Code: utp.CodeConflict, Message: "the ledger has changed meanwhile", Retry: true}
	case errors.Is(err, ErrHash):
		return &utp.Fault{Code: utp.CodeBadRequest, Message: err.Error(), Retry: true}
	case errors.As(err, &stored):
		return &utp.Fault{Code: utp.CodeStorageError, Message: err.Error(), Retry: stored.SafeToRetry()}
	}
	return &utp.Fault{Code: utp.CodeInternalError, Message: err.Error()}
}

func unexpected(what string, err error) error { return fmt.Errorf("kernel: %s: %w", what, err) }
