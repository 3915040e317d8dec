package kernel

import (
	"context"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/kernel/outbox"
	"github.com/earshot-dev/earshot/internal/kernel/store"
	"github.com/earshot-dev/earshot/internal/kernel/turn"
)

// step is one transaction on one turn.
type step struct {
	k   *Kernel
	tx  store.Tx
	now turn.Timestamp
	rec store.Record
	was turn.State // the turn before the step

	batch        store.Batch
	notification Notification // what this step adds to each of its tellings
	// credential is the id of what the answer of this step came with, and sees is how the arguments
	// of what it accepts were seen.
	credential    string
	argumentsSeen api.Seen

	depth       int            // of the inputs that are being fed: effects lead to further ones
	wakeWorker  bool           // a doorbell for the worker
	read        int            // bytes of the arguments of new calls
	counted     bool           // the incarnation has moved on
	savedOffset time.Duration  // what the ledger knows with it of the lead
	late        jsontext.Value // a result that comes too late, while it is told of
	outboxEntry *outbox.Entry  // what it has to say, until that is committed
	hints       *hintEntry     // where its hints leave; nil where nobody wants any
	before      []string
	after       []string
	last        []string // fault points when all of the step has been passed on
}

// step runs fn on the turn that ref names and saves what it did. fn may run again
// after a lost race, each time on the state as it then is.
func (k *Kernel) step(ctx context.Context, ref store.TurnRef, fn func(*step) error) error {
	return store.ProtocolError(k.attempt(ctx, ref, fn))
}

// attempt is step with the errors as they are.
func (k *Kernel) attempt(ctx context.Context, ref store.TurnRef, fn func(*step) error) error {
	return k.attemptAny(ctx, func(store.Tx) (store.TurnRef, error) { return ref, nil }, fn)
}

// attemptAny steps the turn that pick finds in the same transaction.
func (k *Kernel) attemptAny(ctx context.Context, pick func(store.Tx) (store.TurnRef, error), fn func(*step) error) error {
	return k.attemptOn(ctx, func(tx store.Tx) (store.Record, error) {
		ref, err := pick(tx)
		if err != nil {
			return store.Record{}, err
		}
		return tx.Turn(ref)
	}, fn)
}

// attemptOn steps the turn that load reads, or makes, in the same transaction.
func (k *Kernel) attemptOn(ctx context.Context, load func(store.Tx) (store.Record, error), fn func(*step) error) error {
	var s *step
	var behind []string // sessions whose later messages a try in vain has kept back
	giveUp := func() {
		if s == nil {
			return
		}
		k.hintOrder.drop(s.hints)
		if s.outboxEntry != nil {
			k.outbox.Drop(s.outboxEntry)
			behind = append(behind, s.outboxEntry.Session)
		}
	}
	err := k.update(ctx, func(tx store.Tx) error {
		giveUp() // if it is run again
		s = &step{k: k, tx: tx, now: k.now()}
		rec, err := load(tx)
		if err != nil {
			return err
		}
		s.rec, s.was = rec, rec.State
		if err := fn(s); err != nil {
			return err
		}
		return s.save()
	})
	if err == nil {
		k.committed(ctx, s)
	} else {
		giveUp()
	}
	for _, session := range behind {
		k.outbox.Publish(ctx, session)
	}
	return err
}

// update retries a lost race: another kernel or request has moved the turn on.
func (k *Kernel) update(ctx context.Context, fn func(store.Tx) error) error {
	return store.Update(ctx, k.o.Store, fn)
}

// dispatch gives the turn machine an input and makes its effects true. When that was the end
// of the last call of the present step, the results are applied with it.
func (s *step) dispatch(in turn.Input) error {
	s.depth++
	err := s.dispatchOne(in)
	s.depth--
	if err == nil && s.depth == 0 && s.rec.State.ReadyToApply() {
		s.before = append(s.before, "report.applying")
		if err := s.takeAnswer(); err != nil {
			return err
		}
		nonce, err := s.k.nonce()
		if err != nil {
			return err
		}
		return s.dispatchOne(turn.Resume{Nonce: nonce, Summary: s.notification.Summary})
	}
	return err
}

func (s *step) dispatchOne(in turn.Input) error {
	next, effects, err := s.k.o.Step(s.rec.State, s.now, in)
	if err != nil {
		return err
	}
	s.rec.State = next
	for _, e := range effects {
		if err := s.applyEffect(e); err != nil {
			return err
		}
	}
	return nil
}

func (s *step) save() error {
	if err := s.answerOrigins(); err != nil {
		return err
	}
	for _, point := range s.before {
		s.k.o.Reached(point)
	}
	s.rec.Index(s.now)
	var err error
	if s.savedOffset, err = s.k.saveClockOffset(s.tx, s.now); err != nil {
		return err
	}
	rec := s.rec
	s.batch.Turn = &rec
	s.batch.Published = append(s.batch.Published, s.k.outbox.Acks(rec.State.Session)...)
	if len(s.batch.Outbox) > 0 {
		s.outboxEntry = s.k.outbox.Reserve(rec.State.Session)
	}
	if s.k.o.Hints {
		s.hints = s.k.hintOrder.reserve(rec.State.Turn)
	}
	return s.tx.Save(s.batch)
}

// committed does what may only follow the commit.
func (k *Kernel) committed(ctx context.Context, s *step) {
	for _, point := range s.after {
		k.o.Reached(point)
	}
	if s.counted {
		if err := k.saveIncarnation(ctx); err != nil { // a start looks again before it is answered
			k.o.Logger.Error("incarnation", "error", err)
		}
	}
	k.raiseClockOffset(s.savedOffset)
	k.schedule(s)
	k.broadcast(ctx, s.rec.State.Owner, s.batch.Events)
	k.passOn(ctx, s)
	if s.wakeWorker {
		k.wakeWorker(ctx, s.rec.State)
	}
	k.hintOrder.ready(s.hints, func() { k.hint(context.WithoutCancel(ctx), s) })
	for _, point := range s.last {
		k.o.Reached(point)
	}
}

// passOn publishes what the step has to say. What has left is told to the ledger by the next
// step of the session.
func (k *Kernel) passOn(ctx context.Context, s *step) {
	k.outbox.Acked(s.rec.State.Session, s.batch.Published)
	if s.outboxEntry == nil {
		return
	}
	k.outbox.Ready(s.outboxEntry, s.batch.Outbox)
	k.outbox.Publish(ctx, s.rec.State.Session)
	k.outbox.AckSoon()
}

// schedule wakes the ticker where the turn wants a tick before it would look.
func (k *Kernel) schedule(s *step) {
	k.mu.Lock()
	defer k.mu.Unlock()
	st := s.rec.State
	delete(k.later, st.Turn)
	if _, own := k.ownedTurns[st.Turn]; own && st.Status == turn.Ended {
		delete(k.ownedTurns, st.Turn)
	}
	if st.Status == turn.Ended {
		delete(k.suspended, st.Turn)
	}
	if !s.rec.Due.IsZero() && s.now.SinceBoot+s.rec.Due.Sub(s.now.Wall) < k.next {
		signal(k.tickerWakeup)
	}
}

// drain takes back a signal whose cause is about to be looked at: else that would be looked at
// twice, or not, as chance has it.
func drain(c chan struct{}) {
	select {
	case <-c:
	default:
	}
}

func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
