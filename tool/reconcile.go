package tool

import (
	"context"
	"fmt"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/utp"
)

// reconcile finds out the outcome of a call whose lease has expired, and reports it to the kernel.
func (s *Service) reconcile(_, ctx context.Context, id string, _ Message) {
	var a api.ReconcileAnswer
	if err := s.ask(ctx, api.OpReconcile, api.OwnerRequest{Call: id, Owner: s.owner}, &a); err != nil {
		s.o.Logger.Info("not reconciled", "call", id, "error", err)
		return
	}
	request := s.settleRequest(a, Unknown)
	c, err := s.callOf(ctx, api.StartAnswer{Call: a.Call, Tool: a.Tool, Args: a.Args}, nil)
	if err == nil {
		c.served = s.known.Load().tools[a.Tool]
	}
	if err == nil && c.served.Reconcile != nil {
		outcome, result, failure := s.safeReconcile(ctx, c)
		request, err = s.settlement(ctx, a, outcome, result, failure)
	}
	if err == nil {
		err = s.ask(ctx, api.OpSettle, request, nil)
	}
	if err != nil {
		s.o.Logger.Error("not settled", "call", id, "error", err)
	}
}

// safeReconcile asks the tool, and turns a panic into an error.
func (s *Service) safeReconcile(ctx context.Context, c *Call) (f Outcome, r Result, err error) {
	defer func() {
		if p := recover(); p != nil {
			s.o.Logger.Error("tool panicked", "tool", c.Tool, "call", c.ID, "panic", p)
			f, r, err = Unknown, Result{}, fmt.Errorf("the tool broke down: %v", p)
		}
	}()
	return c.served.Reconcile(ctx, c)
}

// settleRequest is this process's finding on a call whose lease has expired.
func (s *Service) settleRequest(a api.ReconcileAnswer, outcome Outcome) api.SettleRequest {
	return api.SettleRequest{Call: a.Call, Owner: s.owner, LeaseExpiry: a.LeaseExpiry, Outcome: string(outcome)}
}

func (s *Service) settlement(ctx context.Context, a api.ReconcileAnswer, outcome Outcome, r Result, failure error) (api.SettleRequest, error) {
	request := s.settleRequest(a, outcome)
	request.Status = r.Status
	if failure != nil {
		s.o.Logger.Error("reconcile", "call", a.Call, "error", failure)
		request.Outcome, request.Error = string(Unknown), toolError(failure)
	}
	if request.Outcome != string(Done) {
		return request, nil
	}
	if request.Status == "" {
		request.Status = utp.StatusSuccess
	}
	rejected, err := s.store(ctx, r, &request.Result)
	if rejected != nil {
		request.Status, request.Error = utp.StatusFailed, rejected
	}
	return request, err
}
