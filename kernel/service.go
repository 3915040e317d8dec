package kernel

import (
	"cmp"
	"context"
	"errors"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/kernel/turn"
	"github.com/earshot-dev/earshot/utp"
)

// register takes a tool's definition. A new or changed one stays unreviewed, which
// means irreversible, of high risk, and asked for, until an operator has looked.
func (k *Kernel) register(ctx context.Context, from Caller, q utp.RegisterRequest) (struct{}, error) {
	if q.Definition.Enforcement() != utp.Enforced {
		return struct{}{}, fault(utp.CodeBadRequest, "a service that starts at the kernel is enforced; options.enforcement cannot say otherwise")
	}
	return struct{}{}, k.Register(ctx, from.Name, q.Definition)
}

// Register enters a definition for the service target.
func (k *Kernel) Register(ctx context.Context, target string, d utp.Definition) error {
	return k.enter(ctx, target, d, func(Tool) error { return nil })
}

// enter is Register if may has nothing against it, given what is registered under that name.
func (k *Kernel) enter(ctx context.Context, target string, d utp.Definition, may func(known Tool) error) error {
	if err := d.Validate(); err != nil {
		return fault(utp.CodeBadRequest, err.Error())
	}
	owner, err := service(d)
	if err != nil {
		return fault(utp.CodeBadRequest, err.Error())
	}
	if owner != target {
		return fault(utp.CodeAuthFailed, "the tool's target subject names another service")
	}
	if _, err := k.schemas.compiled(d); err != nil {
		return fault(utp.CodeBadRequest, "the parameters are no JSON Schema: "+err.Error())
	}
	if err := k.o.Narrator.Check(d); err != nil {
		return fault(utp.CodeBadRequest, err.Error())
	}
	digest, err := d.Digest()
	if err != nil {
		return fault(utp.CodeBadRequest, err.Error())
	}
	return protocolError(k.update(ctx, func(tx Tx) error {
		known, err := registered(tx, d.Tool)
		if err == nil && known.Digest == digest {
			return raiseRisk(tx, known, d.Risk)
		}
		if err != nil && !errors.Is(err, ErrNotFound) {
			return err
		}
		if refused := may(known); refused != nil {
			return refused
		}
		if err == nil {
			if owner, serr := service(known.Definition); serr == nil && owner != target {
				return fault(utp.CodeConflict, "another service has registered a tool of that name")
			}
		}
		return tx.Save(Batch{Tools: []Tool{{Definition: d, Digest: digest, Class: utp.Irreversible, Risk: utp.RiskHigh, Seen: known.Seen}}})
	}))
}

// registered finds a tool by its name.
func registered(tx Tx, name string) (Tool, error) {
	return One(tx.Tools(ToolFilter{Names: []string{name}}))
}

// raiseRisk takes a service's word that a tool is riskier than it said. A lower one does
// not count: the definition that was reviewed said otherwise.
func raiseRisk(tx Tx, t Tool, risk utp.Risk) error {
	if raised := t.Definition.Risk.Raise(risk); raised != t.Definition.Risk {
		t.Definition.Risk = raised
		return tx.Save(Batch{Tools: []Tool{t}})
	}
	return nil
}

// Vouch registers a definition that whoever runs the kernel has chosen with it, and reviews it
// as it describes itself. An operator's own word on this very definition stands.
func (k *Kernel) Vouch(ctx context.Context, target string, d utp.Definition) (Tool, error) {
	if err := k.Register(ctx, target, d); err != nil {
		return Tool{}, err
	}
	var known Tool
	err := k.update(ctx, func(tx Tx) (err error) {
		if known, err = registered(tx, d.Tool); err != nil || known.Reviewed {
			return err
		}
		known.Reviewed, known.Class, known.Risk = true, d.Class, d.Risk
		if known.Seen, err = json.Marshal(known.Definition, jsontext.PreserveRawStrings(true)); err != nil {
			return unexpected("a definition", err)
		}
		return tx.Save(Batch{Tools: []Tool{known}})
	})
	return known, protocolError(err)
}

// Review is an operator's word on a definition: its class and risk, pinned to the
// digest that was looked at.
func (k *Kernel) Review(ctx context.Context, name, digest string, class utp.Class, risk utp.Risk) error {
	return protocolError(k.update(ctx, func(tx Tx) error {
		t, err := registered(tx, name)
		if err != nil {
			return err
		}
		if t.Digest != digest {
			return fault(utp.CodeConflict, "the definition has changed since it was looked at")
		}
		t.Reviewed, t.Class, t.Risk = true, class, risk
		if t.Seen, err = json.Marshal(t.Definition, jsontext.PreserveRawStrings(true)); err != nil {
			return unexpected("a definition", err)
		}
		return tx.Save(Batch{Tools: []Tool{t}})
	}))
}

// start grants a call to one owner and hands out the bytes that were consented to.
func (k *Kernel) start(ctx context.Context, from Caller, q utp.StartRequest) (utp.StartAnswer, error) {
	if q.Owner == "" || len(q.Owner) > maxName {
		return utp.StartAnswer{}, fault(utp.CodeBadRequest, "a start names its owner: a nonce of the service's process, of at most 128 bytes")
	}
	var a utp.StartAnswer
	var refusal error
	known, effectful := false, false
	err := k.step(ctx, TurnRef{Call: q.Call}, func(s *step) error {
		a, refusal, known, effectful = utp.StartAnswer{}, nil, true, false
		if st := s.rec.State; st.Status != turn.Ended && !k.driven(st.Turn) {
			return fault(utp.CodeStale, "nobody attends to the call's turn at the moment; it is rung again when somebody does")
		}
		c, found := s.rec.State.Find(q.Call)
		if !found {
			return fault(utp.CodeDone, "the call has ended")
		}
		check, err := s.check(c)
		if err != nil {
			return err
		}
		in := turn.Start{Call: q.Call, Owner: q.Owner, Target: from.Name, Lease: k.o.ToolLease, Check: check}
		if err := s.feed(in); err != nil {
			return err
		}
		if c, _ = s.rec.State.Find(q.Call); c.State != turn.Started {
			refusal = fault(c.Outcome.Code, "the call may not start: "+cmp.Or(c.Outcome.Message, string(c.Outcome.Code)))
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
		return utp.StartAnswer{}, refusal
	}
	if effectful { // also when it is asked again: the first time, the count may not have been written
		if err := k.advance(ctx); err != nil {
			return utp.StartAnswer{}, unexpected("writing the incarnation", err)
		}
	}
	return a, nil
}

func (s *step) startAnswer(c turn.Call) (utp.StartAnswer, error) {
	args, secrets, err := s.unsealed(c)
	if err != nil {
		return utp.StartAnswer{}, err
	}
	b, err := s.handOut(args)
	return utp.StartAnswer{
		Call: c.ID, Turn: s.rec.State.Turn, Tool: c.Tool, Args: b, Fence: c.Fence, Secrets: secrets,
		StartBy: c.StartBy.Wall, LeaseMS: milliseconds(s.k.o.ToolLease), Stop: s.rec.State.Stop != nil,
	}, err
}

// ofService steps the turn of a call that belongs to the asking service, of which one process
// speaks. Who gives no name could be taken for the owner of a call that has none.
func (k *Kernel) ofService(ctx context.Context, from Caller, call, owner string, fn func(*step, turn.Call) error) error {
	if owner == "" {
		return fault(utp.CodeBadRequest, "the request names no owner; it is the nonce of the service's process, as in its start")
	}
	return k.step(ctx, TurnRef{Call: call}, func(s *step) error {
		c, found := s.rec.State.Find(call)
		if !found {
			return fault(utp.CodeDone, "the call has ended")
		}
		if c.Target != from.Name {
			return fault(utp.CodeAuthFailed, "the call belongs to another service")
		}
		return fn(s, c)
	})
}

func (k *Kernel) beat(ctx context.Context, from Caller, q utp.BeatRequest) (utp.BeatAnswer, error) {
	a := utp.BeatAnswer{LeaseMS: milliseconds(k.o.ToolLease)}
	var st turn.State
	var call turn.Call
	err := k.ofService(ctx, from, q.Call, q.Owner, func(s *step, c turn.Call) error {
		a.Stop = s.rec.State.Stop != nil || c.Overdue
		st, call = s.rec.State, c
		fraction := -1.0
		if q.Fraction != nil {
			fraction = *q.Fraction
		}
		return s.feed(turn.Beat{Call: q.Call, Owner: q.Owner, Fence: q.Fence, Lease: k.o.ToolLease, Fraction: fraction})
	})
	if err == nil && q.Fraction != nil {
		k.tellProgress(ctx, st, call, *q.Fraction)
	}
	return a, err
}

func (k *Kernel) finish(ctx context.Context, from Caller, q utp.FinishRequest) (struct{}, error) {
	err := k.ofService(ctx, from, q.Call, q.Owner, func(s *step, c turn.Call) error {
		o, err := s.outcome(c, q.Status, q.Result, q.Error)
		if err != nil {
			return err
		}
		s.after = append(s.after, "finish.committed")
		return s.feed(turn.Finish{Call: q.Call, Owner: q.Owner, Fence: q.Fence, Outcome: o})
	})
	if isCode(err, utp.CodeDone) { // it has been applied already: F repeats as done
		err = nil
	}
	return struct{}{}, err
}

// reconcile hands a lapsed call's arguments to its service, so that it can find out
// what became of it.
func (k *Kernel) reconcile(ctx context.Context, from Caller, q utp.OwnerRequest) (utp.ReconcileAnswer, error) {
	var a utp.ReconcileAnswer
	err := k.ofService(ctx, from, q.Call, q.Owner, func(s *step, c turn.Call) error {
		if c.State != turn.Lapsed && c.State != turn.Unknown {
			return fault(utp.CodeDone, "the call's fate is settled")
		}
		args, err := s.args(c)
		if err != nil {
			return err
		}
		b, err := s.handOut(args)
		a = utp.ReconcileAnswer{Call: c.ID, Tool: c.Tool, Args: b, Lapse: c.Lapse}
		return err
	})
	return a, err
}

func (k *Kernel) settle(ctx context.Context, from Caller, q utp.SettleRequest) (struct{}, error) {
	return struct{}{}, k.ofService(ctx, from, q.Call, q.Owner, func(s *step, c turn.Call) error {
		in := turn.Settle{Call: q.Call, Owner: q.Owner, Lapse: q.Lapse, Fate: turn.Fate(q.Fate)}
		if in.Fate == turn.Done {
			o, err := s.outcome(c, q.Status, q.Result, q.Error)
			if err != nil {
				return err
			}
			in.Outcome = o
		} else if e := said(q.Error); e != nil {
			in.Outcome.Message = e.Message
		}
		return s.feed(in)
	})
}
