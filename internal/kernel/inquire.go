package kernel

import (
	"context"
	"fmt"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/kernel/store"
	"github.com/earshot-dev/earshot/internal/kernel/turn"
	"github.com/earshot-dev/earshot/utp"
)

// inquire puts a question of a service to the person, in the middle of a call that it has started, or returns the
// status of one that it has asked before.
func (k *Kernel) inquire(ctx context.Context, from Caller, q api.InquireRequest) (a api.CallStatus, err error) {
	if q.Asked != "" {
		return k.inquired(ctx, from, q)
	}
	if q.Question == nil || q.Key == "" || len(q.Key) > store.MaxName {
		return a, api.NewFault(utp.CodeBadRequest, "a service asks with a question and a key for it, of at most 128 bytes")
	}
	err = k.stepServiceCall(ctx, from, q.Call, q.Owner, func(s *step, c turn.Call) error {
		if c.Owner != q.Owner || c.Fence != q.Fence {
			return api.NewFault(utp.CodeStale, "the call is leased to another owner or fence")
		}
		asked := 0
		for _, one := range s.rec.State.Calls {
			if one.Within != c.ID {
				continue
			}
			if asked++; one.Key == q.Key { // the answer to the first request was lost
				a, err = s.callStatus(one.ID)
				return err
			}
		}
		if asked >= api.MaxInquiries {
			return api.NewFault(utp.CodeTooManyCalls, fmt.Sprintf("%d questions were asked in the middle of one call; it may ask no more", asked))
		}
		one, err := s.personCall(api.ToolCall{Key: q.Key, Question: q.Question}, c.Step)
		if err != nil {
			return err
		}
		one.Within = c.ID
		if err := s.dispatch(turn.Adopt{Call: one}); err != nil {
			return err
		}
		a, err = s.callStatus(one.ID)
		return err
	})
	return a, err
}

// inquired returns the status of a service's question.
func (k *Kernel) inquired(ctx context.Context, from Caller, q api.InquireRequest) (a api.CallStatus, err error) {
	err = k.o.Store.View(ctx, func(tx store.Tx) error {
		rec, err := tx.Turn(store.TurnRef{Call: q.Call})
		if err != nil {
			return err
		}
		within, found := rec.State.Find(q.Call)
		one, asked := rec.State.Find(q.Asked)
		switch {
		case !found || !asked || one.Within != q.Call:
			return api.NewFault(utp.CodeUnknownCall, "no such question was asked in the middle of the call")
		case within.Target != from.Name:
			return api.NewFault(utp.CodeAuthFailed, "the call belongs to another service")
		case within.Owner != q.Owner || within.Fence != q.Fence:
			return api.NewFault(utp.CodeStale, "the call is leased to another owner or fence")
		}
		s := k.newStep(tx, k.clock.Now(), rec)
		a, err = s.callStatus(q.Asked)
		return err
	})
	return a, store.ProtocolError(err)
}
