package kernel

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/earshot-dev/earshot/api"
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
	tries := 0
	load := func(tx store.Tx) (store.Record, error) {
		rec, err = b.load(tx)
		return rec, err
	}
	err = k.attemptOn(ctx, load, func(s *step) error {
		s.batch.Keys = b.keys
		if err := s.mayBegin(); err != nil {
			return err
		}
		if err := s.takeName(q, tries > 0); err != nil {
			return err
		}
		tries++
		defer func() { rec = s.rec }()
		if err := first(s); err != nil {
			return err
		}
		if err := s.checkArgs(); err != nil {
			return err
		}
		return s.requireFields()
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
	if err := checkBegin(q); err != nil {
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
// that turn and its session only, with [errBegunBefore].
func (b beginning) load(tx store.Tx) (store.Record, error) {
	rec := b.k.newRecord(b.from, b.q, b.turn, b.now)
	before, err := begunBefore(tx, b.keys, b.turn)
	if err == nil && before.Repeated {
		rec.State.Turn, rec.State.Session = before.Turn, before.Session
		err = errBegunBefore
	}
	if err == nil {
		err = checkOpenTurns(tx, rec.State.Owner)
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
	if err := s.within(above.State); err != nil {
		return err
	}
	return s.knownTo(above)
}

// within makes the turn of the step a part of another one, if it may be.
func (s *step) within(above turn.State) error {
	if err := s.mayAsk(above.Agent); err != nil {
		return err
	}
	if err := s.checkChildren(above.Turn); err != nil {
		return err
	}
	if err := s.checkPlaces(above); err != nil {
		return err
	}
	st := &s.rec.State
	st.Parent, st.Depth = above.Turn, above.Depth+1
	st.Within.Session, st.Within.Name = above.Session, above.Name
	st.Deadline = st.Deadline.Earlier(above.Deadline, s.now)
	if err := s.checkBoxes(); err != nil {
		return err
	}
	return checkDepth(st.Depth)
}

// checkChildren refuses another turn within one that has the most open turns allowed. An owner with fewer open turns
// than that needs no closer look.
func (s *step) checkChildren(parent string) error {
	open, err := s.tx.Turns(store.TurnFilter{Owners: []string{s.rec.State.Owner}, Open: true})
	if err != nil || len(open) < maxChildren {
		return err
	}
	children := 0
	for _, row := range open {
		rec, err := s.tx.Turn(store.TurnRef{Turn: row.Turn})
		if err != nil {
			return err
		}
		if rec.State.Parent == parent {
			children++
		}
	}
	if children >= maxChildren {
		return api.NewFault(utp.CodeTooManyTurns, fmt.Sprintf(
			"%d turns that this one started have not ended, which is the most; wait until some have, or stop some", children))
	}
	return nil
}

func checkDepth(depth int) error {
	if depth < 0 || depth >= turn.MaxDepth {
		return api.NewFault(utp.CodeRecursionDepthExceeded, fmt.Sprintf("the turn would be %d agents deep; a turn is less than %d deep", depth, turn.MaxDepth))
	}
	return nil
}

func checkBegin(q api.EnqueueRequest) error {
	if err := checkDepth(q.Depth); err != nil {
		return err
	}
	if q.Deadline < 0 || q.Deadline > api.MaxDeadline {
		return api.NewFault(utp.CodeBadRequest, fmt.Sprintf("deadline_seconds is %d; it is 1 to %d, or 0 for no deadline", q.Deadline, api.MaxDeadline))
	}
	if max(len(q.Profile), len(q.ContextBox), len(q.OutputBox), len(q.Parent)) > store.MaxName {
		return api.NewFault(utp.CodeBadRequest, "the profile, a box and the parent turn are named by at most 128 bytes each")
	}
	if !utp.ValidToken(q.Agent) {
		return api.NewFault(utp.CodeBadRequest, "the agent's name is not one token of A-Z a-z 0-9 _ -")
	}
	if len(q.Args)+len(q.Request)+len(q.Owner) > api.InlineLimit { // they fit in one message, with room to spare
		return api.NewFault(utp.CodeTooLarge, "the turn's arguments and its request together may have 256 KiB")
	}
	if err := utp.CheckRequired(q.ResultFields); err != nil {
		return api.NewFault(utp.CodeBadRequest, err.Error())
	}
	if len(q.Label) > api.InlineLimit/64 {
		return api.NewFault(utp.CodeBadRequest, "the label may have 4 KiB; it is a few words on what the turn is about")
	}
	return nil
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

// checkOpenTurns refuses another turn of an owner who has the most open turns allowed. It runs in the
// transaction that adds the turn, so that no two turns take the last place.
func checkOpenTurns(tx store.Tx, owner string) error {
	open, err := tx.Turns(store.TurnFilter{Owners: []string{owner}, Open: true, Limit: maxOpen})
	if err == nil && len(open) >= maxOpen {
		return api.NewFault(utp.CodeTooManyTurns, fmt.Sprintf(
			"%d turns of %.64q have not ended, which is the most that one owner may have; wait until some have, or stop some", maxOpen, owner))
	}
	return err
}
