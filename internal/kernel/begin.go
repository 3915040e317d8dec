package kernel

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/kernel/admission"
	"github.com/earshot-dev/earshot/internal/kernel/store"
	"github.com/earshot-dev/earshot/internal/kernel/turn"
	"github.com/earshot-dev/earshot/utp"
)

// enqueue begins a turn that a worker is to claim.
func (k *Kernel) enqueue(ctx context.Context, from Caller, q api.EnqueueRequest) (api.EnqueueAnswer, error) {
	return k.beginQueued(ctx, from, cmp.Or(q.Owner, from.Name), q, func(*step) error { return nil })
}

// beginQueued begins a turn that a worker is to claim, if the caller still may when it is saved.
func (k *Kernel) beginQueued(ctx context.Context, from Caller, principal string, q api.EnqueueRequest, may func(*step) error) (api.EnqueueAnswer, error) {
	rec, repeated, err := k.begin(ctx, from, principal, q, func(s *step) error {
		s.queue(q)
		if err := may(s); err != nil {
			return err
		}
		return s.inherit(q.Parent)
	})
	if err != nil {
		return api.EnqueueAnswer{}, err
	}
	if !repeated {
		k.wakeWorker(ctx, rec.State)
	}
	return api.EnqueueAnswer{Turn: rec.State.Turn, Session: rec.State.Session, Repeated: repeated}, nil
}

// queue makes the turn of the step wait for its first worker.
func (s *step) queue(q api.EnqueueRequest) {
	st := &s.rec.State
	st.QueuedFrom, st.MaxQueued = s.now, s.k.o.DispatchTimeout
	if q.Deadline > 0 {
		st.Deadline = s.now.Add(time.Duration(q.Deadline) * time.Second)
	}
	s.last = append(s.last, "enqueued")
}

// errBegunBefore rolls back the step of a turn that an earlier request with the same key has begun.
var errBegunBefore = errors.New("kernel: the turn has been begun before")

// begin adds a turn to the ledger, in a step that runs first before anything else. The idempotency key is scoped to
// the principal. For a repeated request only the turn and its session are returned.
func (k *Kernel) begin(ctx context.Context, from Caller, principal string, q api.EnqueueRequest, first func(*step) error) (rec store.Record, repeated bool, err error) {
	b, err := k.newBeginning(from, principal, q, k.clock.Now())
	if err != nil {
		return rec, false, err
	}
	load := func(tx store.Tx) (store.Record, error) {
		rec, err = b.load(tx, nil)
		return rec, err
	}
	err = k.attemptOn(ctx, load, func(s *step) error {
		s.batch.Keys = b.keys
		if err := s.admission.Begin(q); err != nil {
			return err
		}
		defer func() { rec = s.rec }()
		if err := first(s); err != nil {
			return err
		}
		return s.admission.Complete(s.rec.Args)
	})
	if errors.Is(err, errBegunBefore) {
		return rec, true, nil
	}
	if err == nil {
		k.activate(rec.State)
	}
	return rec, false, store.ProtocolError(err)
}

// beginning is a turn that is about to begin.
type beginning struct {
	k    *Kernel
	from Caller
	q    api.EnqueueRequest
	turn api.EnqueueAnswer
	keys []store.RequestKey
	now  turn.Timestamp
}

// newBeginning mints the ids of a new turn.
func (k *Kernel) newBeginning(from Caller, principal string, q api.EnqueueRequest, now turn.Timestamp) (beginning, error) {
	b := beginning{k: k, from: from, q: q, now: now}
	if err := admission.CheckRequest(q); err != nil {
		return b, err
	}
	id, err := k.ids.Turn(now.Wall)
	if err != nil {
		return b, err
	}
	b.turn = api.EnqueueAnswer{Turn: "turn_" + id, Session: "sess_" + id}
	b.keys, err = k.keyed(principal, q, b.turn, now)
	return b, err
}

// load makes the record of the turn, in the transaction that adds it. If an earlier request has begun it, the record has
// that turn and its session only, with [errBegunBefore]. With are the turns that begin with it.
func (b beginning) load(tx store.Tx, with *admission.Siblings) (store.Record, error) {
	rec := b.k.newRecord(b.from, b.q, b.turn, b.now)
	before, err := begunBefore(tx, b.keys, b.turn)
	if err == nil && before.Repeated {
		rec.State.Turn, rec.State.Session = before.Turn, before.Session
		err = errBegunBefore
	}
	if err == nil {
		err = admission.CheckOpenTurns(tx, rec.State.Owner, with)
	}
	return rec, err
}

// inherit takes over what a turn has from the one that asks for it: its depth and, if that is earlier, its deadline. It
// takes nothing that a person said: each turn asks for its own consents.
func (s *step) inherit(parent string) error {
	if parent == "" {
		return nil
	}
	st := &s.rec.State
	above, err := s.tx.Turn(store.TurnRef{Turn: parent})
	switch {
	case errors.Is(err, store.ErrNotFound), err == nil && above.State.Owner != st.Owner:
		return api.NewFault(utp.CodeNotFound, fmt.Sprintf("the owner of the new turn has no turn %.128q to be its parent; nothing was started", parent))
	case err != nil:
		return err
	case above.State.Status == turn.Ended:
		return api.NewFault(utp.CodeTurnEnded, "the parent turn has ended; nothing was started")
	case above.State.Stop != nil:
		return api.NewFault(utp.CodeStopped, "the parent turn has been stopped; nothing was started")
	}
	if err := s.admission.Within(above.State); err != nil {
		return err
	}
	return s.knownTo(above)
}

func (k *Kernel) newRecord(from Caller, q api.EnqueueRequest, begun api.EnqueueAnswer, now turn.Timestamp) store.Record {
	return store.Record{
		State: turn.State{
			Turn: begun.Turn, Session: begun.Session, Project: k.o.Project, Channel: k.o.Channel,
			Agent: q.Agent, Owner: cmp.Or(q.Owner, from.Name), Status: turn.Queued, ResultFields: q.ResultFields,
			Correlation: q.Correlation,
			IdleFrom:    now, MaxIdle: max(0, k.o.IdleTurn), Depth: q.Depth, Boxes: q.Boxes,
		},
		Args: q.Args, Request: q.Request, AnswerSeconds: q.Answer, Created: now.Wall,
	}
}
