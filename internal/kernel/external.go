package kernel

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"sync/atomic"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/kernel/external"
	"github.com/earshot-dev/earshot/internal/kernel/store"
	"github.com/earshot-dev/earshot/internal/kernel/turn"
	"github.com/earshot-dev/earshot/utp"
)

// receive decodes a complete message of the tool protocol.
func receive[A any](run func(*Kernel, context.Context, Caller, utp.Message) (A, error)) operation {
	return operation{request: reflect.TypeFor[utp.Message](), answer: reflect.TypeFor[A](), run: func(k *Kernel, ctx context.Context, from Caller, request []byte) (any, error) {
		m, err := utp.DecodeMessage(request)
		if err != nil {
			return nil, api.NewFault(utp.CodeBadRequest, err.Error())
		}
		return run(k, ctx, from, m)
	}}
}

// externalCounts counts what became of third-party commands.
type externalCounts struct{ adopted, answered, dropped atomic.Int64 }

// ExternalCounts says what became of the commands of third-party workers since the kernel was made.
type ExternalCounts struct {
	Adopted  int64 // they became calls
	Answered int64 // they were invalid, and got a failed result that says why
	Dropped  int64 // they were invalid, and name no call that could be answered
}

// ExternalCounts returns the counts.
func (k *Kernel) ExternalCounts() ExternalCounts {
	return ExternalCounts{
		Adopted: k.external.adopted.Load(), Answered: k.external.answered.Load(), Dropped: k.external.dropped.Load(),
	}
}

// serveView runs a read of a third-party peer in one transaction.
func serveView[Q, A any](run func(store.Tx, string, Q) (A, error)) operation {
	return serve(func(k *Kernel, ctx context.Context, from Caller, q Q) (a A, err error) {
		err = k.o.Store.View(ctx, func(tx store.Tx) (err error) {
			a, err = run(tx, from.Name, q)
			return err
		})
		return a, store.ProtocolError(err)
	})
}

// externalCommand handles a command that a third-party worker has published to a tool's subject. The
// command itself never reaches the tool: it becomes a call of the worker's turn like any other, asked
// for if policy says so, and is answered in the worker's own form. An invalid command is answered if it
// names its call, else only counted. Either way it is not sent again.
func (k *Kernel) externalCommand(ctx context.Context, from Caller, m utp.Message) (api.CommandAnswer, error) {
	a, err := external.ReadCommand(from.Name, m)
	var out api.CommandAnswer
	if err == nil {
		out, err = k.adoptCommand(ctx, from, &a)
	}
	refused, is := errors.AsType[*external.CommandError](err)
	switch {
	case err == nil:
		if out.State == api.CommandAdopted {
			k.external.adopted.Add(1)
		}
		return out, nil
	case !is:
		return api.CommandAnswer{}, store.ProtocolError(err)
	case !refused.Answer:
		k.external.dropped.Add(1)
	default:
		if err := k.answerRefused(ctx, from, a, refused); err != nil {
			return api.CommandAnswer{}, store.ProtocolError(err)
		}
		k.external.answered.Add(1)
	}
	k.o.Logger.Debug("foreign command refused", "name", from.Name, "call", a.Call, "code", refused.Code, "answered", refused.Answer)
	return api.CommandAnswer{}, api.NewFault(refused.Code, refused.Message)
}

// adoptCommand makes a call from the command, in one step of its turn.
func (k *Kernel) adoptCommand(ctx context.Context, from Caller, a *external.Command) (api.CommandAnswer, error) {
	if err := k.o.Store.View(ctx, func(tx store.Tx) error { return a.Identify(tx, from.Name) }); err != nil {
		return api.CommandAnswer{}, err
	}
	var out api.CommandAnswer
	err := k.attempt(ctx, store.TurnRef{Turn: a.Lineage.TurnID}, func(s *step) (err error) {
		out, err = s.adoptCommand(from, a)
		return err
	})
	if errors.Is(err, store.ErrNotFound) {
		err = &external.CommandError{Code: utp.CodeNotFound, Message: "the command names no turn of the ledger"}
	}
	return out, err
}

// adoptCommand adopts the command in one step.
func (s *step) adoptCommand(from Caller, a *external.Command) (api.CommandAnswer, error) {
	known, err := a.Judge(s.tx, s.rec.State, from.Name, s.k.o.Project)
	switch {
	case err == nil && known.State == api.CommandAnswered:
		return known, s.outgoing.Wakeup() // the first wakeup may have been lost
	case err != nil || known.State != "":
		return known, err
	case !s.k.active.Has(s.rec.State.Turn):
		return known, api.NewFault(utp.CodeStale, "nobody attends to the turn at the moment")
	}
	if err := s.admission.CheckOpenCalls(1); err != nil {
		return known, external.RefusedFor(err)
	}
	c, err := s.callFromCommand(a.Service, a.Call, a.Command, a.Header())
	if err != nil {
		return known, external.RefusedFor(err)
	}
	return api.CommandAnswer{State: api.CommandAdopted, Call: c.ID}, s.dispatch(turn.Adopt{Call: c})
}

// answerRefused answers a command that did not become a call, and sends a wakeup. The turn does not
// change: nothing has happened in it, and nothing is reported. A lost wakeup costs one poll.
func (k *Kernel) answerRefused(ctx context.Context, from Caller, a external.Command, refused *external.CommandError) error {
	var st turn.State
	err := k.update(ctx, func(tx store.Tx) error {
		rec, err := tx.Turn(store.TurnRef{Turn: a.Lineage.TurnID})
		if err != nil {
			return err
		}
		st = rec.State
		cards, err := a.Answer(tx, st, refused, k.o.Clock.timestamp().Wall)
		if err != nil || len(cards) == 0 { // the same command again, at the same time
			return err
		}
		return tx.Save(store.Batch{Cards: cards})
	})
	if err != nil {
		return fmt.Errorf("kernel: answering %s: %w", from.Name, err)
	}
	k.wakeWorker(ctx, st)
	return nil
}

// answerOrigins answers the third-party workers whose calls have ended in this step: with a result card
// under their own id of the call, and a wakeup.
func (s *step) answerOrigins() error {
	woken := false
	for _, report := range s.batch.Reports {
		c, found := s.rec.State.Find(report.Call)
		if !found || c.Origin == nil || c.ReplacedBy != "" {
			continue
		}
		result, err := s.cards.Card(report.Card)
		if err != nil {
			return store.AsDamage(err)
		}
		cards, err := external.AnswerCall(s.tx, s.rec.State, c, result, s.now.Wall)
		if err != nil {
			return fmt.Errorf("kernel: answer to call %s: %w", c.ID, err)
		}
		s.cards.Add(cards...)
		woken = woken || len(cards) > 0
	}
	if woken {
		return s.outgoing.Wakeup()
	}
	return nil
}
