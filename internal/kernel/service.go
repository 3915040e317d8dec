package kernel

import (
	"cmp"
	"context"
	"fmt"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/kernel/store"
	"github.com/earshot-dev/earshot/internal/kernel/turn"
	"github.com/earshot-dev/earshot/utp"
)

// start grants a call to one owner and hands out the bytes that were consented to.
func (k *Kernel) start(ctx context.Context, from Caller, q api.StartRequest) (api.StartAnswer, error) {
	if q.Owner == "" || len(q.Owner) > store.MaxName {
		return api.StartAnswer{}, api.NewFault(utp.CodeBadRequest, "a start names its owner: a nonce of the service's process, of at most 128 bytes")
	}
	var a api.StartAnswer
	var refusal error
	known, effectful := false, false
	err := k.step(ctx, store.TurnRef{Call: q.Call}, func(s *step) error {
		a, refusal, known, effectful = api.StartAnswer{}, nil, true, false
		if st := s.rec.State; st.Status != turn.Ended && !k.active.Has(st.Turn) {
			return api.NewFault(utp.CodeStale, "nobody attends to the call's turn at the moment; it is rung again when somebody does")
		}
		c, found := s.rec.State.Find(q.Call)
		if !found {
			return api.NewFault(utp.CodeDone, "the call has ended")
		}
		check, err := s.admission.Check(c)
		if err != nil {
			return err
		}
		in := turn.Start{Call: q.Call, Owner: q.Owner, Target: from.Name, Lease: k.o.ToolLease, Check: check}
		if err := s.dispatch(in); err != nil {
			return err
		}
		if c, _ = s.rec.State.Find(q.Call); c.State != turn.Started {
			refusal = api.NewFault(c.Outcome.Code, "the call may not start: "+cmp.Or(c.Outcome.Message, string(c.Outcome.Code)))
			return nil // the refusal itself is recorded
		}
		effectful = c.Class.Effectful()
		a, err = s.startAnswer(c)
		return err
	})
	if isCode(err, utp.CodeNotFound) && !known {
		return a, k.adoptOrRefuse(ctx, from, q)
	}
	if err != nil {
		return a, err
	}
	if refusal != nil {
		return api.StartAnswer{}, refusal
	}
	if effectful { // also for a repeat: the first time, the count may not have been written
		if err := k.incarnation.Save(ctx); err != nil {
			return api.StartAnswer{}, store.Unexpected("writing the incarnation", err)
		}
	}
	return a, nil
}

func (s *step) startAnswer(c turn.Call) (api.StartAnswer, error) {
	args, secrets, err := s.unsealed(c)
	if err != nil {
		return api.StartAnswer{}, err
	}
	b, err := s.cards.Body(args)
	return api.StartAnswer{
		Call: c.ID, Turn: s.rec.State.Turn, Tool: c.Tool, Args: b, Fence: c.Fence, Secrets: secrets,
		StartWithinMS: milliseconds(s.rec.State.StartWithin(c, s.now)), StartBy: c.StartBy.Wall, //nolint:staticcheck // older services read it
		LeaseMS: milliseconds(s.k.o.ToolLease), Stop: s.rec.State.Stop != nil, Class: c.Class,
	}, err
}

// stepServiceCall steps the turn of a call that belongs to the asking service; owner is the asking process. An
// empty owner is refused: it would match a call that has no owner.
func (k *Kernel) stepServiceCall(ctx context.Context, from Caller, call, owner string, fn func(*step, turn.Call) error) error {
	if owner == "" {
		return api.NewFault(utp.CodeBadRequest, "the request names no owner; it is the nonce of the service's process, as in its start")
	}
	return k.step(ctx, store.TurnRef{Call: call}, func(s *step) error {
		c, found := s.rec.State.Find(call)
		if !found {
			return api.NewFault(utp.CodeDone, "the call has ended")
		}
		if c.Target != from.Name {
			return api.NewFault(utp.CodeAuthFailed, "the call belongs to another service")
		}
		return fn(s, c)
	})
}

func (k *Kernel) heartbeat(ctx context.Context, from Caller, q api.HeartbeatRequest) (api.HeartbeatAnswer, error) {
	a := api.HeartbeatAnswer{LeaseMS: milliseconds(k.o.ToolLease)}
	if len(q.Doing) > api.MaxReported {
		return a, api.NewFault(utp.CodeTooLarge, fmt.Sprintf("what a call is at may have %d bytes", api.MaxReported))
	}
	var st turn.State
	var call turn.Call
	err := k.stepServiceCall(ctx, from, q.Call, q.Owner, func(s *step, c turn.Call) error {
		a.Stop = s.rec.State.Stop != nil || c.Overdue
		st, call = s.rec.State, c
		fraction := -1.0
		if q.Fraction != nil {
			fraction = *q.Fraction
		}
		s.notification.Summary = q.Doing
		return s.dispatch(turn.Heartbeat{Call: q.Call, Owner: q.Owner, Fence: q.Fence, Lease: k.o.ToolLease, Fraction: fraction, Text: q.Doing != ""})
	})
	if err == nil && q.Fraction != nil {
		k.reportProgress(ctx, st, call, *q.Fraction)
	}
	return a, err
}

func (k *Kernel) finish(ctx context.Context, from Caller, q api.FinishRequest) (struct{}, error) {
	err := k.stepServiceCall(ctx, from, q.Call, q.Owner, func(s *step, c turn.Call) error {
		o, err := s.outcome(c, q.Status, q.Result, q.Error)
		if err != nil {
			return err
		}
		s.after = append(s.after, "finish.committed")
		return s.dispatch(turn.Finish{Call: q.Call, Owner: q.Owner, Fence: q.Fence, Outcome: o})
	})
	if isCode(err, utp.CodeDone) { // it was applied already: F repeats as done
		err = nil
	}
	return struct{}{}, err
}

// reconcile returns the arguments of a call whose lease expired to its service, so that the service can find out
// what became of the call.
func (k *Kernel) reconcile(ctx context.Context, from Caller, q api.OwnerRequest) (api.ReconcileAnswer, error) {
	var a api.ReconcileAnswer
	err := k.stepServiceCall(ctx, from, q.Call, q.Owner, func(s *step, c turn.Call) error {
		if c.State != turn.LeaseExpired && c.State != turn.Unknown {
			return api.NewFault(utp.CodeDone, "the call's outcome is known")
		}
		args, err := s.cards.Args(c)
		if err != nil {
			return err
		}
		b, err := s.cards.Body(args)
		a = api.ReconcileAnswer{Call: c.ID, Tool: c.Tool, Args: b, LeaseExpiry: c.LeaseExpiries}
		return err
	})
	return a, err
}

func (k *Kernel) reconciled(ctx context.Context, from Caller, q api.SettleRequest) (struct{}, error) {
	return struct{}{}, k.stepServiceCall(ctx, from, q.Call, q.Owner, func(s *step, c turn.Call) error {
		in := turn.Reconciled{Call: q.Call, Owner: q.Owner, LeaseExpiry: q.LeaseExpiry, Finding: turn.Finding(q.Outcome)}
		if in.Finding == turn.FindingDone {
			o, err := s.outcome(c, q.Status, q.Result, q.Error)
			if err != nil {
				return err
			}
			in.Outcome = o
		} else if e := serviceError(q.Error); e != nil {
			in.Outcome.Message = e.Message
		}
		return s.dispatch(in)
	})
}

// unsealed returns the arguments of a granted call, and its secrets separately.
func (s *step) unsealed(c turn.Call) (jsontext.Value, map[string]string, error) {
	args, err := s.cards.Args(c)
	if err != nil {
		return nil, nil, err
	}
	boxes, err := s.tx.Sealed(c.ID)
	if err != nil || len(boxes) == 0 {
		return args, nil, err
	}
	secrets, err := s.k.values.Open(boxes)
	return args, secrets, err
}
