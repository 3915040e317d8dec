package kernel

import (
	"context"
	"slices"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/internal/kernel/admission"
	"github.com/earshot-dev/earshot/internal/kernel/boxes"
	"github.com/earshot-dev/earshot/internal/kernel/cards"
	"github.com/earshot-dev/earshot/internal/kernel/hints"
	"github.com/earshot-dev/earshot/internal/kernel/outbox"
	"github.com/earshot-dev/earshot/internal/kernel/outgoing"
	"github.com/earshot-dev/earshot/internal/kernel/receipts"
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

	with  *together // the other steps of the transaction
	begun bool      // the step adds the turn

	cards     *cards.Tx     // of the turn
	admission *admission.Tx // of its calls
	outgoing  *outgoing.Tx  // its messages
	boxes     *boxes.Tx     // its boxes
	receipts  *receipts.Tx  // what it proves later

	children []*step            // the turns that it begins, saved with it
	siblings admission.Siblings // the same, as they are admitted

	batch        store.Batch
	notification Notification // what this step adds to each of its notifications

	depth       int            // of nested inputs: effects lead to further inputs
	wakeWorker  bool           // the worker needs a wakeup
	read        int            // bytes of the arguments of new calls
	counted     bool           // the incarnation has been incremented
	savedOffset time.Duration  // the clock offset that the ledger has after this step
	late        jsontext.Value // a late result, while it is reported
	outboxEntry *outbox.Entry  // its messages, until the step is committed
	hints       *hints.Entry   // its hints; nil if hints are off
	before      []string
	after       []string
	last        []string // fault points after everything has been published
}

// newStep makes a step on a turn as its record was read.
func (k *Kernel) newStep(tx store.Tx, now turn.Timestamp, rec store.Record) *step {
	s := &step{k: k, tx: tx, now: now, rec: rec, was: rec.State, cards: cards.In(tx, rec.State, now.Wall, k.ids)}
	s.admission = k.gate.In(tx, now, &s.rec.State, s.cards)
	s.boxes = boxes.In(tx, &s.rec.State, now.Wall, s.cards)
	s.receipts = receipts.In(receipts.Options{Record: &s.rec, Now: now, Cards: s.cards, IDs: k.ids, Act: k.admin.Act, Count: s.count})
	s.outgoing = outgoing.In(now, &s.rec.State, k.ids)
	return s
}

// step runs fn on the turn that ref names and saves the result. fn may run again after a lost race, each time on
// the then current state.
func (k *Kernel) step(ctx context.Context, ref store.TurnRef, fn func(*step) error) error {
	return store.ProtocolError(k.attempt(ctx, ref, fn))
}

// attempt is step without the mapping of errors.
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
	return k.attemptAll(ctx, change{load, fn})
}

// change is what one transaction does to one turn: load reads the turn, or makes it, and fn steps it.
type change struct {
	load func(store.Tx) (store.Record, error)
	fn   func(*step) error
}

func changeOf(ref store.TurnRef, fn func(*step) error) change {
	return change{func(tx store.Tx) (store.Record, error) { return tx.Turn(ref) }, fn}
}

// attemptAll steps several turns in one transaction.
func (k *Kernel) attemptAll(ctx context.Context, changes ...change) error {
	all := &together{}
	var behind []string // sessions whose later messages a failed attempt has blocked
	err := k.update(ctx, func(tx store.Tx) error {
		behind = append(behind, all.drop(k)...) // in case it is run again
		all = &together{}
		now := k.clock.Now()
		for _, c := range changes {
			rec, err := c.load(tx)
			if err != nil {
				return err
			}
			all.begin(k.newStep(tx, now, rec))
		}
		// All are read before one is written: on PostgreSQL what is read after that takes a connection of this transaction alone.
		for i, s := range slices.Clone(all.steps) {
			if err := changes[i].fn(s); err != nil {
				return err
			}
			if err := s.save(); err != nil {
				return err
			}
		}
		return all.finish()
	})
	if err == nil {
		all.committed(ctx, k)
	} else {
		behind = append(behind, all.drop(k)...)
	}
	for _, session := range behind {
		k.outbox.Publish(ctx, session)
	}
	return err
}

// update retries after a lost race: another kernel or request has changed the turn.
func (k *Kernel) update(ctx context.Context, fn func(store.Tx) error) error {
	return store.Update(ctx, k.o.Store, fn)
}

// dispatch passes an input to the turn machine and applies its effects. If that ends the last call of the current
// step, it also applies the results.
func (s *step) dispatch(in turn.Input) error {
	s.depth++
	err := s.dispatchOne(in)
	s.depth--
	if err == nil && s.depth == 0 && s.rec.State.ReadyToApply() {
		s.before = append(s.before, "report.applying")
		if err := s.takeAnswer(); err != nil {
			return err
		}
		nonce, err := s.k.ids.Nonce()
		if err != nil {
			return err
		}
		unmet, err := s.admission.Unmet(false)
		if err != nil {
			return err
		}
		return s.dispatchOne(turn.Resume{Nonce: nonce, Summary: s.notification.Summary, Unmet: unmet})
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
	if err := s.endWithSession(); err != nil {
		return err
	}
	if err := s.reportEnd(); err != nil {
		return err
	}
	s.batch.Sealed, s.batch.Permissions, s.batch.Outbox = s.admission.Sealed(), s.admission.Permissions().Changed(), s.outgoing.Rows()
	if len(s.batch.Permissions) > 0 && !s.counted { // a restored ledger must be found to be behind them
		if err := s.count(); err != nil {
			return err
		}
	}
	s.receipts.Into(&s.batch)
	for _, point := range s.before {
		s.k.o.Reached(point)
	}
	s.rec.Index(s.now)
	var err error
	if s.savedOffset, err = s.k.clock.Save(s.tx, s.now); err != nil {
		return err
	}
	rec := s.rec
	s.batch.Turn = &rec
	s.batch.Cards, s.batch.Boxes = s.cards.Added(), s.boxes.Added()
	s.batch.Published = append(s.batch.Published, s.k.outbox.Acks(rec.State.Session)...)
	if len(s.batch.Outbox) > 0 {
		s.outboxEntry = s.k.outbox.Reserve(rec.State.Session)
	}
	s.hints = s.k.hints.Reserve(rec.State.Turn)
	if err := s.saveChildren(); err != nil {
		return err
	}
	return s.tx.Save(s.batch)
}

// committed does what must wait for the commit.
func (k *Kernel) committed(ctx context.Context, s *step) {
	for _, point := range s.after {
		k.o.Reached(point)
	}
	if s.counted {
		if err := k.incarnation.Save(ctx); err != nil { // a start checks it again before its answer
			k.o.Logger.Error("incarnation", "error", err)
		}
	}
	k.clock.Raise(s.savedOffset)
	if s.begun {
		k.activate(s.rec.State)
	}
	if st := s.rec.State; st.Status == turn.Ended {
		k.active.End(st.Turn)
	}
	k.ticker.Saved(s.rec.State.Turn, s.rec.Due, s.now)
	k.broadcast(ctx, s.rec.State.Owner, s.batch.Events)
	k.passOn(ctx, s)
	if s.wakeWorker {
		k.wakeWorker(ctx, s.rec.State)
	}
	if s.hints != nil {
		k.hints.Ready(ctx, s.hints, s.hint())
	}
	for _, point := range s.last {
		k.o.Reached(point)
	}
}

// hint is what third-party followers hear of the step.
func (s *step) hint() hints.Step {
	list := make([]string, 0, len(s.batch.Cards))
	for _, c := range s.batch.Cards {
		list = append(list, c.ID)
	}
	return hints.Step{Was: s.was, Is: s.rec.State, Created: s.rec.Created, At: s.now, Text: s.notification.Output, Cards: list}
}

// passOn publishes the messages of the step. The next step of the session records in the ledger what was sent.
func (k *Kernel) passOn(ctx context.Context, s *step) {
	k.outbox.Acked(s.rec.State.Session, s.batch.Published)
	if s.outboxEntry == nil {
		return
	}
	k.outbox.Ready(s.outboxEntry, s.batch.Outbox)
	k.outbox.Publish(ctx, s.rec.State.Session)
	k.outbox.AckSoon()
}
